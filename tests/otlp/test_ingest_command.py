"""`dbagenteval ingest` and `dbagenteval store stats`, as a user calls them."""

from __future__ import annotations

import gzip
import json
import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from dbagenteval.cli.main import main
from dbagenteval.store import Store
from tests.store.requests import logs_request, traces_request

DATA = Path(__file__).parent / "data"


def counts(path: Path) -> tuple[int, int]:
    """Spans and log records of a file of JSON lines, counted without our code."""
    spans = logs = 0
    for line in path.read_text().splitlines():
        document = json.loads(line)
        for of_resource in document.get("resourceSpans", []):
            spans += sum(len(part["spans"]) for part in of_resource["scopeSpans"])
        for of_resource in document.get("resourceLogs", []):
            logs += sum(len(part["logRecords"]) for part in of_resource["scopeLogs"])
    return spans, logs


def stored(store: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    capsys.readouterr()
    assert main(["store", "stats", "--json", "--store", str(store)]) == 0
    found = json.loads(capsys.readouterr().out)
    return found["spans"], found["logs"]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.jsonl")))
def test_captures_are_stored_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """What real frameworks sent is stored to the last span and log record, once."""
    arguments = ["ingest", str(DATA / name), "--store", str(tmp_path / "s")]
    assert main(arguments) == 0
    expected = counts(DATA / name)
    assert sum(expected) > 0
    assert stored(tmp_path / "s", capsys) == expected
    assert main(arguments) == 0
    assert stored(tmp_path / "s", capsys) == expected


def lengths(bodies: list[bytes]) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


def zstd(content: bytes) -> bytes:
    compressed: bytes = pa.compress(content, "zstd", asbytes=True)
    return compressed


LINES = (DATA / "strands_spans.jsonl").read_bytes()
DOCUMENT = json.dumps(json.loads(LINES.splitlines()[0]), indent=2).encode()
TWO = [traces_request((1, 1), (1, 2)).SerializeToString(), logs_request((1, 1)).SerializeToString()]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(LINES, counts(DATA / "strands_spans.jsonl"), id="lines"),
        pytest.param(LINES.rstrip(), counts(DATA / "strands_spans.jsonl"), id="no last newline"),
        pytest.param(
            LINES.replace(b"\n", b"\r\n\r\n"), counts(DATA / "strands_spans.jsonl"), id="crlf"
        ),
        pytest.param(
            b"\xef\xbb\xbf" + LINES, counts(DATA / "strands_spans.jsonl"), id="byte order mark"
        ),
        pytest.param(
            gzip.compress(LINES[:50]) + gzip.compress(LINES[50:]),
            counts(DATA / "strands_spans.jsonl"),
            id="gzip members",
        ),
        pytest.param(zstd(LINES), counts(DATA / "strands_spans.jsonl"), id="zstd"),
        pytest.param(DOCUMENT, (6, 0), id="document over many lines"),
        pytest.param(
            b"[" + b",".join(LINES.splitlines()) + b"]",
            counts(DATA / "strands_spans.jsonl"),
            id="array of requests",
        ),
        pytest.param(lengths(TWO), (2, 1), id="lengths"),
        pytest.param(gzip.compress(lengths(TWO)), (2, 1), id="lengths in gzip"),
        pytest.param(lengths([zstd(body) for body in TWO]), (2, 1), id="lengths of zstd"),
        pytest.param(TWO[0], (2, 0), id="bare traces"),
        pytest.param(TWO[1], (0, 1), id="bare logs"),
    ],
)
def test_file_formats(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    expected: tuple[int, int],
) -> None:
    """The format is told by the content, whatever the file is called."""
    (tmp_path / "data").write_bytes(content)
    assert main(["ingest", str(tmp_path / "data"), "--store", str(tmp_path / "s")]) == 0
    assert capsys.readouterr().err == ""
    assert stored(tmp_path / "s", capsys) == expected


