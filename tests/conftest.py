"""Real servers for the tests of every room."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def missing(what: str) -> None:
    """Skip for want of a system part; in CI that is a failure, since nothing may skip there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and in CI nothing may be skipped")
    pytest.skip(f"{what} is missing")


def cache_dir() -> Path:
    """Give the folder that keeps what tests fetch or build."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dbagenteval"


def free_port() -> int:
    """Give a port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _postgres_bin() -> Path | None:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server of our own; give the URL of its empty database `postgres`."""
    bin_dir = _postgres_bin()
    if bin_dir is None:
        missing("PostgreSQL")
        return
    # The server refuses to run as root.
    as_postgres = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    if as_postgres:
        shutil.chown(home, "postgres")
    data, port = home / "data", free_port()

    def run(*command: str) -> None:
        subprocess.run([*as_postgres, *command], check=True, capture_output=True, cwd=home)

    run(str(bin_dir / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8",
        "--locale=C.UTF-8", "--no-sync")  # fmt: skip
    settings = f"-p {port} -k {home} -h 127.0.0.1 -c fsync=off -c max_connections=60"
    run(str(bin_dir / "pg_ctl"), "-D", str(data), "-w", "-l", str(home / "log"), "-o", settings,
        "start")  # fmt: skip
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        run(str(bin_dir / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """Give the URL of a new, empty PostgreSQL database for one test."""
    import psycopg

    name = f"test_{os.getpid()}_{os.urandom(4).hex()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield postgres_server.rsplit("/", 1)[0] + f"/{name}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
