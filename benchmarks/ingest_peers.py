"""The same load on other receivers: arize-phoenix and mlflow, each in an environment of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest_server import load

SPANS = 4096
START_TIMEOUT_S = 240
STALL_S = 30


@dataclass(frozen=True)
class Peer:
    """How another receiver is run, and where its spans are.

    Args:
        package: On PyPI.
        command: Its program and arguments; `{folder}` and `{port}` are filled in.
        environment: Variables, filled in as well.
        database: SQLite file with a table `spans`, in the folder.
        headers: That it wants with each export.
        required: How many times its rate ours must be.
    """

    package: str
    command: tuple[str, ...]
    environment: dict[str, str]
    database: str
    headers: tuple[str, ...]
    required: int


PEERS = {
    "phoenix": Peer(
        package="arize-phoenix",
        command=("phoenix", "serve"),
        environment={
            "PHOENIX_WORKING_DIR": "{folder}",
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": "{port}",
            "PHOENIX_GRPC_PORT": "{second_port}",
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        database="phoenix.db",
        headers=(),
        required=400,
    ),
    "mlflow": Peer(
        package="mlflow",
        command=(
            *("mlflow", "server", "--host", "127.0.0.1", "--port", "{port}"),
            *("--backend-store-uri", "sqlite:///{folder}/mlflow.db"),
        ),
        environment={"MLFLOW_DISABLE_TELEMETRY": "true"},
        database="mlflow.db",
        headers=("x-mlflow-experiment-id=0",),
        required=120,
    ),
}


def programs(peer: Peer, cache: Path) -> Path:
    """The folder of the peer's programs, installed there if they aren't yet."""
    environment = cache / peer.package
    if not (environment / "bin" / peer.command[0]).exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", peer.package]
        subprocess.run(pip, check=True)
    return environment / "bin"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


@contextlib.contextmanager
def running(peer: Peer, programs_folder: Path, folder: Path) -> Iterator[tuple[str, float]]:
    """Run the peer; gives where it takes traces, and how long its start took."""
    port = free_port()
    values = {"folder": str(folder), "port": str(port), "second_port": str(free_port())}
    command = [part.format(**values) for part in peer.command]
    command[0] = str(programs_folder / command[0])
    environment = {name: text.format(**values) for name, text in peer.environment.items()}
    begun = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log
        )
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/"), START_TIMEOUT_S)
        yield f"http://127.0.0.1:{port}/v1/traces", time.monotonic() - begun
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def wait_until(is_so: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the peer doesn't answer")
        time.sleep(0.2)


def span_count(database: Path) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM spans").fetchall()
    return int(count)


def wait_stored(database: Path, count: int) -> tuple[int, float]:
    """Wait until so many are stored or no more come; gives the count, and when it was reached."""
    reached, since = span_count(database), time.time()
    while reached < count and time.time() - since < STALL_S:
        time.sleep(0.1)
        now = span_count(database)
        if now > reached:
            reached, since = now, time.time()
    return reached, since


def measure_peer(peer: Peer, folder: Path, cache: Path) -> dict[str, float]:
    """Send to one peer what `ingest.py` sends to us, but less of it."""
    with running(peer, programs(peer, cache), folder) as (target, start_s):
        headers = [f"--header={header}" for header in peer.headers]
        database = folder / peer.database
        load(target, 512, "--seed", "201", *headers)
        before, _ = wait_stored(database, 512)
        found = load(target, SPANS, *headers)
        stored, at = wait_stored(database, before + found["spans"])
    return {
        "stored/s": (stored - before) / (at - found["started"]),
        "of spans": (stored - before) / found["spans"],
        "p99 ms": found["p99_ms"],
        "start s": start_s,
    }
