"""Reports on disk."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from dbagenteval import CheckResult, Scorecard, SuiteResult, __version__
from dbagenteval.errors import UserError
from dbagenteval.report import check_writable, read_report, save, write_json, write_markdown

RESULT = SuiteResult([Scorecard("q", [CheckResult("no_error", "answer", "pass")], case_id="one")])


def test_the_json_report(tmp_path: Path) -> None:
    """The documented keys, and versions and time beside them."""
    write_json(tmp_path / "o.json", RESULT)
    text = (tmp_path / "o.json").read_text()
    report = json.loads(text)
    assert text.startswith('{\n  "summary": {\n    "total": 1,')
    assert text.isascii()
    assert report["summary"] == {
        "total": 1,
        "passed": 1,
        "failed": 0,
        "errors": 0,
        "skipped": 0,
        "pass_rate": 1.0,
        "by_tag": {},
        "failed_stages": {},
    }
    assert report["cases"] == [
        {
            "id": "one",
            "question": "q",
            "tags": [],
            "verdict": "PASS",
            "failed_stage": None,
            "failed_check": None,
            "error": None,
            "results": [
                {
                    "check": "no_error",
                    "stage": "answer",
                    "status": "pass",
                    "detail": "",
                    "score": None,
                }
            ],
        }
    ]
    assert report["meta"]["dbagenteval"] == __version__
    assert set(report["meta"]) == {"dbagenteval", "python", "sqlglot", "created_at"}
    assert read_report(tmp_path / "o.json") == report


def test_the_markdown_report(tmp_path: Path) -> None:
    """Text that UTF-8 can't hold is escaped."""
    write_markdown(
        tmp_path / "o.md", SuiteResult([Scorecard("bad \ud800", error="Zürich", case_id="")])
    )
    text = (tmp_path / "o.md").read_text(encoding="utf-8")
    assert text.startswith("# dbagenteval report\n")
    assert "| bad \\ud800 | ERROR |  |  | Zürich |" in text


def test_a_crash_while_writing_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no half-written file beside it."""
    path = tmp_path / "o.json"
    path.write_text("old")

    def crash(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(UserError, match=r"^cannot write .*o.json: No space left on device$"):
        save(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    """A new file gets those that any new file gets."""
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    save(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    save(tmp_path / "fresh", "x")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    """Such as /dev/stdout."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    check_writable(pipe)
    save(pipe, "text")
    reader.join(10)
    assert read == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_path_that_can_not_be_written_is_known_before(tmp_path: Path) -> None:
    """Checking touches nothing."""
    (tmp_path / "kept.json").write_text("old")
    for path, reason in [
        (tmp_path, "it is a directory"),
        (tmp_path / "none" / "o.json", "is not a directory"),
        (tmp_path / "kept.json" / "o.json", "is not a directory"),
    ]:
        with pytest.raises(UserError, match=f"^cannot write .*{reason}"):
            check_writable(path)
    check_writable(tmp_path / "kept.json")
    check_writable(tmp_path / "new.json")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
    assert (tmp_path / "kept.json").read_text() == "old"


def test_permission_denied_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the test, root included."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="permission denied"):
        check_writable(tmp_path / "o.json")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"cases": {}}',
        '{"cases": [1]}',
        '{"cases": [{}]}',
        '{"cases": [{"id": "a"}]}',
        '{"cases": [{"verdict": "PASS"}]}',
        '{"cases": [{"verdict": "PASS", "id": ""}]}',
        '{"cases": [{"verdict": "pass", "id": "a"}]}',
        '{"cases": [{"verdict": ["PASS"], "id": "a"}]}',
        '{"cases": [{"verdict": "FAIL", "id": "a", "results": [{}]}]}',
        '{"cases": [{"verdict": "FAIL", "id": "a", "results": [3]}]}',
        '{"cases": [{"verdict": "FAIL", "id": "a", "results": 3}]}',
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str) -> None:
    """It is named."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UserError, match=r"x.json is not a dbagenteval JSON report$"):
        read_report(tmp_path / "x.json")


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff\xfe{}", b"[" * 100_000])
def test_what_can_not_be_read(tmp_path: Path, data: bytes | None) -> None:
    """No file, no JSON, no UTF-8, no end of nesting."""
    if data is not None:
        (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(UserError, match=r"^cannot read report .*x.json: "):
        read_report(tmp_path / "x.json")


def test_the_least_that_is_a_report(tmp_path: Path) -> None:
    """What the published package accepts, a byte order mark too."""
    (tmp_path / "x.json").write_text(
        '\ufeff{"cases": [{"verdict": "PASS", "question": "q"}]}', encoding="utf-8"
    )
    assert read_report(tmp_path / "x.json")["cases"][0]["question"] == "q"
