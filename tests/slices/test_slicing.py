"""The slice of a shop's data that still shows what went wrong."""

from __future__ import annotations

import re
import sqlite3

import duckdb
import pytest

from dbagenteval.cases import Case
from dbagenteval.errors import SliceError
from dbagenteval.slices import (
    SameFailure,
    leaks_tenant,
    parts,
    result_shown,
    rows_differ,
    slice_data,
    sql_fails,
)
from dbagenteval.slices.sandbox import Sandbox
from dbagenteval.slices.schema import Schema
from tests.slices import shop

QUESTIONS = {
    "missing tenant filter": (
        "SELECT COUNT(*) AS n FROM customers",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 1",
    ),
    "fan-out": (
        "SELECT ROUND(SUM(o.total), 2) FROM orders o JOIN order_items i ON i.order_id = o.order_id "
        "WHERE o.tenant_id = 1 AND o.status = 'delivered'",
        "SELECT ROUND(SUM(total), 2) FROM orders WHERE tenant_id = 1 AND status = 'delivered'",
    ),
    "wrong aggregate": (
        "SELECT s.name, ROUND(MAX(o.total), 2) FROM orders o JOIN stores s ON "
        "s.store_id = o.store_id WHERE o.tenant_id = 1 GROUP BY s.name",
        "SELECT s.name, ROUND(AVG(o.total), 2) FROM orders o JOIN stores s ON "
        "s.store_id = o.store_id WHERE o.tenant_id = 1 GROUP BY s.name",
    ),
    "wrong literal": (
        "SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = 'delivered'",
        "SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = 'pending'",
    ),
    "named person": (
        "SELECT o.order_id FROM orders o JOIN customers c ON c.customer_id = o.customer_id "
        "WHERE c.full_name = 'Anna Schmidt'",
        "SELECT o.order_id FROM orders o JOIN customers c ON c.customer_id = o.customer_id "
        "WHERE c.full_name = 'Anna Schmidt' AND o.status = 'pending'",
    ),
    "inner join drops rows": (
        "SELECT c.customer_id, COUNT(*) FROM customers c JOIN orders o "
        "ON o.customer_id = c.customer_id AND o.status = 'pending' GROUP BY c.customer_id",
        "SELECT c.customer_id, COUNT(o.order_id) FROM customers c LEFT JOIN orders o "
        "ON o.customer_id = c.customer_id AND o.status = 'pending' GROUP BY c.customer_id",
    ),
}


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def shop_url(request, tmp_path):
    """The shop in each kind of database."""
    if request.param == "sqlite":
        return shop.make_sqlite(tmp_path / "shop.db")
    if request.param == "duckdb":
        return shop.make_duckdb(tmp_path / "shop.duckdb")
    return shop.make_postgres(request.getfixturevalue("postgres_url"))


@pytest.fixture
def sqlite_shop(tmp_path):
    """The shop in SQLite."""
    return shop.make_sqlite(tmp_path / "shop.db")


def failing(agent, reference):
    """Give what recognises that the agent's rows differ from the reference's."""
    return rows_differ(agent, Case("?", reference_sql=reference))


def loaded(slice_):
    """Load a slice's script as a user of the Python driver would."""
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA foreign_keys = ON")
    database.executescript(slice_.script)
    return database


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_small_slice_shows_each_failure_on_each_database(shop_url, name):
    """At most 20 rows are left, and the given statements still differ on them."""
    agent, reference = QUESTIONS[name]
    found = slice_data(shop_url, [agent, reference], SameFailure(failing(agent, reference)))
    assert 1 <= found.row_count <= 20
    dialect = re.match(r"-- dialect: (\w+)\n", found.script)[1]
    assert shop_url.startswith(dialect)
    with duckdb.connect() as database:
        database.execute(found.script)
        rows = [database.execute(sql).fetchall() for sql in found.statements]
    assert sorted(map(str, rows[0])) != sorted(map(str, rows[1]))


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_further_row_can_be_removed(sqlite_shop, name):
    """Without any one row, and the rows that refer to it, the failure is another or gone."""
    agent, reference = QUESTIONS[name]
    failure = failing(agent, reference)
    found = slice_data(sqlite_shop, [agent, reference], SameFailure(failure), keep_values=True)
    whole = Sandbox(shop.statements(), dialect="sqlite")
    shown = failure(whole.run)
    assert failure(lambda sql: rows_of(loaded(found), sql)) == shown
    for table, rows in found.rows.items():
        for row in rows:
            database = loaded(found)
            remove(database, table, row)
            assert failure(lambda sql, on=database: rows_of(on, sql)) != shown


