"""What was acknowledged is there after any end of the process."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from dbagenteval.errors import Overloaded, StoreError, StoreLocked, StoreTooNew
from dbagenteval.store import Store, journal
from dbagenteval.store.journal import Journal
from dbagenteval.store.records import HEADER, encode_header, segments
from dbagenteval.store.replay import JournalReader, cut_torn_tail
from dbagenteval.store.writer import Writer
from tests.store.requests import logs_request, traces_request


def body(*spans: tuple[int, int]) -> bytes:
    return traces_request(*spans).SerializeToString()


def crashed_store(tmp_path: Path, bodies: list[bytes]) -> Path:
    """A store whose owner died with all of this in its journal and nothing in its database."""
    directory = tmp_path / "s"
    with Store.open(directory, write=True, create=True):
        pass
    content = b"".join(encode_header("traces", item, 1) + item for item in bodies)
    (directory / "journal" / f"{0:020d}.journal").write_bytes(content)
    return directory


def span_count(directory: Path, *, write: bool = True) -> int:
    with Store.open(directory, write=write) as store:
        return store.stats().spans


@pytest.mark.parametrize("write", [True, False])
def test_a_restart_replays_the_journal(tmp_path: Path, write: bool) -> None:
    """Acknowledged requests are stored by the next process, whether it comes to write or read."""
    directory = crashed_store(tmp_path, [body((1, 1), (1, 2)), body((2, 1))])
    assert span_count(directory, write=write) == 3
    assert span_count(directory, write=False) == 3
    assert list((directory / "journal").iterdir()) == []


def test_replay_goes_on_where_the_database_stands(tmp_path: Path) -> None:
    """What was committed before the crash isn't stored twice, and new requests follow behind."""
    directory = crashed_store(tmp_path, [body((1, 1)), body((2, 1))])
    saved = (directory / "journal" / f"{0:020d}.journal").read_bytes()
    assert span_count(directory) == 2
    (directory / "journal" / f"{0:020d}.journal").write_bytes(saved)
    with Store.open(directory, write=True) as store:
        store.append("traces", body((3, 1))).result(5)
        store.flush()
        assert store.stats().spans == 3
    assert span_count(directory) == 3


def test_log_records_are_replayed_once(tmp_path: Path) -> None:
    """The same for log records, which have no ids."""
    directory = crashed_store(tmp_path, [])
    request = logs_request((1, 1), (0, 0)).SerializeToString()
    record = encode_header("logs", request, 1) + request
    (directory / "journal" / f"{0:020d}.journal").write_bytes(record * 2)
    with Store.open(directory, write=True) as store:
        assert store.stats().logs == 2


def test_a_torn_tail_is_cut(tmp_path: Path) -> None:
    """Half a record at the end was never acknowledged; at every length the rest is stored."""
    directory = crashed_store(tmp_path, [])
    whole, torn = body((1, 1)), body((2, 1))
    path = directory / "journal" / f"{0:020d}.journal"
    first = encode_header("traces", whole, 1) + whole
    second = encode_header("traces", torn, 1) + torn
    for length in (1, 4, HEADER.size - 1, HEADER.size, HEADER.size + 1, len(second) - 1):
        path.write_bytes(first + second[:length])
        assert cut_torn_tail(path.parent, 0, set_aside=tmp_path) == len(first)
        assert path.read_bytes() == first
    assert span_count(directory) == 1
    assert list((directory / "set-aside").iterdir()) == []


@pytest.mark.parametrize("at", [0, 4, 12, 16, 40, -1], ids=str)
def test_a_damaged_last_record_is_set_aside_too(tmp_path: Path, at: int) -> None:
    """It is as long as its header says, and so not half written: it may have been acknowledged."""
    directory = crashed_store(tmp_path, [body((1, 1)), body((2, 1))])
    path = directory / "journal" / f"{0:020d}.journal"
    content = bytearray(path.read_bytes())
    start = HEADER.size + len(body((1, 1)))
    content[at if at < 0 else start + at] ^= 0xFF
    path.write_bytes(content)
    assert span_count(directory) == 1
    (kept,) = (directory / "set-aside").iterdir()
    assert kept.read_bytes() == content[start:]


