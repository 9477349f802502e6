"""What the engine allows on PostgreSQL does not depend on protected data, as run by PostgreSQL."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path

import psycopg
import pytest

from dbagenteval.project.folder.config import Config, Database
from dbagenteval.project.policy import Request, decide

_SPEC = importlib.util.spec_from_file_location(
    "policy_property", Path(__file__).with_name("test_policy_property.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
duck = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(duck)


@pytest.fixture
def worlds(postgres_server: str):
    """Three databases that differ in protected data alone."""
    import os

    names = [f"world_{os.getpid()}_{number}" for number in range(len(duck.WORLDS))]
    connections = []
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        for name, world in zip(names, duck.WORLDS, strict=True):
            admin.execute(f"CREATE DATABASE {name}")
            opened = psycopg.connect(
                postgres_server.rsplit("/", 1)[0] + f"/{name}", autocommit=True
            )
            opened.execute("CREATE SCHEMA main; CREATE SCHEMA staging; SET search_path = main")
            for table, columns in duck.generated.TABLES.items():
                declared = ", ".join(
                    f"{column} {duck.TYPES.get(column, 'VARCHAR')}" for column in columns
                )
                opened.execute(f"CREATE TABLE {table} ({declared})")
                for row in {**duck.SAME, **world}.get(table, []):
                    opened.execute(
                        f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row
                    )
            connections.append(opened)
        yield connections
        for opened in connections:
            opened.close()
        for name in names:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _answer(connection, sql: str):
    try:
        return sorted(map(repr, connection.execute(sql).fetchall()))
    except psycopg.Error as error:
        return type(error).__name__


def _run(worlds, count: int, seed: int, mode: str, *, with_catalog: bool) -> dict[str, int]:
    database = Database(name="d", type="postgres", settings={"schema_name": "main"}, root=Path())
    project = dataclasses.replace(
        duck._project(mode), config=Config(file="x", databases=(database,))
    )
    generator = duck.generated.Generator(seed)
    seen = dict.fromkeys(("total", "allowed", "stopped", "leaks"), 0)
    while seen["total"] < count:
        sql = generator.query()
        first = _answer(worlds[0], sql)
        if isinstance(first, str):
            continue
        seen["total"] += 1
        decision = decide(Request(sql=sql), project, duck.CATALOG if with_catalog else None)
        if decision.outcome != "allow":
            seen["stopped"] += 1
            seen["leaks"] += any(_answer(world, sql) != first for world in worlds[1:])
            continue
        seen["allowed"] += 1
        answers = [_answer(world, decision.sql) for world in worlds]
        assert answers[0] == answers[1] == answers[2], (sql, decision.sql, answers)
    return seen


@pytest.mark.parametrize(
    ("mode", "with_catalog"), [("block", True), ("block", False), ("mask", True)]
)
def test_nothing_allowed_depends_on_protected_data(worlds, mode: str, with_catalog: bool) -> None:
    """PostgreSQL gives the same rows for an allowed query in all three databases."""
    seen = _run(worlds, 150, 3, mode, with_catalog=with_catalog)
    assert seen["allowed"] > 15
    assert seen["leaks"] > seen["stopped"] / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "with_catalog"), [("block", True), ("block", False), ("mask", True)]
)
def test_nothing_allowed_depends_on_protected_data_long(
    worlds, mode: str, with_catalog: bool
) -> None:
    """The same with 5,000 queries."""
    seen = _run(worlds, 5_000, 31, mode, with_catalog=with_catalog)
    print(mode, with_catalog, seen)  # noqa: T201 the figures are wanted with -s
    assert seen["leaks"] > seen["stopped"] / 3