def rows_of(database, sql):
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def remove(database, table, row):
    """Delete a row by its key, and whatever refers to it."""
    key = database.execute(f"SELECT name FROM pragma_table_info('{table}') WHERE pk").fetchone()[0]
    children = [
        (name, *found[3:4])
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for found in database.execute(f"PRAGMA foreign_key_list({name})")
        if found[2] == table
    ]
    for child, column in children:
        for one in database.execute(
            f"SELECT * FROM {child} WHERE {column} = ?", (row[0],)
        ).fetchall():
            remove(database, child, one)
    database.execute(f"DELETE FROM {table} WHERE {key} = ?", (row[0],))


def test_parents_come_along(sqlite_shop):
    """Foreign keys hold in the slice, also to tables that no statement reads."""
    agent, reference = QUESTIONS["fan-out"]
    found = slice_data(sqlite_shop, [agent, reference], SameFailure(failing(agent, reference)))
    assert set(found.tables) == {"stores", "customers", "products", "orders", "order_items"}
    assert loaded(found).execute("PRAGMA foreign_key_check").fetchall() == []
    assert len(found.rows["orders"]) == 1
    assert len(found.rows["order_items"]) == 2


def test_the_failure_stays_the_same_one(sqlite_shop):
    """A sum that was too large is not shrunk to a sum of nothing."""
    agent, reference = QUESTIONS["fan-out"]
    found = slice_data(sqlite_shop, [agent, reference], SameFailure(failing(agent, reference)))
    database = loaded(found)
    wrong, right = (database.execute(sql).fetchone()[0] for sql in found.statements)
    assert wrong == pytest.approx(2 * right)


def test_the_script_is_the_same_each_time(shop_url):
    """Byte for byte, from the same data."""
    agent, reference = QUESTIONS["wrong aggregate"]
    scripts = {
        slice_data(shop_url, [agent, reference], SameFailure(failing(agent, reference))).script
        for _ in range(2)
    }
    assert len(scripts) == 1


def test_the_script_loads_everywhere(shop_url, postgres_url):
    """SQLite, DuckDB and PostgreSQL hold the same rows after it."""
    import psycopg

    agent, reference = QUESTIONS["fan-out"]
    found = slice_data(shop_url, [agent, reference], SameFailure(failing(agent, reference)))
    counts = {table: len(rows) for table, rows in found.rows.items()}
    query = " UNION ALL ".join(f"SELECT '{t}' AS t, COUNT(*) AS n FROM {t}" for t in counts)
    with duckdb.connect() as database:
        database.execute(found.script)
        assert dict(database.execute(query).fetchall()) == counts
    assert dict(loaded(found).execute(query).fetchall()) == counts
    with psycopg.connect(postgres_url) as database:
        database.execute("CREATE SCHEMA elsewhere")
        database.execute("SET search_path = elsewhere")
        database.execute(found.script)
        assert dict(database.execute(query).fetchall()) == counts


def test_sql_that_fails_keeps_the_tables_without_rows(shop_url):
    """An error does not depend on rows; the tables that are there stay."""
    agent = "SELECT COUNT(*) FROM shipments WHERE late = 1"
    found = slice_data(shop_url, [agent], SameFailure(sql_fails(agent)))
    assert found.row_count == 0
    assert "orders" in found.tables


