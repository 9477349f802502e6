"""`dbagenteval demo`: the main job with a real receiver, a real agent process and real sockets."""

import os
import subprocess
import sys
from pathlib import Path


def test_the_demo_finds_the_planted_mistake(tmp_path):
    """Six scorecards, one failure at the right stage, a report, and nothing else left behind."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "dbagenteval", "demo", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(scratch), "OTEL_EXPORTER_OTLP_ENDPOINT": "http://nowhere"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "5 of 6 passed (83%), 1 failed, 0 errors" in done.stdout
    assert "first failing stage generate: 1" in done.stdout
    assert "tenant_filter      FAIL  no store_id = 's1' filter on ['orders']" in done.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.json", "report.md"}
    assert list(scratch.iterdir()) == []


def test_the_wheel_brings_the_example():
    """The files that the demo runs are named in the wheel's contents."""
    root = Path(__file__).parents[2]
    assert '"examples/shop" = "dbagenteval/_examples/shop"' in (root / "pyproject.toml").read_text()
