"""The Collector that the tests run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.collector.collecting import FOLDER
from tests.conftest import cache_dir, missing


@pytest.fixture(scope="session")
def otelcol() -> str:
    """The Collector of `builder.yaml`; DBAGENTEVAL_OTELCOL names one, else it must be built."""
    named = os.environ.get("DBAGENTEVAL_OTELCOL")
    if named:
        return named
    folder = Path(os.environ.get("DBAGENTEVAL_COLLECTOR_CACHE", cache_dir() / "collector"))
    digest = hashlib.sha256((FOLDER / "builder.yaml").read_bytes()).hexdigest()[:16]
    found = folder / digest / "otelcol"
    if not found.exists():
        missing("the Collector (collector-config/build.sh)")
    return str(found)
