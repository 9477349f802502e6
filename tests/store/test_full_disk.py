"""A disk that is full, or fails, delays what was acknowledged and loses none of it."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from dbagenteval.errors import Overloaded, StoreError
from dbagenteval.store import Store, StoreOwner, journal
from dbagenteval.store.journal import Journal
from dbagenteval.store.records import HEADER, encode_header
from dbagenteval.store.writer import Writer
from tests.store.requests import traces_request

NO_SPACE = os.strerror(errno.ENOSPC)


def body(trace: int) -> bytes:
    return traces_request((trace, 1)).SerializeToString()


@pytest.mark.parametrize(
    "error",
    [
        duckdb.IOException("no space"),
        duckdb.TransactionException(f"Failed to commit: Could not write file: {NO_SPACE}"),
        duckdb.OutOfMemoryException(f"failed to offload a block: {NO_SPACE}"),
        duckdb.ConnectionException("closed"),
        OSError(errno.ENOSPC, NO_SPACE),
    ],
    ids=["io", "commit", "spill", "connection", "file beside"],
)
def test_a_failed_commit_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Requests stay in the journal and the store says so, even if small commits go through."""
    monkeypatch.setattr("dbagenteval.store.applier._RETRY_S", 0.02)
    failing = threading.Event()
    failing.set()
    apply = Writer.apply

    def flaky(self: Writer, requests: list[tuple[str, bytes]], position: int | None) -> object:
        if failing.is_set() and requests:
            raise error
        return apply(self, requests, position)

    with Store.open(tmp_path / "s", write=True, create=True) as store:
        monkeypatch.setattr(Writer, "apply", flaky)
        store.append("traces", body(1)).result(5)
        failed = threading.Event()
        while store.problem() is None:
            failed.wait(0.01)
        assert "can't commit" in (store.problem() or "")
        failing.clear()
        store.flush()
        assert store.problem() is None
        assert store.stats().spans == 1
    assert list((tmp_path / "s" / "set-aside").iterdir()) == []


def test_a_replay_on_a_full_disk_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words of the store, and the journal stays."""
    directory = tmp_path / "s"
    with Store.open(directory, write=True, create=True):
        pass
    segment = directory / "journal" / f"{0:020d}.journal"
    segment.write_bytes(encode_header("traces", body(1), 1) + body(1))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, NO_SPACE)

    with monkeypatch.context() as full_disk:
        full_disk.setattr(Writer, "apply", full)
        with pytest.raises(StoreError, match=f"can't be written: {NO_SPACE}"):
            Store.open(directory, write=False)
    with Store.open(directory, write=False) as store:
        assert store.stats().spans == 1


def test_what_waits_in_the_journal_must_fit_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it could never be stored, and nothing would ever be freed."""
    disk = SimpleNamespace(f_blocks=1000, f_frsize=1, f_bavail=1000)
    monkeypatch.setattr(os, "fstatvfs", lambda _: disk)
    log = Journal(tmp_path, end=0)
    end = log.append("traces", b"x" * 400).result(5)
    disk.f_bavail -= end
    with pytest.raises(Overloaded, match="no space left"):
        log.append("traces", b"x" * 400).result(5)
    log.mark_applied(end)
    log.append("traces", b"x" * 400).result(5)
    log.close()


def test_a_write_error_is_told_until_a_write_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for readiness before sending must get a chance to send."""
    disk = SimpleNamespace(f_blocks=1000, f_frsize=1, f_bavail=0)
    monkeypatch.setattr(os, "fstatvfs", lambda _: disk)
    log = Journal(tmp_path, end=0)
    with pytest.raises(Overloaded):
        log.append("traces", b"x").result(5)
    assert log.problem() == "no space left on disk"
    monkeypatch.setattr(journal, "_DISK_FULL_RETRY_S", 0.0)
    assert log.problem() is None
    log.close()


def test_a_disk_too_full_for_the_owner_file_is_told_in_words_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any port is opened, and the store is free again."""
    command = [
        sys.executable,
        "-c",
        'import sys; print(\'{"position": 0, "address": "a", "token": "t"}\', flush=True);'
        "sys.stdin.buffer.read()",
    ]

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, NO_SPACE)

    with Store.open(tmp_path / "s", write=True, create=True):
        pass
    monkeypatch.setattr("dbagenteval.store.owner.write_private", full)
    with pytest.raises(StoreError, match=f"can't be written: {NO_SPACE}"):
        StoreOwner(tmp_path / "s", command)


@pytest.mark.parametrize("spent_bytes", [1, 1 << 20], ids=["current segment", "earlier segment"])
def test_a_segment_that_cannot_be_removed_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent_bytes: int
) -> None:
    """As on a disk that the system made read-only for a while."""
    monkeypatch.setattr(journal, "_SEGMENT_BYTES", 1000)
    monkeypatch.setattr(journal, "_SPENT_BYTES", spent_bytes)
    log = Journal(tmp_path, end=0)
    log.append("traces", b"x" * 1100).result(5)
    end = log.append("traces", b"x" * 100).result(5)

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "read-only")

    with monkeypatch.context() as disk:
        disk.setattr(Path, "unlink", read_only)
        log.mark_applied(end)
        end = log.append("traces", b"x").result(5)
        log.mark_applied(end)
    assert log.append("traces", b"x").result(5) == end + HEADER.size + 1
    log.close()
    assert not log._thread.is_alive()


def test_a_full_disk_refuses_and_recovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that could not be written is refused for retry, and leaves no trace."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.append("traces", body(1)).result(5)
        write_all = journal._write_all

        def full(descriptor: int, parts: list[bytes]) -> None:
            os.write(descriptor, parts[0][:10])  # some of it gets through
            raise OSError(errno.ENOSPC, "full")

        monkeypatch.setattr(journal, "_write_all", full)
        with pytest.raises(Overloaded, match="no space left"):
            store.append("traces", body(2)).result(5)
        assert store.problem() == "no space left on disk"
        monkeypatch.setattr(journal, "_write_all", write_all)
        store.append("traces", body(3)).result(5)
        assert store.problem() is None
        store.flush()
        assert [int(trace.trace_id, 16) for trace in store.otel_traces()] == [1, 3]
