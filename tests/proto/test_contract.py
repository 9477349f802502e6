"""The gRPC contract in `proto/`: clean by buf's rules, and no change of it breaks a client."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.npm import npm_packages

PROTO = Path(__file__).parents[2] / "proto"
CONTRACT = Path("dbagenteval", "v1", "evaluation.proto")

Buf = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def buf() -> Buf:
    program = npm_packages(PROTO) / ".bin" / "buf"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(program), *words], capture_output=True, text=True, timeout=60)

    return run


def breaking(buf: Buf, contract: Path) -> subprocess.CompletedProcess[str]:
    """Compare a contract with the released one."""
    return buf("breaking", str(contract), "--against", str(PROTO / "baseline.binpb"))


def test_contract_is_clean(buf: Buf) -> None:
    """By the rules of buf.yaml, and formatted."""
    linted = buf("lint", str(PROTO))
    assert linted.returncode == 0, linted.stdout
    formatted = buf("format", "--diff", "--exit-code", str(PROTO))
    assert formatted.returncode == 0, formatted.stdout


def test_contract_breaks_no_client(buf: Buf) -> None:
    """All that a client of the released contract says is still understood."""
    compared = breaking(buf, PROTO)
    assert compared.returncode == 0, compared.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rpc StoreStats(", "rpc Stats("),
        ("optional uint64 since_ns = 1;", "optional uint64 since_ns = 9;"),
        ("optional uint64 since_ns = 1;", "optional string since_ns = 1;"),
        ("package dbagenteval.v1;", "package dbagenteval.v2;"),
    ],
)
def test_changes_that_break_clients_are_found(buf: Buf, tmp_path: Path, old: str, new: str) -> None:
    """A renamed call, a field with another number or type, another package."""
    shutil.copytree(PROTO, tmp_path / "proto")
    contract = tmp_path / "proto" / CONTRACT
    text = contract.read_text("utf-8")
    assert old in text
    contract.write_text(text.replace(old, new), "utf-8")
    assert breaking(buf, tmp_path / "proto").returncode == 100