def test_a_bad_line_is_named_and_the_rest_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with file and line, and the exit code says that something is missing."""
    good = LINES.splitlines()
    bad_id = json.loads(good[1])
    bad_id["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "xyz"
    lines = [good[0], b'{"resourceSpans": [', json.dumps(bad_id).encode(), b'{"a": 1}', good[2]]
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"\n".join(lines))
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in errors[:3]] == [
        f"{path}:2",
        f"{path}:3",
        f"{path}:4",
    ]
    assert "traceId must be hex digits" in errors[1]
    spans, _ = counts(DATA / "strands_spans.jsonl")
    assert stored(tmp_path / "s", capsys) == (spans - 1, 0)


@pytest.mark.parametrize("fold", [b"\x00\x00\x00\xff\x0a", b"\xff\xff\xff\xff"])
def test_a_cut_protobuf_file_loads_up_to_the_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fold: bytes
) -> None:
    """The part behind is named."""
    path = tmp_path / "traces.pb"
    path.write_bytes(lengths(TWO) + fold)
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 1
    assert "message 3" in capsys.readouterr().err
    assert stored(tmp_path / "s", capsys) == (2, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"hello\n",
        b"{}",
        b'{"a": 1}\n',
        b"[1]",
        b"\x00" * 100,
        b"\xff" * 100,
        b"\x1f\x8bnot gzip",
        b"\x28\xb5\x2f\xfdnot zstd",
        b'{"resourceSpans": "x"}',
        b'{"resource_spans": []}',
        b"PK\x03\x04" + bytes(50),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_file_that_is_not_otlp_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    """One clear line on the file, exit 2, and no store is made."""
    (tmp_path / "data").write_bytes(content)
    assert main(["ingest", str(tmp_path / "data"), "--store", str(tmp_path / "s")]) == 2
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{tmp_path / 'data'}")
    assert last == "error: nothing in these files can be read as OTLP; nothing was stored"
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_missing_file_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Even if other files are fine."""
    files = [str(DATA / "strands_spans.jsonl"), str(tmp_path / "none.jsonl")]
    assert main(["ingest", *files, "--store", str(tmp_path / "s")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_metrics_are_counted_and_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of several signals loads without complaint."""
    path = tmp_path / "all.jsonl"
    path.write_bytes(b'{"resourceMetrics": []}\n' + LINES)
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 0
    assert "1 requests of other signals ignored" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["stats", "ingest"])
def test_a_store_that_cannot_be_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """A locked store, a newer one and a missing one are one clear line and exit 2."""
    store = tmp_path / "s"
    arguments = {
        "stats": ["store", "stats", "--store", str(store)],
        "ingest": ["ingest", str(DATA / "strands_spans.jsonl"), "--store", str(store)],
    }[command]
    if command == "stats":
        assert main(arguments) == 2
        assert "there is no store here" in capsys.readouterr().err
        assert not store.exists()
    with Store.open(store, write=True, create=True):
        pass
    (store / "store.json").write_text('{"format": 99}')
    assert main(arguments) == 2
    assert "made by" in capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("first", "number"),
    [
        pytest.param(b"2026-01-01 12:00:00 INFO exporter started", 1, id="log line"),
        pytest.param(LINES.splitlines()[0][-200:], 1, id="end of a cut line"),
        pytest.param(LINES.splitlines()[0][-9000:], 1, id="long end of a cut line"),
        pytest.param(LINES.splitlines()[0][:30], 1, id="short start of a line"),
        pytest.param(b"{", 1, id="one brace"),
        pytest.param(b"\n\n{oops", 3, id="blank lines before"),
    ],
)
def test_a_first_line_that_is_no_request_is_named_and_the_rest_loaded(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: bytes,
    number: int,
) -> None:
    """A rotated file begins in the middle of a line, and a log may stand before the requests."""
    path = tmp_path / "rotated"
    path.write_bytes(first + b"\n" + LINES)
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 1
    fault, total = capsys.readouterr().err.splitlines()
    assert fault.startswith(f"{path}:{number}: ")
    assert total == "1 faults, 0 items rejected"
    assert stored(tmp_path / "s", capsys) == counts(DATA / "strands_spans.jsonl")


def test_a_blank_first_line_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of the file is loaded."""
    (tmp_path / "data").write_bytes(b"\n" + LINES)
    assert main(["ingest", str(tmp_path / "data"), "--store", str(tmp_path / "s")]) == 0
    assert stored(tmp_path / "s", capsys) == counts(DATA / "strands_spans.jsonl")


@pytest.mark.parametrize("cut", [1, 8, 40, 400])
def test_a_cut_gzip_file_loads_the_lines_before_the_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    """The cut is named, and the exit code says that something is missing."""
    whole = gzip.compress(LINES, mtime=0)[:-cut]
    readable = zlib.decompressobj(31).decompress(whole)
    (tmp_path / "expected").write_bytes(readable[: readable.rfind(b"\n")])
    path = tmp_path / "data.gz"
    path.write_bytes(whole)
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 1
    assert f"{path}: can't be read further: the gzip data is cut" in capsys.readouterr().err
    found = stored(tmp_path / "s", capsys)
    assert found == counts(tmp_path / "expected")
    assert sum(found) > 0


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd])
def test_a_pipe_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], compress: Callable[[bytes], bytes]
) -> None:
    """As a file would be, compressed or not."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(compress(LINES),), daemon=True)
    writer.start()
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 0
    writer.join(10)
    assert stored(tmp_path / "s", capsys) == counts(DATA / "strands_spans.jsonl")


def test_large_lines_are_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A first line of 60 MB and many of 10 MB keep none of the others from being stored."""
    request = traces_request((1, 1))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    value = span.attributes.add(key="large").value
    path = tmp_path / "large"
    with path.open("wb") as file:
        for number, size in enumerate([60, *[10] * 20, 0], start=1):
            span.span_id = number.to_bytes(8, "big")
            value.string_value = "x" * (size * 10**6)
            body = request.SerializeToString()
            file.write(len(body).to_bytes(4, "big") + body)
    assert main(["ingest", str(path), "--store", str(tmp_path / "s")]) == 0
    assert stored(tmp_path / "s", capsys) == (22, 0)
