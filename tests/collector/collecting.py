"""The real Collector as a process, and ways to send to it and to wait for what arrives."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from tests.conftest import free_port
from tests.receiver.running import PROTOBUF

FOLDER = Path(__file__).parents[2] / "collector-config"


@contextmanager
def collector(otelcol: str, config: str, folder: Path, **variables: str) -> Iterator[str]:
    """Run the Collector; gives the address of its OTLP/HTTP receiver, where it has one."""
    address = f"127.0.0.1:{free_port()}"
    environment = {
        **os.environ,
        "LISTEN_GRPC": f"127.0.0.1:{free_port()}",
        "LISTEN_HTTP": address,
        **variables,
    }
    log = folder / f"{config}.log"
    with log.open("wb") as out:
        command = [otelcol, "--config", str(FOLDER / config)]
        process = subprocess.Popen(command, env=environment, stderr=out, cwd=folder)
    try:
        wait(lambda: process.poll() is not None or "Everything is ready" in log.read_text())
        assert process.poll() is None, log.read_text()
        yield address
    finally:
        process.terminate()
        process.wait(20)


def send(address: str, signal: str, request: object) -> None:
    """Export a request over OTLP/HTTP."""
    answer = requests.post(
        f"http://{address}/v1/{signal}",
        request.SerializeToString(),  # type: ignore[attr-defined]
        headers={"Content-Type": PROTOBUF},
        timeout=10,
    )
    assert answer.status_code == 200


def wait(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not arrive"
        time.sleep(0.1)
