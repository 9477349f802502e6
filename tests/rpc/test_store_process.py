"""The process behind `serve` that has the database open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dbagenteval.store import Store


def test_a_damaged_database_is_reported_and_nothing_else_said(tmp_path: Path) -> None:
    """In one line for its owner, which prints it; the process ends though its feed is open."""
    with Store.open(tmp_path / "s", write=True, create=True):
        pass
    (tmp_path / "s" / "traces.duckdb").write_bytes(b"x" * 8192)
    process = subprocess.Popen(
        [sys.executable, "-m", "dbagenteval.rpc.store_process", str(tmp_path / "s"), "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.wait(30) == 2
        out, err = process.communicate()
    finally:
        process.kill()
    assert "not a valid DuckDB database" in json.loads(out)["error"]
    assert err == b""
