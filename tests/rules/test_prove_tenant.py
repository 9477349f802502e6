"""The dynamic proof: the result must stay the same when other tenants' rows change."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.cases import Case
from dbagenteval.errors import TargetError
from dbagenteval.rules.prove_tenant import ProveTenant, prove_tenant
from dbagenteval.traces import Trace

SCHEMA = [
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, store_id TEXT NOT NULL, amount INTEGER, status TEXT)",
    "CREATE TABLE regions (id INTEGER PRIMARY KEY, name TEXT)",
    "CREATE VIEW open_orders AS SELECT * FROM orders WHERE status = 'open'",
    "INSERT INTO orders VALUES (1, 's1', 10, 'open'), (2, 's1', 20, 'paid'), (3, 's2', 70, 'open')",
    "INSERT INTO regions VALUES (1, 'north')",
]
SAFE = [
    "SELECT sum(amount) AS s FROM orders WHERE store_id = 's1'",
    "SELECT name FROM regions",
    "SELECT id FROM open_orders WHERE store_id = 's1'",
    "SELECT o.id FROM orders o JOIN orders p ON p.store_id = o.store_id WHERE o.store_id = 's1'",
]
LEAKS = [
    "SELECT sum(amount) AS s FROM orders",
    "SELECT id FROM open_orders",
    "SELECT id FROM orders WHERE store_id = 's1' AND amount > (SELECT avg(amount) FROM orders)",
    "SELECT id FROM (SELECT id, store_id FROM orders ORDER BY amount DESC LIMIT 1) q WHERE store_id = 's1'",
]


@pytest.fixture(params=["sqlite", "duckdb"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database file with two stores."""
    path = tmp_path / f"shop.{request.param}"
    connection: Any
    if request.param == "sqlite":
        connection = sqlite3.connect(path)
    else:
        import duckdb

        connection = duckdb.connect(str(path))
    for statement in SCHEMA:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("sql", SAFE)
def test_safe_queries_hold(shop: Path, sql: str) -> None:
    """A query that reads one store only gives the same result each time."""
    proof = prove_tenant(sql, shop, "store_id", "s1")
    assert (proof.holds, proof.leaked_rows) == (True, [])
    assert proof.tables == ("orders",)


@pytest.mark.parametrize("sql", LEAKS)
def test_leaks_are_found_and_shown(shop: Path, sql: str) -> None:
    """A query that others' rows can change is found, and the rows that show it are given."""
    proof = prove_tenant(sql, shop, "store_id", "s1")
    assert proof.holds is False
    assert proof.leaked_rows or proof.missing_rows
    assert "differs" in proof.detail


def test_leaked_rows_are_the_others(shop: Path) -> None:
    """The leaked rows are those of the other store."""
    proof = prove_tenant("SELECT id, store_id FROM orders", shop, "store_id", "s1")
    assert proof.leaked_rows == [(3, "s2")]


def test_names_with_a_schema_read_the_copy(shop: Path) -> None:
    """`main.orders` is the copy too, so that a leak through it is seen."""
    proof = prove_tenant("SELECT count(*) AS n FROM main.orders", shop, "store_id", "s1")
    assert proof.holds is False


def test_the_database_stays_as_it_was(shop: Path) -> None:
    """Nothing is written to the database file."""
    before = shop.read_bytes()
    prove_tenant(LEAKS[0], shop, "store_id", "s1")
    assert shop.read_bytes() == before


@pytest.mark.parametrize(
    "sql", ["DELETE FROM orders", "SELECT 1; SELECT 2", "SELECT nothing_known()"]
)
def test_what_is_no_plain_read_is_not_run(shop: Path, sql: str) -> None:
    """SQL that ReadOnly refuses is not run, and the proof says so."""
    proof = prove_tenant(sql, shop, "store_id", "s1")
    assert proof.holds is None
    assert proof.detail.startswith("not run: ")


def test_sql_that_fails_is_no_proof(shop: Path) -> None:
    """A query that fails proves nothing."""
    proof = prove_tenant("SELECT no_such_column FROM orders", shop, "store_id", "s1")
    assert proof.holds is None
    assert "failed to run" in proof.detail


def test_databases_that_cant_be_opened_are_named(tmp_path: Path) -> None:
    """A missing file, an unknown scheme and a database without the column are user errors."""
    with pytest.raises(TargetError, match="no such database file"):
        prove_tenant("SELECT 1", tmp_path / "none.db", "store_id", "s1")
    with pytest.raises(TargetError, match="SQLite, DuckDB and PostgreSQL only"):
        prove_tenant("SELECT 1", "mysql://u:secret@h/d", "store_id", "s1")
    path = tmp_path / "empty.db"
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(TargetError, match="store_id"):
        prove_tenant("SELECT 1", path, "store_id", "s1")


def test_the_rule_passes_fails_and_skips(shop: Path) -> None:
    """As a rule: a leak fails, a safe query passes and says on what it rests, others skip."""
    rule = ProveTenant("store_id", "s1", shop)
    results = [
        rule.run(Trace.simple("q", sql=sql), Case("q"))
        for sql in (LEAKS[0], SAFE[0], "DELETE FROM orders")
    ]
    assert [result.status for result in results] == ["fail", "pass", "fail"]
    assert "6 runs" in results[1].detail


def test_postgres_is_proved_in_temporary_tables(postgres_url: str) -> None:
    """On PostgreSQL the copy is temporary and the tables stay as they were."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
    assert all(prove_tenant(sql, postgres_url, "store_id", "s1").holds for sql in SAFE)
    assert all(prove_tenant(sql, postgres_url, "store_id", "s1").holds is False for sql in LEAKS)
    proof = prove_tenant("SELECT count(*) AS n FROM public.orders", postgres_url, "store_id", "s1")
    assert proof.holds is False
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchall() == [(3,)]
