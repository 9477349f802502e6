"""A request that ends the store process whenever it is stored is set aside by itself."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from dbagenteval.errors import Overloaded
from dbagenteval.store import Store, StoreOwner
from dbagenteval.store.records import encode_header
from tests.store.requests import traces_request

CRASHING = """
import os, signal, sys
from dbagenteval.rpc.store_process import main
from dbagenteval.store.writer import Writer

whole = Writer.apply

def apply(self, requests, position):
    if any(b"fatal" in body for _, body in requests):
        os.kill(os.getpid(), signal.SIGSEGV)
    return whole(self, requests, position)

Writer.apply = apply
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def quick_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbagenteval.store.owner._RESTART_DELAY_S", 0.05)


def body(number: int, *, service: str = "shop") -> bytes:
    return traces_request((number, 1), service=service).SerializeToString()


def append(owner: StoreOwner, request: bytes) -> None:
    """As an exporter does: again when it is told to."""
    for _ in range(600):
        try:
            owner.append("traces", request).result(10)
        except Overloaded:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("refused for ever")


def test_a_fatal_request_is_set_aside_and_all_others_are_stored(tmp_path: Path) -> None:
    """Wherever it stands among them; it is kept in a file and counted, and exporters go on."""
    owner = StoreOwner(tmp_path / "s", [sys.executable, "-c", CRASHING])
    fatal = body(20, service="fatal")
    try:
        for number in range(1, 41):
            append(owner, fatal if number == 20 else body(number))
        deadline = time.monotonic() + 60
        while owner.gauges()["dbagenteval_journal_backlog_bytes"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        append(owner, body(41))
        assert owner.gauges()["dbagenteval_store_requests_set_aside"] == 1
        assert owner.problem() is None
    finally:
        owner.close(30)
    (kept,) = (tmp_path / "s" / "set-aside").iterdir()
    assert kept.read_bytes() == fatal
    with Store.open(tmp_path / "s", write=False) as store:
        found = [int(trace.trace_id, 16) for trace in store.otel_traces()]
        assert store.check().set_aside == (kept.name,)
    assert sorted(found) == [number for number in range(1, 42) if number != 20]
    assert not (tmp_path / "s" / "attempt.json").exists()


def test_deaths_of_another_cause_set_nothing_aside(tmp_path: Path) -> None:
    """A process that was killed twice at a request tries it again."""
    directory = tmp_path / "s"
    Store.open(directory, write=True, create=True).close()
    request = body(1)
    content = encode_header("traces", request, 1) + request
    for tries in (1, 2):
        (directory / "journal" / f"{0:020d}.journal").write_bytes(content)
        note = {"start": 0, "end": len(content), "records": 1, "tries": tries}
        (directory / "attempt.json").write_text(json.dumps(note))
        (directory / "traces.duckdb").unlink()
        with Store.open(directory, write=False) as store:
            assert store.stats().spans == 1
    assert list((directory / "set-aside").iterdir()) == []
    assert not (directory / "attempt.json").exists()


def test_a_damaged_note_is_none(tmp_path: Path) -> None:
    """After a power cut it may hold anything."""
    directory = tmp_path / "s"
    Store.open(directory, write=True, create=True).close()
    for note in ("", "{", "[]", '{"start": 0}', "\x00" * 50):
        (directory / "attempt.json").write_text(note)
        with Store.open(directory, write=True) as store:
            store.append("traces", body(1)).result(5)
            store.flush()
            assert store.stats().spans == 1
