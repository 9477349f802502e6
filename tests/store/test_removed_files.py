"""Nothing is acknowledged that goes into files which nobody will find again."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
import requests

from dbagenteval.errors import Overloaded
from dbagenteval.store import Store
from dbagenteval.store.journal import Journal
from dbagenteval.store.layout import write_private
from dbagenteval.store.replay import JournalReader
from tests.receiver.serving import Served, serve
from tests.store.requests import traces_request


def body(trace: int) -> bytes:
    return traces_request((trace, 1)).SerializeToString()


def test_a_removed_journal_refuses_until_its_folder_is_back(tmp_path: Path) -> None:
    """An open file without a name takes bytes as if nothing was wrong."""
    folder = tmp_path / "journal"
    folder.mkdir()
    log = Journal(folder, end=0)
    end = log.append("traces", body(1)).result(5)
    shutil.rmtree(folder)
    for _ in range(2):
        with pytest.raises(Overloaded, match="directory was removed"):
            log.append("traces", body(2)).result(5)
    assert log.problem() == "the store's directory was removed"
    folder.mkdir()
    log.append("traces", body(3)).result(5)
    log.close()
    reader = JournalReader(folder, position=end, set_aside=tmp_path)
    found = reader.read(log.durable, max_records=9, max_bytes=1 << 20)
    assert [record.body for record in found] == [body(3)]


def post(receiver: Served, trace: int) -> None:
    headers = {"Content-Type": "application/x-protobuf"}
    answer = requests.post(f"{receiver.http}/v1/traces", body(trace), headers=headers, timeout=30)
    assert answer.status_code == 200


def wait_stored(receiver: Served) -> None:
    deadline = time.monotonic() + 30
    wanted = "dbagenteval_journal_backlog_bytes 0\n"
    while wanted not in requests.get(f"{receiver.http}/metrics", timeout=30).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_removed_database_is_made_anew_from_the_journal(tmp_path: Path) -> None:
    """What is acknowledged after it was removed is stored in a new one, and serve goes on."""
    with serve(tmp_path / "s") as receiver:
        post(receiver, 1)
        wait_stored(receiver)
        for path in (tmp_path / "s").glob("traces.duckdb*"):
            path.unlink()
        post(receiver, 2)
        wait_stored(receiver)
        assert receiver.stop() == 0
    with Store.open(tmp_path / "s", write=False) as store:
        assert [int(trace.trace_id, 16) for trace in store.otel_traces()] == [1, 2]


def test_a_tail_that_could_not_be_cut_hides_no_later_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next segment starts where the last acknowledged record ended."""
    log = Journal(tmp_path, end=0)
    log.append("traces", body(1)).result(5)

    def broken(*_: object) -> None:
        raise OSError("broken disk")

    with monkeypatch.context() as broken_disk:
        broken_disk.setattr(os, "fdatasync", broken)
        broken_disk.setattr(os, "ftruncate", broken)
        with pytest.raises(Overloaded):
            log.append("traces", body(2)).result(5)
    log.append("traces", body(3)).result(5)
    log.append("traces", body(4)).result(5)
    log.close()
    reader = JournalReader(tmp_path, position=0, set_aside=tmp_path)
    found = reader.read(log.durable, max_records=9, max_bytes=1 << 20)
    assert [record.body for record in found] == [body(1), body(3), body(4)]
    assert reader.damaged_count == 0


def test_renames_are_safe_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut could undo a rename whose folder was not synced."""
    synced: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_private(tmp_path / "f", b"x")
    assert synced[-1] == tmp_path.stat().st_ino
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        assert tmp_path.stat().st_ino in synced[1:]
        synced.clear()
        store.compact()
        assert (tmp_path / "s").stat().st_ino in synced