def test_an_error_that_depends_on_rows_keeps_them(tmp_path):
    """A conversion that fails on one row is shown by that row."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, amount TEXT)")
        database.execute("INSERT INTO t SELECT range, range::TEXT FROM range(300)")
        database.execute("UPDATE t SET amount = 'n/a' WHERE id = 217")
    agent = "SELECT SUM(CAST(amount AS INTEGER)) FROM t"
    url = f"duckdb:///{tmp_path}/d.duckdb"
    found = slice_data(url, [agent], SameFailure(sql_fails(agent)), keep_values=True)
    assert found.rows["t"] == [(217, "n/a")]


def test_rows_of_another_tenant_are_a_failure_without_reference(sqlite_shop):
    """What a tenant's own rows alone would give is what the result is compared with."""
    from dbagenteval.executors import read_only_engine
    from dbagenteval.slices.reflection import read_schema

    schema = read_schema(read_only_engine(sqlite_shop))
    agent = "SELECT SUM(total) FROM orders"
    leak = leaks_tenant(agent, "tenant_id", 2, schema, "sqlite")
    found = slice_data(sqlite_shop, [agent], SameFailure(leak))
    assert {row[1] for row in found.rows["orders"]} == {1, 2}
    assert len(found.rows["orders"]) == 2
    filtered = f"{agent} WHERE tenant_id = 2"
    kept = leaks_tenant(filtered, "tenant_id", 2, schema, "sqlite")
    with pytest.raises(SliceError, match="does not show"):
        slice_data(sqlite_shop, [filtered], SameFailure(kept))


def test_right_rows_behind_a_wrong_answer_stay(sqlite_shop):
    """The slice gives the same result as all data does."""
    agent = "SELECT COUNT(*) FROM products WHERE tenant_id = 1 AND category = 'Camping'"
    shown = SameFailure(result_shown([agent], exactly=True))
    found = slice_data(sqlite_shop, [agent], shown)
    database = loaded(found)
    whole = Sandbox(shop.statements(), dialect="sqlite").run(agent)
    assert database.execute(agent).fetchone() == tuple(whole[0].values())
    assert {row[3] for row in found.rows["products"]} == {"Camping"}


def test_too_many_rows_are_refused(sqlite_shop):
    """What can't be shown with few rows is said, and how many it takes."""
    agent = "SELECT COUNT(*) FROM orders WHERE tenant_id = 1"
    shown = SameFailure(result_shown([agent], exactly=True))
    with pytest.raises(SliceError, match=r"takes \d+ rows to show, more than 20"):
        slice_data(sqlite_shop, [agent], shown)


LARGE = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, tenant INTEGER, kind TEXT);
    CREATE TABLE u (id INTEGER PRIMARY KEY, t_id INTEGER REFERENCES t(id), amount INTEGER);
    CREATE TABLE w (id INTEGER PRIMARY KEY, u_id INTEGER REFERENCES u(id));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
    INSERT INTO t SELECT i, i % 100, CASE WHEN i = 29999 THEN 'rare' ELSE 'plain' END FROM n;
    INSERT INTO u SELECT id, id, id % 7 FROM t;
    INSERT INTO u SELECT id + 100000, id, id % 5 FROM t WHERE id > 29000;
    INSERT INTO w SELECT id, id FROM u;
    INSERT INTO w SELECT id + 500000, id FROM u;