@pytest.mark.parametrize("bit", [8, 12, 20, 31])
def test_a_damaged_length_is_no_torn_tail(tmp_path: Path, bit: int) -> None:
    """The last record looks as if more of it should come; its header's checksum knows better."""
    directory = crashed_store(tmp_path, [body((1, 1)), body((2, 1))])
    path = directory / "journal" / f"{0:020d}.journal"
    content = bytearray(path.read_bytes())
    start = HEADER.size + len(body((1, 1)))
    content[start + 8 + bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    assert span_count(directory) == 1
    (kept,) = (directory / "set-aside").iterdir()
    assert kept.read_bytes() == content[start:]


def test_a_journal_without_header_checksums_is_read(tmp_path: Path) -> None:
    """As earlier versions wrote it, whole records and a torn tail."""
    directory = crashed_store(tmp_path, [])
    records = b""
    for trace in (1, 2, 3):
        content = body((trace, 1))
        header = bytearray(encode_header("traces", content, 1))
        assert any(header[5:8])
        header[5:8] = bytes(3)
        records += header + content
    (directory / "journal" / f"{0:020d}.journal").write_bytes(records[:-5])
    assert span_count(directory) == 2
    assert list((directory / "set-aside").iterdir()) == []


def test_a_damaged_record_is_set_aside_and_the_rest_stored(tmp_path: Path) -> None:
    """One flipped bit costs one record, which is kept in a file."""
    directory = crashed_store(tmp_path, [body((1, 1)), body((2, 1)), body((3, 1))])
    path = directory / "journal" / f"{0:020d}.journal"
    content = bytearray(path.read_bytes())
    record_size = HEADER.size + len(body((1, 1)))
    content[record_size + HEADER.size + 20] ^= 1
    path.write_bytes(content)
    with Store.open(directory, write=True) as store:
        found = [int(trace.trace_id, 16) for trace in store.otel_traces()]
    assert found == [1, 3]
    (kept,) = (directory / "set-aside").iterdir()
    assert kept.read_bytes() == content[record_size : 2 * record_size]


def test_a_damaged_length_does_not_hide_what_follows(tmp_path: Path) -> None:
    """The next record is found by its magic, also in the next segment."""
    directory = crashed_store(tmp_path, [body((1, 1)), body((2, 1))])
    path = directory / "journal" / f"{0:020d}.journal"
    content = bytearray(path.read_bytes())
    content[8:12] = b"\xff\xff\xff\x7f"
    path.write_bytes(content)
    more = body((3, 1))
    path.with_name(f"{len(content):020d}.journal").write_bytes(
        encode_header("traces", more, 1) + more
    )
    with Store.open(directory, write=True) as store:
        assert [int(trace.trace_id, 16) for trace in store.otel_traces()] == [2, 3]


def test_a_request_that_does_not_decode_is_set_aside(tmp_path: Path) -> None:
    """It never blocks the others."""
    directory = crashed_store(tmp_path, [body((1, 1)), b"\xff\xff not a request", body((2, 1))])
    assert span_count(directory) == 2
    (kept,) = (directory / "set-aside").iterdir()
    assert kept.read_bytes() == b"\xff\xff not a request"


def test_a_backlog_over_its_limit_refuses(tmp_path: Path) -> None:
    """The exporter shall try again once the writer has caught up."""
    log = Journal(tmp_path, end=0, max_backlog_bytes=100)
    end = log.append("traces", b"x" * 200).result(5)
    with pytest.raises(Overloaded):
        log.append("traces", b"x")
    assert log.problem() is not None
    log.mark_applied(end)
    log.append("traces", b"x").result(5)
    log.close()
    with pytest.raises(Overloaded):
        log.append("traces", b"x")


def test_segments_are_removed_once_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A position goes on over segments and restarts."""
    monkeypatch.setattr(journal, "_SEGMENT_BYTES", 1000)
    log = Journal(tmp_path, end=5000)
    ends = [log.append("logs", b"x" * 400).result(5) for _ in range(10)]
    assert ends == [5000 + 424 * (index + 1) for index in range(10)]
    assert [start for start, _ in segments(tmp_path)] == [5000, 6272, 7544, 8816]
    log.mark_applied(ends[6])
    assert [start for start, _ in segments(tmp_path)] == [7544, 8816]
    log.close()
    reader = JournalReader(tmp_path, position=ends[6], set_aside=tmp_path)
    found = reader.read(ends[-1], max_records=100, max_bytes=1 << 20)
    assert [record.end for record in found] == ends[7:]
    assert cut_torn_tail(tmp_path, ends[6], set_aside=tmp_path) == ends[-1]


def test_a_segment_that_is_removed_while_it_is_listed_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner removes what is stored while the store process reads on."""
    monkeypatch.setattr(journal, "_SEGMENT_BYTES", 1000)
    log = Journal(tmp_path, end=0)
    ends = [log.append("logs", b"x" * 400).result(5) for _ in range(9)]
    log.close()
    reader = JournalReader(tmp_path, position=ends[2], set_aside=tmp_path)
    listed = segments(tmp_path)
    listed[0][1].unlink()
    monkeypatch.setattr("dbagenteval.store.replay.segments", lambda _: listed)
    found = reader.read(ends[-1], max_records=100, max_bytes=1 << 20)
    assert [record.end for record in found] == ends[3:]


def test_many_threads_append_and_nothing_is_lost(tmp_path: Path) -> None:
    """Group commit under contention: every acknowledged span is stored once."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:

        def run(trace: int) -> None:
            for span in range(1, 41):
                store.append("traces", body((trace, span))).result(10)

        threads = [threading.Thread(target=run, args=(trace,)) for trace in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Store.open(tmp_path / "s", write=False) as store:
        assert {int(t.trace_id, 16): len(t.spans) for t in store.otel_traces()} == dict.fromkeys(
            range(1, 9), 40
        )


def test_files_are_private(tmp_path: Path) -> None:
    """Only the owner may read a store, journal included."""
    old = os.umask(0)
    try:
        with Store.open(tmp_path / "s", write=True, create=True) as store:
            store.append("traces", body((1, 1))).result(5)
            modes = {
                path.relative_to(tmp_path): stat.S_IMODE(path.stat().st_mode)
                for path in (tmp_path / "s").rglob("*")
                if path.suffix != ".wal"
            }
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
    assert {mode for path, mode in modes.items() if (tmp_path / path).is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if (tmp_path / path).is_file()} == {0o600}


def snapshot(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("write", [True, False])
def test_a_newer_store_is_refused(tmp_path: Path, write: bool) -> None:
    """Before anything in it is touched."""
    directory = crashed_store(tmp_path, [body((1, 1))])
    (directory / "store.json").write_text('{"format": 99, "made_by": "9.1"}')
    before = snapshot(directory)
    with pytest.raises(StoreTooNew, match=r"9\.1.*format 99"):
        Store.open(directory, write=write)
    assert snapshot(directory) == before


def test_a_newer_database_in_an_old_frame_is_refused(tmp_path: Path) -> None:
    """The database says its format too."""
    directory = crashed_store(tmp_path, [])
    connection = duckdb.connect(str(directory / "traces.duckdb"))
    connection.execute("UPDATE meta SET value = 99 WHERE key = 'format'")
    connection.close()
    with pytest.raises(StoreTooNew, match="format 99"):
        Store.open(directory, write=False)


def test_other_directories_are_refused(tmp_path: Path) -> None:
    """A store is not made over something else, and not made by reading."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("full", "file"):
        with pytest.raises(StoreError):
            Store.open(tmp_path / name, write=True, create=True)
    with pytest.raises(StoreError, match="no store here"):
        Store.open(tmp_path / "none", write=False)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "thesis.txt"]


