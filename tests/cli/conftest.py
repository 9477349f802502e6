"""A folder with an agent module and cases."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dbagenteval.cli import main
from tests.cli.run_agents import AGENT, CASES

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Run:
    """Run the command in a folder with an agent module of the test's own and cases."""
    name = "agents_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name)
    (tmp_path / f"{name}.py").write_text(AGENT)
    (tmp_path / "cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*words: str, cases: str = "cases.yaml") -> int:
        return main(["run", cases, *(word.replace("m:", f"{name}:") for word in words)])

    return call
