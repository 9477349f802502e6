"""The owner of a served store, with a store process that is none."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from dbagenteval.errors import Overloaded
from dbagenteval.store import StoreOwner
from tests.store.requests import traces_request

FIRST_ENDS_THEN_NONE_STARTS = """
import json, pathlib, struct, sys, time
started, mended = pathlib.Path(sys.argv[1], "started"), pathlib.Path(sys.argv[1], "mended")
def report(**facts):
    print(json.dumps(facts), flush=True)
if mended.exists():
    report(position=0)
    while True:
        (position,) = struct.unpack("<Q", sys.stdin.buffer.read(8))
        if position == 2**64 - 1:
            break
        report(applied=position)
elif started.exists():
    report(error="can't be opened")
    sys.exit(2)
else:
    started.touch()
    report(position=0)
    sys.stdin.buffer.read(16)
"""


def test_nothing_is_acknowledged_while_the_store_process_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One end is bridged, more are told to exporters; it goes on once a process stores again."""
    monkeypatch.setattr("dbagenteval.store.owner._RESTART_DELAY_S", 0.02)
    body = traces_request((1, 1)).SerializeToString()
    command = [sys.executable, "-c", FIRST_ENDS_THEN_NONE_STARTS, str(tmp_path)]
    owner = StoreOwner(tmp_path / "s", command)
    try:
        owner.append("traces", body).result(5)
        deadline = time.monotonic() + 20
        while "can't start" not in (owner.problem() or ""):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with pytest.raises(Overloaded, match="can't start"):
            owner.append("traces", body)
        (tmp_path / "mended").touch()
        while owner.problem() is not None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        owner.append("traces", body).result(5)
    finally:
        owner.close(5)


def test_an_idle_process_that_ends_often_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing to store there is nothing that would ever prove that storing works again."""
    monkeypatch.setattr("dbagenteval.store.owner._RESTART_DELAY_S", 0.02)
    (tmp_path / "mended").touch()
    command = [sys.executable, "-c", FIRST_ENDS_THEN_NONE_STARTS, str(tmp_path)]
    owner = StoreOwner(tmp_path / "s", command)
    try:
        for _ in range(4):
            process = owner._process
            process.kill()
            deadline = time.monotonic() + 20
            while owner._process is process or owner.problem() is not None:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        owner.append("traces", traces_request((1, 1)).SerializeToString()).result(5)
    finally:
        owner.close(5)
