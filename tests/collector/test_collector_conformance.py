"""`dbagenteval conformance` against the real Collector, whose receiver is known to differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbagenteval.cli.main import main
from dbagenteval.receiver.conformance import CHECKS
from tests.collector.collecting import collector

DIFFERENCES = {
    5: "its 405 has no Allow: POST",
    6: "the body of its 404 is no google.rpc.Status",
    14: "answered 400, not 415",
    20: "answered 400, not 413",  # its own limit is 20 MiB
    23: "partial_success is set though all was taken",
    24: "counted 0 rejected spans, not 1",  # it passes ids of all zeros on
    35: "answered 200, not 400",  # it reads over bytes that are no UTF-8
}


def test_the_collector(otelcol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It passes all checks but those where it is known not to follow the specification."""
    with collector(otelcol, "file-capture.yaml", tmp_path, CAPTURE_DIR=str(tmp_path)) as address:
        assert main(["conformance", f"http://{address}"]) == 1
    lines = capsys.readouterr().out.splitlines()[:-1]
    failed = {int(line.split()[1]): line for line in lines if line.startswith("FAIL")}
    assert failed.keys() == DIFFERENCES.keys()
    for item, fault in DIFFERENCES.items():
        assert fault in failed[item]
    assert len(lines) == len(CHECKS)
