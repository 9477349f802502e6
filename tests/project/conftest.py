"""A copy of the example project that a test may change."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.project.scripted_agent import Agent

EXAMPLE = Path(__file__).parents[2] / "examples" / "project"


@dataclass
class ProjectFolder:
    root: Path

    def replace(self, file: str, old: str, new: str) -> int:
        """Replace the only place of a text and give the line of the replacement."""
        path = self.root / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), "utf-8")
        return text[: text.index(old)].count("\n") + 1

    def write(self, file: str, text: str) -> Path:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def make_database(self) -> Path:
        """Make the database if it is not there; it may be open already."""
        path = self.root / "bakery.duckdb"
        if path.exists():
            return path
        with duckdb.connect(str(path)) as connection:
            connection.execute((self.root / "bakery.sql").read_text("utf-8"))
        return path


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    root = tmp_path / "project"
    shutil.copytree(
        EXAMPLE,
        root,
        ignore=shutil.ignore_patterns("*.duckdb", "outputs", "contracts", "__pycache__"),
    )
    return ProjectFolder(root)


@pytest.fixture
def agent() -> Iterator[Agent]:
    """A running HTTP agent; a test sets its `reply`."""
    started = Agent()
    yield started
    started.stop()
