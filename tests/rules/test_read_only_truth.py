"""ReadOnly against the truth: the database's state before and after generated statements."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.cases import Case
from dbagenteval.rules import ReadOnly
from dbagenteval.traces import Trace

HARMLESS = {
    "any": [
        "abs(id)",
        "upper(name)",
        "coalesce(id, 0)",
        "'DELETE FROM t'",
        "CASE WHEN id = 1 THEN 2 END",
    ],
    "postgres": [
        "to_char(now(), 'YYYY')",
        "pg_typeof(id)::text",
        "random()",
        "current_setting('server_version')",
    ],
    "sqlite": [
        "strftime('%Y', 'now')",
        "json_extract('{\"a\": 1}', '$.a')",
        "random()",
        "hex(name)",
    ],
    "duckdb": [
        "strftime(now(), '%Y')",
        "list_sum([1, 2])",
        "random()",
        "regexp_extract(name, 'a')",
    ],
}
CHANGING = {
    "postgres": [
        "nextval('ticket')", "setval('ticket', 5)", "lo_create(0)", "set_config('a.b', 'x' || id, false)",
        "pg_advisory_lock(id)", "pg_try_advisory_lock(7)", "lo_from_bytea(0, '\\x00')", "touch(id)",
        "query_to_xml('SELECT touch(1)', true, false, '')", "pg_catalog.nextval('ticket')",
        "\"nextval\"('ticket')", "public.touch(id)",
    ],
    "sqlite": ["touch(id)"],
    "duckdb": ["nextval('ticket')", "\"nextval\"('ticket')", "main.nextval('ticket')"],
}  # fmt: skip
WRITES = [
    "DELETE FROM t WHERE id = {n}",
    "UPDATE t SET name = 'x{n}'",
    "INSERT INTO t VALUES ({n}, 'n')",
    "CREATE TABLE made{n} (a INTEGER)",
    "DROP TABLE IF EXISTS made{n}",
    "WITH x AS (SELECT {n} AS id) INSERT INTO t SELECT id, 'w' FROM x",
    "SELECT 1; DELETE FROM t",
    "/* SELECT */ DELETE FROM t",
]
POSTGRES_WRITES = [
    "WITH gone AS (DELETE FROM t RETURNING id) SELECT count(*) FROM gone",
    "WITH a AS (UPDATE t SET name = name || 'x' RETURNING id) SELECT * FROM a",
    "SELECT id INTO made{n} FROM t",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "SELECT 'x\\' AS a; DELETE FROM t; --'",
    "SET application_name = 'a{n}'",
]


def _statement(rng: random.Random, dialect: str) -> tuple[str, bool]:
    """Give a statement, and whether it is made of harmless parts only."""
    if rng.random() < 0.2:
        writes = WRITES + (POSTGRES_WRITES if dialect == "postgres" else [])
        return rng.choice(writes).format(n=rng.randrange(1000)), False
    is_harmless = rng.random() < 0.5
    part = rng.choice(HARMLESS["any"] + HARMLESS[dialect] if is_harmless else CHANGING[dialect])
    forms = [
        "SELECT {p} AS a FROM t",
        "SELECT id FROM t WHERE {p} IS NOT NULL",
        "SELECT id FROM t ORDER BY {p}",
        "WITH w AS (SELECT {p} AS a FROM t) SELECT a FROM w",
        "SELECT (SELECT max(id) FROM t WHERE {p} IS NOT NULL) AS m FROM t",
        "SELECT CASE WHEN id > 0 THEN {p} END AS a FROM t",
        "SELECT id FROM t UNION ALL SELECT id FROM t WHERE {p} IS NOT NULL",
        "SELECT id FROM t GROUP BY id HAVING count({p}) > 0",
        "/* {p} */ SELECT id FROM t WHERE {p} IS NOT NULL -- {p}",
    ]
    form = rng.choice(forms)
    if "{p}" not in form.replace("/* {p} */", "").replace("-- {p}", "") or "GROUP BY" in form:
        form = forms[0]
    return form.replace("{p}", part), is_harmless


def _judge(
    dialect: str,
    execute: Callable[[str], Any],
    state: Callable[[], object],
    reset: Callable[[], None],
    count: int,
) -> None:
    rng = random.Random(count)
    rule = ReadOnly(dialect=dialect)
    changed = harmless = 0
    for _ in range(count):
        sql, is_harmless = _statement(rng, dialect)
        passes = rule.run(Trace.simple("q", sql=sql), Case("q")).status == "pass"
        before = state()
        with contextlib.suppress(Exception):
            execute(sql)
        if state() != before:
            changed += 1
            assert not passes, sql
            reset()
        if is_harmless:
            harmless += 1
            assert passes, (sql, rule.run(Trace.simple("q", sql=sql), Case("q")).detail)
    assert changed > count * 0.05
    assert harmless > count * 0.1


@pytest.fixture
def sqlite_state(tmp_path: Path) -> Iterator[tuple[Any, ...]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    marks: list[int] = []
    connection.create_function("touch", 1, lambda number: marks.append(number) or number)

    def reset() -> None:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            connection.execute(f"DROP TABLE {name}")
        connection.execute("CREATE TABLE t (id INTEGER, name TEXT)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")

    reset()

    def state() -> object:
        return len(marks), list(connection.iterdump())

    yield connection.executescript, connection.execute, state, reset
    connection.close()


def test_sqlite_state_stays_after_what_passes(sqlite_state: tuple[Any, ...]) -> None:
    """On SQLite nothing that passes changes data or calls a user's function; reads pass."""
    script, execute, state, reset = sqlite_state

    def run(sql: str) -> None:
        script(sql) if ";" in sql else execute(sql).fetchall()

    _judge("sqlite", run, state, reset, 600)


