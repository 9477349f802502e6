"""An owner file that names what isn't the owner: told quickly, and by what was found."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dbagenteval.errors import StoreLocked
from dbagenteval.rpc import client
from dbagenteval.rpc.client import ServedStore, open_store
from dbagenteval.store import Store
from tests.receiver.serving import serve
from tests.receiver.test_kill import store_process


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """A program that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@contextlib.contextmanager
def web() -> Iterator[str]:
    """A program that speaks HTTP/1.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextlib.contextmanager
def nobody() -> Iterator[str]:
    with silent() as address:
        pass
    yield address


@pytest.mark.parametrize("other", [silent, web, nobody])
def test_another_program_at_the_address(
    tmp_path: Path, other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no owner, and the message names the address."""
    monkeypatch.setattr(client, "_CONNECT_TIMEOUT_S", 0.5)
    monkeypatch.setattr(client, "_OWNER_WAIT_S", 0.5)
    with Store.open(tmp_path / "s", write=True, create=True), other() as address:  # type: ignore[operator]
        (tmp_path / "s" / "owner.json").write_text(json.dumps({"address": address, "token": "x"}))
        begun = time.monotonic()
        with pytest.raises(StoreLocked, match=f"at {address}.* no store process answers"):
            open_store(tmp_path / "s")
        assert time.monotonic() - begun < 3


def test_the_process_of_another_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its port was used again; it doesn't know the token."""
    monkeypatch.setattr(client, "_OWNER_WAIT_S", 0.5)
    with serve(tmp_path / "other"), Store.open(tmp_path / "s", write=True, create=True):
        found = json.loads((tmp_path / "other" / "owner.json").read_text())
        found["token"] = "x"
        (tmp_path / "s" / "owner.json").write_text(json.dumps(found))
        with pytest.raises(StoreLocked, match=r"another program answers.*UNAUTHENTICATED"):
            open_store(tmp_path / "s")


def test_a_store_process_that_is_started_again_is_waited_for(tmp_path: Path) -> None:
    """Its address is another one then."""
    with serve(tmp_path / "s") as served:
        before = (tmp_path / "s" / "owner.json").read_text()
        os.kill(store_process(served), signal.SIGKILL)
        with open_store(tmp_path / "s") as store:
            assert isinstance(store, ServedStore)
            assert store.stats().spans == 0
        assert (tmp_path / "s" / "owner.json").read_text() != before


def test_the_file_of_a_dead_owner_goes_with_the_next(tmp_path: Path) -> None:
    """Nobody waits for an owner that died, while another command has the store."""
    with serve(tmp_path / "s") as served:
        served.stop(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while True:
        try:
            store = Store.open(tmp_path / "s", write=True)
        except StoreLocked:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            break
    with store:
        assert not (tmp_path / "s" / "owner.json").exists()
