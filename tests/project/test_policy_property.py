"""What the engine allows does not depend on protected data: shown by changing that data."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb
import pytest

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.config import Config, Database
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.policy import Request, decide

_SPEC = importlib.util.spec_from_file_location(
    "generated_queries", Path(__file__).with_name("generated_queries.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
generated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generated)

TYPES = {
    "id": "INTEGER",
    "customer_id": "INTEGER",
    "birth_year": "INTEGER",
    "amount": "INTEGER",
    "order_date": "DATE",
}
SAME = {
    "main.orders": [
        (1, 1, 10, "new", "2024-01-01"),
        (2, 1, 20, "done", "2024-02-01"),
        (3, 2, 30, "done", "2024-03-01"),
        (4, 3, 5, None, "2024-03-09"),
    ]
}
WORLDS = [
    {
        "main.customers": [
            (1, "oslo", "a@x", "able", 1980),
            (2, "bergen", "b@x", "baker", 1990),
            (3, "oslo", "c@x", "carr", 2001),
        ],
        "main.payroll": [(1, 1, 100), (2, 2, 200)],
        "staging.raw": [(1, "p"), (2, "q")],
    },
    {
        "main.customers": [
            (1, "oslo", "zebra@long.example", "oslo", 3),
            (2, "bergen", None, "xaaaaa", 1),
            (3, "oslo", "1", "1", 2),
        ],
        "main.payroll": [(1, 3, 7)],
        "staging.raw": [],
    },
    {
        "main.customers": [
            (1, "oslo", "same", "same", 1),
            (2, "bergen", "same", "same", 1),
            (3, "oslo", "same", None, None),
        ],
        "main.payroll": [(9, 1, 1), (8, 2, 1), (7, 3, 1), (1, 1, 10)],
        "staging.raw": [(1, "oslo"), (2, "a@x"), (3, None)],
    },
]


def _database(world: dict) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE SCHEMA staging")
    for table, columns in generated.TABLES.items():
        declared = ", ".join(f"{name} {TYPES.get(name, 'VARCHAR')}" for name in columns)
        connection.execute(f"CREATE TABLE {table} ({declared})")
        for row in {**SAME, **world}.get(table, []):
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return connection


def _project(mode: str) -> Project:
    tables = {name: name for name in generated.IN_SCOPE}
    columns = {table: frozenset(names) for table, names in generated.PROTECTED.items()}
    return Project(
        root=Path(),
        config=Config(
            file="x",
            databases=(
                Database(name="d", type="duckdb", settings={"path": "memory.duckdb"}, root=Path()),
            ),
        ),
        bundles={"b": Bundle(bundle_id="b", database_id="d", tables=tables)},
        policy=Policy(
            pii_mode=mode,
            pii_columns=columns,
            enforce_joins=False,
            enforce_limit=False,
            allow_functions=frozenset(("hash", "arg_max", "list", "string_agg")),
        ),
    )


CATALOG = Catalog(
    tables={
        table: {name: TYPES.get(name, "VARCHAR").lower() for name in names}
        for table, names in generated.TABLES.items()
    },
    spelling={table: table for table in generated.TABLES},
)


def _answer(connection: duckdb.DuckDBPyConnection, sql: str):
    try:
        return sorted(map(repr, connection.execute(sql).fetchall()))
    except duckdb.Error as error:
        return type(error).__name__


def _run(count: int, seed: int, mode: str, catalog: Catalog | None) -> dict[str, int]:
    """Judge and run `count` queries; fails at the first allowed one whose rows differ."""
    worlds = [_database(world) for world in WORLDS]
    project = _project(mode)
    generator = generated.Generator(seed)
    seen = dict.fromkeys(("total", "allowed", "stopped", "sampled", "leaks"), 0)
    while seen["total"] < count:
        sql = generator.query()
        first = _answer(worlds[0], sql)
        if isinstance(first, str):
            continue  # not a valid query: nothing it could read
        seen["total"] += 1
        decision = decide(Request(sql=sql), project, catalog)
        if decision.outcome == "allow":
            seen["allowed"] += 1
            assert decision.sql is not None
            answers = [first] if decision.sql == sql else []
            answers += [_answer(world, decision.sql) for world in worlds[len(answers) :]]
            assert answers[0] == answers[1] == answers[2], (sql, decision.sql, answers)
            continue
        seen["stopped"] += 1
        if seen["stopped"] % 4 == 0:  # a sample shows that there were leaks to stop
            seen["sampled"] += 1
            seen["leaks"] += any(_answer(world, sql) != first for world in worlds[1:])
    return seen


CONFIGURATIONS = [("block", CATALOG), ("block", None), ("mask", CATALOG)]


@pytest.mark.parametrize(("mode", "catalog"), CONFIGURATIONS, ids=["catalog", "no_catalog", "mask"])
def test_nothing_allowed_depends_on_protected_data(mode: str, catalog: Catalog | None) -> None:
    """With other protected data, an allowed query gives the same rows; leaks were generated."""
    seen = _run(150, 7, mode, catalog)
    assert seen["leaks"] > seen["sampled"] / 3
    assert seen["allowed"] > 25


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "catalog"), CONFIGURATIONS, ids=["catalog", "no_catalog", "mask"])
def test_nothing_allowed_depends_on_protected_data_long(mode: str, catalog: Catalog | None) -> None:
    """The same with 20,000 queries."""
    seen = _run(20_000, 2024, mode, catalog)
    print(mode, catalog is not None, seen)  # noqa: T201 the figures are wanted with -s
    assert seen["leaks"] > seen["sampled"] / 3
    assert seen["allowed"] > 3_000
