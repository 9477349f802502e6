"""The command as a whole, validate and diff, and what importing costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dbagenteval
from dbagenteval.cli import main

HEAVY = ("click", "duckdb", "grpc", "openai", "pyarrow", "rich", "sqlalchemy", "sqlglot")


def report(path: Path, **verdicts: str) -> str:
    """Write a report with these cases."""
    cases = [
        {"id": name, "question": name, "verdict": verdict} for name, verdict in verdicts.items()
    ]
    path.write_text(json.dumps({"cases": cases}))
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "options", "code", "line"),
    [
        ({"a": "PASS"}, {"a": "PASS"}, [], 0, "**0 regressions, 0 fixes, 0 added, 0 removed**"),
        ({"a": "PASS"}, {"a": "FAIL"}, [], 1, "**1 regressions, 0 fixes, 0 added, 0 removed**"),
        ({"a": "PASS"}, {"a": "ERROR"}, [], 1, "**1 regressions, 0 fixes, 0 added, 0 removed**"),
        ({"a": "FAIL"}, {"a": "PASS"}, [], 0, "- a (FAIL -> PASS)"),
        ({"a": "PASS", "b": "PASS"}, {"a": "PASS"}, [], 1, "- b (PASS)"),
        ({"a": "PASS", "b": "PASS"}, {"a": "PASS"}, ["--allow-removed"], 0, "- b (PASS)"),
        ({"a": "PASS", "b": "FAIL"}, {"a": "PASS"}, [], 0, "- b (FAIL)"),
        ({"a": "PASS"}, {"a": "PASS", "b": "FAIL"}, [], 0, "- b (FAIL)"),
        ({"a": "PASS"}, {"a": "FAIL"}, ["--allow-removed"], 1, "| a | FAIL |  |  |"),
    ],
)
def test_diff(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    old: Any,
    new: Any,
    options: list[str],
    code: int,
    line: str,
) -> None:
    """Exit 1 if something that passed fails or is gone."""
    paths = [report(tmp_path / "old.json", **old), report(tmp_path / "new.json", **new)]
    assert main(["diff", *paths, *options]) == code
    printed = capsys.readouterr()
    assert line in printed.out.split("\n")
    assert ("--allow-removed accepts that" in printed.err) is (code == 1 and "b" in old)


def test_diff_of_what_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, and the file is named."""
    good = report(tmp_path / "good.json", a="PASS")
    (tmp_path / "bad.json").write_text("{}")
    assert main(["diff", good, str(tmp_path / "nope.json")]) == 2
    assert "nope.json" in capsys.readouterr().err
    assert main(["diff", str(tmp_path / "bad.json"), good]) == 2
    assert (
        capsys.readouterr().err
        == f"error: {tmp_path / 'bad.json'} is not a dbagenteval JSON report\n"
    )


def test_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fine, doubtful, wrong."""
    path = tmp_path / "c.yaml"
    path.write_text("- question: q\n")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr() == (f"{path}: 1 case(s) OK\n", "")
    path.write_text("- question: q\n  expect: {country: NO}\n")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr() == (
        f"{path}: 1 case(s) OK\n",
        f'{path}:2: warning: YAML reads NO as false; write "NO" in quotes if it is text\n',
    )
    path.write_text("- id: a\n- id: b\n")
    assert main(["validate", str(path)]) == 2
    assert capsys.readouterr() == (
        "",
        f"{path}:1: missing 'question'\n{path}:2: missing 'question'\n",
    )
    assert main(["validate", str(tmp_path / "no.yaml")]) == 2


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command says its exit codes."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dbagenteval {dbagenteval.__version__}\n"
    assert main(["--help"]) == 0
    assert (
        "Exit codes: 0 all passed, 1 something did not pass, 2 could not run."
        in capsys.readouterr().out
    )
    for command in ("run", "validate", "diff"):
        assert main([command, "--help"]) == 0
        assert "Exit codes: 0" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["nothing"], ["run"], ["diff", "a"], ["validate", "a", "b"]])
def test_a_malformed_command_line_is_exit_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the usage on stderr."""
    assert main(words) == 2
    assert "Usage: dbagenteval" in capsys.readouterr().err


def test_an_ambiguous_abbreviation_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """--re could be --retries or --repeat."""
    assert main(["run", "c.yaml", "--agent", "a:b", "--re", "2"]) == 2
    assert "No such option" in capsys.readouterr().err


def test_a_bug_is_no_failed_case(tmp_path: Path) -> None:
    """A traceback and exit 2, in a process of its own."""
    program = "import sys, dbagenteval.cli\nm = sys.modules['dbagenteval.cli.main']\nm._run = lambda *a: 1 / 0\nsys.exit(m.main())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 2
    assert "ZeroDivisionError" in done.stderr


def test_importing_the_package_is_light() -> None:
    """No database, server or parser is loaded before it is needed."""
    program = f"import sys, dbagenteval; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "[]\n"


def test_public_names() -> None:
    """What users of the published package import."""
    from dbagenteval import checks, compare, report, rules, scorecard
    from dbagenteval.checks import judge

    assert set(dbagenteval.__all__) == {
        "Case", "Check", "CheckResult", "DatasetError", "Executor", "Faithful", "Judge", "JudgeCheck",
        "NumbersGrounded", "Relevant", "Scorecard", "Stage", "SuiteResult", "Trace", "arun_suite",
        "check_question", "evaluate", "filter_cases", "load_cases", "run_suite",
    }  # fmt: skip
    for module, names in [
        (dbagenteval, dbagenteval.__all__),
        (
            rules,
            [
                "ReadOnly",
                "TenantFilter",
                "AllowedTables",
                "AllowedColumns",
                "NoJoins",
                "NoSubqueries",
                "SqlRule",
                "DEFAULT_FORBIDDEN_FUNCTIONS",
            ],
        ),
        (scorecard, ["PASS", "FAIL", "SKIP", "CheckResult", "Scorecard"]),
        (compare, ["DEFAULT_PRECISION", "canonical", "rows_match", "match_any"]),
        (report, ["to_markdown", "diff_reports", "diff_to_markdown"]),
        (judge, ["parse_verdict", "rows_json", "ask_judge"]),
        (checks, ["Check", "check_no_error", "check_expected", "check_rows"]),
    ]:
        for name in names:
            assert hasattr(module, name), f"{module.__name__}.{name}"
    assert callable(dbagenteval.evaluate)
