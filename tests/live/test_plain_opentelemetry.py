"""`opentelemetry-instrument` alone loads the recording of rows."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import missing

PROGRAM = """
import sqlite3
connection = sqlite3.connect(":memory:")
print(connection.execute("SELECT 40 + 2 AS answer").fetchall())
"""


def test_opentelemetry_instrument_loads_the_recorder(tmp_path):
    """The entry point is enough: a program that ends at once has its rows on a span."""
    tool = Path(sys.executable).parent / "opentelemetry-instrument"
    if not tool.exists():
        missing("opentelemetry-instrument")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [str(tool), "--traces_exporter", "console", "--logs_exporter", "none",
         "--metrics_exporter", "none", sys.executable, "-c", PROGRAM],
        capture_output=True, text=True, timeout=120, env=kept, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[(42,)]")
    assert '\\"rows\\":[[42]]' in done.stdout
    assert '"db.query.text": "SELECT 40 + 2 AS answer"' in done.stdout