"""


@pytest.fixture
def large(tmp_path):
    """Tables of some ten thousand rows."""
    database = sqlite3.connect(tmp_path / "large.db")
    database.executescript(LARGE)
    database.close()
    return f"sqlite:///{tmp_path}/large.db"


def test_large_tables_are_read_in_part(large):
    """Rows come by conditions and keys, with their parents, and that is said."""
    agent = "SELECT SUM(u.amount) FROM u JOIN t ON t.id = u.t_id WHERE t.kind = 'rare'"
    reference = agent.replace("SUM", "MAX")
    found = slice_data(large, [agent, reference], SameFailure(failing(agent, reference)))
    assert found.rows == {"t": [(29999, 99, "rare")], "u": [(29999, 29999, 4), (129999, 29999, 4)]}
    assert found.notes == tuple(
        f"{name} is large: its rows were read by conditions and keys" for name in ("t", "u")
    )


@pytest.mark.parametrize("condition", ["", "WHERE u.amount > 2 AND 1 = 1"])
def test_a_join_of_large_tables_fans_out_in_the_part_as_in_the_whole(large, condition):
    """All rows that belong to those read are read: a sum that is too large stays too large."""
    agent = f"SELECT SUM(u.amount) FROM u JOIN w ON w.u_id = u.id {condition}"
    reference = f"SELECT SUM(u.amount) FROM u {condition}"
    found = slice_data(large, [agent, reference], SameFailure(failing(agent, reference)))
    assert {name: len(rows) for name, rows in found.rows.items()} == {"t": 1, "u": 1, "w": 2}


def test_a_row_at_the_end_of_three_large_tables_is_found(large):
    """By the one condition that few rows meet."""
    agent = (
        "SELECT COUNT(*) FROM w JOIN u ON u.id = w.u_id JOIN t ON t.id = u.t_id "
        "WHERE t.kind = 'rare' AND u.amount > 0"
    )
    reference = agent.replace("COUNT(*)", "COUNT(DISTINCT u.id)")
    found = slice_data(large, [agent, reference], SameFailure(failing(agent, reference)))
    assert found.rows["t"] == [(29999, 99, "rare")]
    assert len(found.rows["w"]) == 2


def test_rows_that_may_not_be_read_are_told(postgres_url):
    """A table that the user of the URL has no right to."""
    import psycopg

    shop.make_postgres(postgres_url)
    with psycopg.connect(postgres_url) as database:
        database.execute("DROP ROLE IF EXISTS slice_reader")
        database.execute("CREATE ROLE slice_reader LOGIN")
    agent, reference = QUESTIONS["missing tenant filter"]
    url = postgres_url.replace("postgres@", "slice_reader@")
    with pytest.raises(SliceError, match="the rows can't be read: permission denied for table"):
        slice_data(url, [agent, reference], SameFailure(failing(agent, reference)))


def test_rows_in_the_wrong_order_are_a_failure_where_order_counts(sqlite_shop):
    """As the evaluator has it: two rows show it."""
    reference = "SELECT order_id FROM orders WHERE tenant_id = 1 ORDER BY total, order_id"
    agent = reference.replace("total", "total DESC")
    case = Case("?", reference_sql=reference, ordered="auto")
    found = slice_data(sqlite_shop, [agent, reference], SameFailure(rows_differ(agent, case)))
    assert len(found.rows["orders"]) == 2
    unordered = Case("?", reference_sql=reference)
    with pytest.raises(SliceError, match="does not show"):
        slice_data(sqlite_shop, [agent, reference], SameFailure(rows_differ(agent, unordered)))


def test_rows_that_no_copy_takes_are_told(tmp_path):
    """A key to a column that is not unique, which SQLite lets stand while it checks no keys."""
    with sqlite3.connect(tmp_path / "loose.db") as database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
        database.execute("INSERT INTO t VALUES (1, 7), (2, 7)")
        database.execute("CREATE TABLE c (n INTEGER REFERENCES t (n))")
        database.execute("INSERT INTO c VALUES (7)")
    database.close()
    agent, reference = "SELECT COUNT(*) FROM c", "SELECT 5 + COUNT(*) FROM c"
    with pytest.raises(SliceError, match="the rows can't be copied: UNIQUE constraint failed"):
        slice_data(
            f"sqlite:///{tmp_path}/loose.db",
            [agent, reference],
            SameFailure(failing(agent, reference)),
        )


def test_without_reference_no_rows_differ(sqlite_shop):
    """There is nothing to differ from."""
    agent = "SELECT COUNT(*) FROM customers"
    with pytest.raises(SliceError, match="does not show"):
        slice_data(sqlite_shop, [agent], SameFailure(rows_differ(agent, Case("?"))))


def test_a_copy_that_fails_without_a_word(monkeypatch):
    """An error without a message is told by its type."""

    def refuse(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr(parts, "Sandbox", refuse)
    with pytest.raises(SliceError, match=r"the rows can't be copied: MemoryError"):
        parts.Slicer(Schema(), "sqlite", lambda _execute: True).shrink({})
