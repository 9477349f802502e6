"""`dbagenteval conformance` finds what a server does wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dbagenteval.cli.main import main
from dbagenteval.receiver.conformance import CHECKS
from tests.receiver.running import Running


def test_our_receiver_conforms(receiver: Running, capsys: pytest.CaptureFixture[str]) -> None:
    """Every check passes, exit 0."""
    assert main(["conformance", receiver.http]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert all(line.startswith("ok ") for line in lines[:-1])


class Careless(BaseHTTPRequestHandler):
    """A server that says 500 to what it can't read and 200 to all else."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(500 if body[:1] in (b"\xff", b"[") else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def careless() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Careless)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_careless_server_is_found_out(careless: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, and the items that it gets wrong are named."""
    assert main(["conformance", careless]) == 1
    output = capsys.readouterr().out
    failed = {int(line.split()[1]) for line in output.splitlines() if line.startswith("FAIL")}
    assert {5, 6, 11, 12, 14, 15, 20, 24, 35, 37, 53} <= failed
    assert {13, 22, 42}.isdisjoint(failed)


@pytest.mark.parametrize("url", ["localhost:4318", "http://127.0.0.1:1", "ftp://x"])
def test_an_address_where_nothing_answers(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2."""
    assert main(["conformance", url]) == 2
    assert len(capsys.readouterr().err.splitlines()) <= 2
