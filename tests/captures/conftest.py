"""What real frameworks sent for questions that they answered well and badly, and the shop."""

from __future__ import annotations

import gzip
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbagenteval import Case

DATA = Path(__file__).parent / "data"
STACKS = sorted(path.name.partition(".")[0] for path in DATA.glob("*.jsonl.gz"))


@dataclass(frozen=True)
class Truth:
    """What is right.

    Args:
        cases: By question id.
        verdicts: By stack, then by question id: `verdict` and `stage` at fault.
    """

    cases: dict[str, Case]
    verdicts: dict[str, dict[str, dict[str, Any]]]


def truth() -> Truth:
    """Read the ground truth of the captures."""
    known = json.loads((DATA / "truth.json").read_text(encoding="utf-8"))
    cases = {name: Case.from_dict({**case, "id": name}) for name, case in known["cases"].items()}
    return Truth(cases, known["verdicts"])


@pytest.fixture(scope="session")
def shop_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database that the agents asked."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    with sqlite3.connect(path) as database:
        database.executescript(gzip.decompress((DATA / "shop.sql.gz").read_bytes()).decode())
    database.close()
    return f"sqlite:///{path}"
