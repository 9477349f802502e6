"""Cluster the kept scorecards of 1,000,000 turns: seconds and peak memory.

The cards are kept by `store.scorecards`, as `score` does, and read by `dbagenteval clusters` in a
process of its own; no trace is read. Run: `python benchmarks/clusters.py [TURNS]`.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from dbagenteval.failures import sql_edit, structure
from dbagenteval.store.scorecards import ScorecardRun, kept_bytes

TURNS = 1_000_000
TEMPLATES = 2_000
"""Different questions, some asked far more often than others; half of them have a case."""

DAYS = 30
NOON_NS = 1_790_000_000 * 10**9
DAY_NS = 86_400 * 10**9
CITIES = [f"City {number}" for number in range(5_000)]


def templates() -> list[dict[str, Any]]:
    """Give what the turns of each question have in common: structure, tables, edit."""
    found = []
    for number in range(TEMPLATES):
        table, column = f"table_{number % 300}", f"column_{number}"
        reference = (
            f"SELECT {column}, COUNT(*) FROM {table} WHERE tenant_id = 1 AND city = 'x' "
            f"GROUP BY {column}"
        )
        wrong = reference.replace("tenant_id = 1 AND ", "")
        found.append(
            {
                "tables": [table],
                "structure": structure(wrong),
                "edit": list(sql_edit(wrong, reference).kinds),
                "case_id": f"case_{number}" if number % 2 else "",
            }
        )
    return found


def cards(turns: int) -> Iterator[dict[str, Any]]:
    """Make cards; one in five failed, one in fifty has no SQL and a question of its own."""
    rng = random.Random(1)
    made = templates()
    for turn in range(turns):
        number = min(int(rng.paretovariate(0.7)), TEMPLATES) - 1
        card = {
            "turn": f"{turn:032x}",
            "trace_id": f"{turn:032x}",
            "service": "shop",
            "start_ns": NOON_NS + rng.randrange(DAYS) * DAY_NS,
            "question": f"How many of kind {number} are there in {rng.choice(CITIES)}?",
            "verdict": "PASS",
            "results": [{"check": "reference_rows", "stage": "execute", "status": "pass"}] * 3,
            **made[number],
        }
        if rng.random() < 0.2:
            card |= {"verdict": "FAIL", "stage": "generate", "reason": "different_values"}
            card["check"] = "reference_rows" if card["case_id"] else "tenant_filter"
        else:
            card["edit"] = []
        if rng.random() < 0.02:
            words = " ".join(f"word{rng.randrange(3_000)}" for _ in range(5))
            card |= {"structure": "", "tables": [], "case_id": "", "question": f"And {words}?"}
        yield card


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    with tempfile.TemporaryDirectory() as store:
        start = time.perf_counter()
        with ScorecardRun(store, {"version": "benchmark"}) as run:
            for card in cards(turns):
                run.add(card)
        made = time.perf_counter() - start
        print(f"kept {turns:,} cards in {made:.0f} s, {kept_bytes(store) / 2**20:.0f} MiB")
        start = time.perf_counter()
        command = [sys.executable, "-m", "dbagenteval", "clusters", "--store", store, "--top", "3"]
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"clustered in {seconds:.1f} s with at most {peak:.0f} MiB; read kept scorecards")


if __name__ == "__main__":
    main()