def test_duckdb_state_stays_after_what_passes() -> None:
    """On DuckDB nothing that passes changes data or sequences; reads pass."""
    import duckdb

    connection = duckdb.connect(":memory:")

    def reset() -> None:
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            connection.execute(f"DROP TABLE {name}")
        connection.execute("CREATE OR REPLACE SEQUENCE ticket")
        connection.execute("CREATE TABLE t (id INTEGER, name TEXT)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")

    def state() -> object:
        tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        last = connection.execute("SELECT last_value FROM duckdb_sequences()").fetchall()
        rows = [connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables]
        return tables, rows, last

    reset()
    _judge("duckdb", lambda sql: connection.execute(sql).fetchall(), state, reset, 300)
    connection.close()


def test_postgres_state_stays_after_what_passes(postgres_url: str) -> None:
    """On PostgreSQL nothing that passes changes data, sequences, locks, settings or objects."""
    import psycopg

    connection = psycopg.connect(postgres_url, autocommit=True)

    def reset() -> None:
        connection.execute("SELECT pg_advisory_unlock_all()")
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute(
            "CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'a'), (2, 'b')"
        )
        connection.execute("CREATE SEQUENCE ticket")
        connection.execute(
            "CREATE FUNCTION touch(i int) RETURNS int LANGUAGE sql AS "
            "'UPDATE t SET name = name || ''t'' WHERE id = i RETURNING id'"
        )

    def state() -> object:
        queries = [
            "SELECT * FROM t ORDER BY id, name",
            "SELECT last_value, is_called FROM ticket",
            "SELECT count(*) FROM pg_largeobject_metadata",
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
            "SELECT current_setting('a.b', true), current_setting('application_name')",
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
        ]
        found: list[object] = []
        for query in queries:
            try:
                found.append(connection.execute(query).fetchall())
            except psycopg.Error as error:
                found.append(type(error).__name__)
        return found

    reset()
    _judge("postgres", connection.execute, state, reset, 300)
    connection.close()
