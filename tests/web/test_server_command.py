"""`dbagenteval test server` as a process, and what is left of a run that was killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.project.scripted_agent import Agent

EXAMPLE = Path(__file__).parents[2] / "examples" / "project"
COMMAND = [sys.executable, "-m", "dbagenteval", "test"]


@pytest.fixture
def project(tmp_path: Path, outputs: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(
        EXAMPLE, root, ignore=shutil.ignore_patterns("*.duckdb", "outputs", "contracts")
    )
    shutil.copytree(outputs, root / "tests" / "outputs")
    return root


def _start(project: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [*COMMAND, "server", "-p", str(project), "--port", "0", "--no-open", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[2]


def _get(url: str) -> tuple[int, str]:
    for _ in range(100):  # the address is announced when it is bound, just before it answers
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def test_the_server_shows_the_newest_run_on_loopback_alone(project: Path) -> None:
    """The printed address works, another address of the machine does not, and SIGINT ends it."""
    process, url = _start(project)
    try:
        status, text = _get(url)
        assert (status, "bakery" in text) == (200, True)
        port = int(url.rstrip("/").rsplit(":", 1)[1])
        others = {
            item[4][0] for item in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        }
        for address in others - {"127.0.0.1", "127.0.1.1"}:
            with pytest.raises(OSError):
                socket.create_connection((address, port), timeout=2)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)
        process.stdout.close()


def test_a_token_lets_in(project: Path) -> None:
    """With a token the printed address holds it, and nothing else is shown."""
    process, url = _start(project, "--token", "s3cret")
    try:
        assert url.endswith("?token=s3cret")
        assert _get(url.split("?", maxsplit=1)[0])[0] == 401
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(url, timeout=10) as response:
            assert "bakery" in response.read().decode()
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


def test_a_killed_run_leaves_what_it_finished(project: Path, tmp_path: Path) -> None:
    """SIGKILL in the middle of a run: the finished results are on disk, and the server shows them."""
    agent = Agent()

    def reply(_request: dict) -> dict:
        if len(agent.asked) > 2:
            time.sleep(60)
        return {"text": "I can not answer that.", "outcome": "unavailable"}

    agent.reply = reply
    shutil.rmtree(project / "tests" / "outputs")
    import duckdb

    with duckdb.connect(str(project / "bakery.duckdb")) as connection:
        connection.execute((project / "bakery.sql").read_text("utf-8"))
    process = subprocess.Popen(
        [*COMMAND, "-p", str(project), "--agent", agent.url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(agent.asked) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    agent.stop()
    left = list((project / "tests" / "outputs").iterdir())
    assert [path.name.endswith(".partial.jsonl") for path in left] == [True]
    assert len(left[0].read_text("utf-8").splitlines()) == 3, "the head and two results"
    shown, url = _start(project)
    try:
        text = _get(url)[1]
        assert "did not end" in text
        assert "biggest_orders" in text
    finally:
        shown.kill()
        shown.wait(10)
        shown.stdout.close()
