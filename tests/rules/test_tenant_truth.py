"""TenantFilter against the truth: generated queries, run while other tenants' rows differ."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from dbagenteval.cases import Case
from dbagenteval.rules import TenantFilter
from dbagenteval.traces import Trace
from tests.rules.tenant_generator import Generator
from tests.rules.tenant_world import GUARDED, OWN, World, duckdb_world, postgres_world, sqlite_world

FIRST_BASES = range(3)
"""Enough to find nearly every leak."""

MORE_BASES = range(3, 40)
"""For a query that the rule fails though no leak was seen: is it safe, or was that luck?"""


@dataclass
class Tally:
    """What came of a run."""

    leaks_passed: list[str] = field(default_factory=list)
    safe_failed: list[str] = field(default_factory=list)
    safe: int = 0
    leaking: int = 0


def judge(world: World, bases: range, more: range, count: int, seed: int) -> Tally:
    """Generate queries and compare the rule's verdict with what the database shows."""
    generator = Generator(random.Random(seed), world.dialect)
    rule = TenantFilter(
        "tenant_id", OWN, tables=list(GUARDED), dialect=world.dialect, outer_filter=True
    )
    tally = Tally()
    for _ in range(count):
        sql = generator.query()
        passes = rule.run(Trace.simple("q", sql=sql), Case("q")).status == "pass"
        leaks = world.depends(sql, bases)
        if leaks is False and not passes:
            leaks = world.depends(sql, more)
            if leaks is False and world.is_always_empty(sql, range(bases.start, more.stop)):
                continue
        if leaks is None:
            continue
        tally.leaking += leaks
        tally.safe += not leaks
        if leaks and passes:
            tally.leaks_passed.append(sql)
        if not leaks and not passes:
            tally.safe_failed.append(sql)
    return tally


def check(tally: Tally) -> None:
    assert tally.leaks_passed == []
    assert len(tally.safe_failed) <= 0.02 * tally.safe, tally.safe_failed[:10]
    assert tally.leaking >= 0.08 * tally.safe  # the generator still makes both kinds
    assert tally.safe >= tally.leaking


@pytest.fixture
def sqlite_data() -> Iterator[World]:
    """Variants in SQLite."""
    world = sqlite_world(MORE_BASES.stop)
    yield world
    world.close()


def test_no_leak_passes_on_sqlite(sqlite_data: World) -> None:
    """Of 1,500 queries on SQLite no leak passes, and at most 2% of the safe ones fail."""
    check(judge(sqlite_data, FIRST_BASES, MORE_BASES, 1500, 20_261))


def test_no_leak_passes_on_duckdb() -> None:
    """Of 80 queries on DuckDB no leak passes."""
    world = duckdb_world(2)
    tally = judge(world, range(2), range(0), 80, 20_262)
    world.close()
    assert tally.leaks_passed == []
    assert tally.leaking > 5


def test_no_leak_passes_on_postgres(postgres_url: str) -> None:
    """Of 300 queries on PostgreSQL no leak passes."""
    world = postgres_world(2, postgres_url)
    tally = judge(world, range(2), range(0), 300, 20_263)
    world.close()
    assert tally.leaks_passed == []
    assert tally.leaking > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_leak_passes_in_the_long_run(sqlite_data: World, seed: int) -> None:
    """Of 12,000 queries on SQLite no leak passes, and at most 2% of the safe ones fail."""
    check(judge(sqlite_data, FIRST_BASES, MORE_BASES, 1500, 1_000 + seed))


@pytest.mark.slow
def test_no_leak_passes_in_the_long_run_on_duckdb() -> None:
    """Of 3,000 queries on DuckDB no leak passes, and at most 2% of the safe ones fail."""
    world = duckdb_world(12)
    check(judge(world, range(2), range(2, 12), 3_000, 2_000))
    world.close()


@pytest.mark.slow
def test_no_leak_passes_in_the_long_run_on_postgres(postgres_url: str) -> None:
    """Of 5,000 queries on PostgreSQL no leak passes, and at most 2% of the safe ones fail."""
    world = postgres_world(24, postgres_url)
    check(judge(world, FIRST_BASES, range(3, 24), 5_000, 3_000))
    world.close()