def test_a_store_whose_making_was_cut_short_can_be_made_again(tmp_path: Path) -> None:
    """After `kill -9` between the first folder and the version file."""
    directory = tmp_path / "s"
    for folder in ("journal", "set-aside", "tmp"):
        (directory / folder).mkdir(parents=True)
    (directory / "store.json.part").write_text('{"form')
    with Store.open(directory, write=True, create=True) as store:
        store.append("traces", body((1, 1))).result(5)
    assert span_count(directory) == 1


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "x"}', "\x00"])
def test_a_damaged_version_file_is_refused(tmp_path: Path, content: str) -> None:
    """With a message, not a traceback."""
    directory = crashed_store(tmp_path, [])
    (directory / "store.json").write_text(content)
    with pytest.raises(StoreError, match="damaged"):
        Store.open(directory, write=False)


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    """The same for the database file."""
    directory = crashed_store(tmp_path, [])
    (directory / "traces.duckdb").write_bytes(b"nonsense" * 2000)
    with pytest.raises(StoreError):
        Store.open(directory, write=True)


HOLDER = """
import sys
from dbagenteval.store import Store
with Store.open(sys.argv[1], write=sys.argv[2] == "write"):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        ("write", "write", False),
        ("write", "read", False),
        ("read", "write", False),
        ("read", "read", True),
    ],
)
def test_one_owner_or_many_readers(tmp_path: Path, first: str, second: str, fits: bool) -> None:
    """While one process owns the store no other opens it; readers share it."""
    directory = crashed_store(tmp_path, [])
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(directory), first],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        if fits:
            Store.open(directory, write=second == "write").close()
        else:
            before = snapshot(directory)
            with pytest.raises(StoreLocked):
                Store.open(directory, write=second == "write")
            assert snapshot(directory) == before
    finally:
        holder.kill()
        holder.communicate()
    Store.open(directory, write=second == "write").close()


def test_a_copied_store_opens(tmp_path: Path) -> None:
    """A store is its directory; nothing else refers to it."""
    directory = crashed_store(tmp_path, [body((1, 1))])
    shutil.copytree(directory, tmp_path / "copy")
    assert span_count(tmp_path / "copy") == 1


def test_a_file_that_is_no_segment_is_passed_over(tmp_path: Path) -> None:
    """Whatever lies in the journal's folder, the store opens, and the file stays."""
    directory = crashed_store(tmp_path, [body((1, 1))])
    (directory / "journal" / "x.journal").write_bytes(b"not ours")
    assert span_count(directory, write=False) == 1
    assert [path.name for path in (directory / "journal").iterdir()] == ["x.journal"]


def test_a_check_tells_of_a_blocked_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While what was acknowledged can't be stored, the check of the served store says so."""
    failed = threading.Event()

    def fails(*_: object) -> None:
        failed.set()
        raise duckdb.IOException("no room")

    with Store.open(tmp_path / "s", write=True, create=True) as store:
        with monkeypatch.context() as patched:
            patched.setattr(Writer, "apply", fails)
            store.append("traces", body((1, 1))).result(5)
            assert failed.wait(5)
            while store.problem() is None:
                pass
            (fault,) = store.check().faults
        assert fault == "the journal can't be stored at present: no room"
        store.flush()
        assert store.check().faults == ()
