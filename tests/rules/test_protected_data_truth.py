"""AllowedTables and ForbiddenColumns against the truth: results before and after data change."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from dbagenteval.cases import Case
from dbagenteval.rules import AllowedTables, ForbiddenColumns, SqlRule
from dbagenteval.traces import Trace
from tests.rules.tenant_generator import Generator
from tests.rules.tenant_world import TABLES, World, variant_rows

Rows = dict[str, list[tuple[object, ...]]]
BASES = range(1, 9)
CHANGES = range(6)


def _world(change: Callable[[Rows, random.Random], None]) -> World:
    """Databases of several bases, each in variants where only the protected data differ."""
    connections: dict[int, sqlite3.Connection] = {}
    for base in BASES:
        for index in CHANGES:
            rows: Rows = {name: list(held) for name, held in variant_rows(base * 8 + 3).items()}
            if index:
                change(rows, random.Random(base * 100 + index))
            connection = sqlite3.connect(":memory:")
            # A query that multiplies tables for long is left out.
            connection.set_progress_handler(_limit(), 1_000)
            for table, held in rows.items():
                connection.execute(f"CREATE TABLE {table} ({TABLES[table]})")
                marks = ", ".join("?" * len(TABLES[table].split(",")))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", held)
            connections[base * 100 + index] = connection
    return World(
        "sqlite",
        lambda sql, number: connections[number].execute(sql).fetchall(),
        lambda: [connection.close() for connection in connections.values()] and None,
    )


def _limit() -> Callable[[], bool]:
    steps = [0]

    def stop() -> bool:
        steps[0] += 1
        return steps[0] % 200 == 0

    return stop


def _changes(world: World, sql: str) -> bool | None:
    """Whether the result depends on the protected data; None if the query doesn't run."""
    for base in BASES:
        first = world.result(sql, base * 100)
        if isinstance(first, str):
            return None
        others = [world.result(sql, base * 100 + index) for index in CHANGES]
        if any(isinstance(other, str) for other in others):
            return None
        if any(other != first for other in others):
            return True
    return False


def _change_items(rows: Rows, rng: random.Random) -> None:
    rows["items"] = [
        (rng.randrange(9), rng.choice([7, 8]), rng.randrange(9), rng.choice([None, 1, 7, 50]))
        for _ in range(rng.randrange(9))
    ]


def _change_names(rows: Rows, rng: random.Random) -> None:
    rows["customers"] = [
        (*row[:2], rng.choice(["ann", "pin", "abe", "zed", None]), row[3])
        for row in rows["customers"]
    ]


@pytest.fixture(params=["tables", "columns"])
def protected(request: pytest.FixtureRequest) -> Iterator[tuple[World, SqlRule, str]]:
    """A world, the rule that guards its protected data, and the word that names them."""
    if request.param == "tables":
        world = _world(_change_items)
        rule: SqlRule = AllowedTables(["customers", "orders", "regions"], dialect="sqlite")
        word = "items"
    else:
        world = _world(_change_names)
        rule = ForbiddenColumns("customers.name", dialect="sqlite")
        word = "customers"
    yield world, rule, word
    world.close()


def _judge(world: World, rule: SqlRule, word: str, count: int, seed: int) -> None:
    generator = Generator(random.Random(seed), "sqlite")
    wrong: list[str] = []
    read = clean = 0
    for _ in range(count):
        sql = generator.query()
        passes = rule.run(Trace.simple("q", sql=sql), Case("q")).status == "pass"
        depends = _changes(world, sql)
        if depends is None:
            continue
        read += depends
        if depends and passes:
            wrong.append(sql)
        if word not in sql:
            clean += 1
            if not passes:
                wrong.append(sql)
    assert wrong == []
    assert read > count * 0.05
    assert clean > count * 0.05


def test_what_passes_does_not_depend_on_protected_data(
    protected: tuple[World, SqlRule, str],
) -> None:
    """What passes gives the same rows whatever the protected data; what can't read them passes."""
    _judge(*protected, 250, 31)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_what_passes_does_not_depend_on_protected_data_in_the_long_run(
    protected: tuple[World, SqlRule, str], seed: int
) -> None:
    """The same with 10,000 queries."""
    _judge(*protected, 2_000, 400 + seed)
