"""Tables of any kind as a script that three databases load alike."""

from __future__ import annotations

import datetime as dt
import sqlite3
import uuid
from decimal import Decimal

import duckdb
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbagenteval.executors import read_only_engine
from dbagenteval.slices.reading import read_sample
from dbagenteval.slices.reflection import read_schema
from dbagenteval.slices.schema import Column, ForeignKey, Schema, Table
from dbagenteval.slices.script import render_script, statements_of

TEXTS = [
    "it's",
    'a "b"',
    "a;b -- c",
    "/* x */",
    "line\nbreak\r\n",
    "back\\slash",
    "%s :x ?",
    "🛒 Zoë 田",
    "",
]


def one_table(kind, *cells):
    """Give a schema of one table with one column, and its rows."""
    columns = (Column(name="id", kind="integer"), Column(name="value", kind=kind))
    table = Table(name="t", columns=columns, primary_key=("id",))
    return Schema((table,)), {"t": [(number, cell) for number, cell in enumerate(cells)]}


def loaded_everywhere(script, query, postgres_url):
    """Run a query on the script's data in SQLite, DuckDB and PostgreSQL."""
    found = {}
    lite = sqlite3.connect(":memory:")
    lite.execute("PRAGMA foreign_keys = ON")
    lite.executescript(script)
    found["sqlite"] = lite.execute(query).fetchall()
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        duck.execute(script)
        found["duckdb"] = duck.execute(query).fetchall()
    with psycopg.connect(postgres_url) as postgres:
        postgres.execute("SET TimeZone = 'UTC'")
        postgres.execute(script)
        found["postgres"] = postgres.execute(query).fetchall()
        postgres.rollback()
    return found


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("text", TEXTS),
        ("text", ["1", "2.5", None]),
        ("integer", [0, -1, 2**31 - 1]),
        ("integer", [2**31, -(2**63)]),
        ("number", [Decimal("1.10"), Decimal("-0.005"), None]),
        ("number", [Decimal("12345678901234567890.123456")]),
        ("float", [0.1, -2.5e-7, 1e300]),
        ("boolean", [True, False, None]),
        ("date", [dt.date(2024, 2, 29), None]),
        ("timestamp", [dt.datetime(2024, 2, 29, 23, 59, 59, 123456)]),
        ("timestamptz", [dt.datetime(2024, 2, 29, 12, 0, tzinfo=dt.timezone.utc)]),
        ("time", [dt.time(23, 59, 1)]),
        ("uuid", [uuid.UUID(int=7)]),
        ("json", ['{"a": ["x\'y", 1]}', "[]", None]),
    ],
)
def test_cells_come_back_from_each_database(kind, cells, postgres_url):
    """Equal as text but for the ways in which databases write moments and numbers."""
    script = render_script(*one_table(kind, *cells), dialect="postgres")
    found = loaded_everywhere(script, "SELECT value FROM t ORDER BY id", postgres_url)
    for rows in found.values():
        for expected, (got,) in zip(cells, rows, strict=True):
            assert same(expected, got)


def same(expected, got):
    """Compare what a driver may give in another type."""
    if expected is None or got is None:
        return got is expected
    if isinstance(expected, (bool, int, float, Decimal)):
        return float(got) == pytest.approx(float(expected), rel=1e-15, abs=0)
    if isinstance(expected, dt.datetime):
        moment = got if isinstance(got, dt.datetime) else dt.datetime.fromisoformat(got)
        return moment.isoformat()[:26] == expected.isoformat()[:26]
    if not isinstance(got, (str, dt.date, dt.time, uuid.UUID)):
        import json

        return got == json.loads(expected)
    return str(got) == str(expected)


@pytest.mark.parametrize(
    ("kind", "cells", "type_"),
    [
        ("integer", [1, "n/a"], "TEXT"),
        ("integer", [1, 2.5], "DOUBLE PRECISION"),
        ("boolean", [0, 1, 2], "INTEGER"),
        ("date", ["2024-01-01", "2024-01-01 10:30:00"], "TIMESTAMP"),
        ("date", ["2024-01-01", "soon"], "TEXT"),
        ("date", [20240101], "INTEGER"),
        ("number", [0.1, 2], "NUMERIC(18, 2)"),
        ("number", ["a"], "TEXT"),
        ("float", [], "DOUBLE PRECISION"),
        ("timestamptz", ["noon"], "TEXT"),
        ("uuid", ["7"], "TEXT"),
        ("json", ["{"], "TEXT"),
        ("time", ["25 past"], "TEXT"),
    ],
)
def test_a_type_that_does_not_hold_its_cells_gives_way(kind, cells, type_, postgres_url):
    """SQLite lets a column hold what its type does not say."""
    script = render_script(*one_table(kind, *cells), dialect="sqlite")
    assert f'"value" {type_}' in script
    loaded_everywhere(script, "SELECT value FROM t", postgres_url)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_any_text_survives(texts):
    """In SQLite and DuckDB, but for the character that PostgreSQL's texts can't hold."""
    texts = [text.encode("utf-8", "ignore").decode().replace("\0", "") for text in texts]
    script = render_script(*one_table("text", *texts), dialect="sqlite")
    lite = sqlite3.connect(":memory:")
    lite.executescript(script)
    assert [row[0] for row in lite.execute("SELECT value FROM t ORDER BY id")] == texts
    with duckdb.connect() as duck:
        duck.execute(script)
        assert [
            row[0] for row in duck.execute("SELECT value FROM t ORDER BY id").fetchall()
        ] == texts


def test_names_are_kept_whatever_they_are(postgres_url):
    """Keywords, capitals, blanks and quotes."""
    columns = (Column(name="select", kind="integer"), Column(name='Full "Name"', kind="text"))
    table = Table(name="Order", columns=columns, primary_key=("select",))
    script = render_script(Schema((table,)), {"Order": [(1, "x")]}, dialect="sqlite")
    query = 'SELECT "Full ""Name""" FROM "Order" WHERE "select" = 1'
    found = loaded_everywhere(script, query, postgres_url)
    assert set(map(tuple, found.values())) == {(("x",),)}


def test_rows_that_refer_to_rows_of_their_table_come_later(postgres_url):
    """A manager before those who report to her."""
    columns = (Column(name="id", kind="integer"), Column(name="boss", kind="integer"))
    key = ForeignKey(columns=("boss",), table="staff", referred=("id",))
    table = Table(name="staff", columns=columns, primary_key=("id",), foreign_keys=(key,))
    rows = {"staff": [(1, 2), (2, 3), (3, None), (4, 4)]}
    script = render_script(Schema((table,)), rows, dialect="sqlite")
    found = loaded_everywhere(script, "SELECT COUNT(*) FROM staff", postgres_url)
    assert set(map(tuple, found.values())) == {((4,),)}


def test_keys_to_columns_that_are_no_primary_key_and_keys_of_several_columns(postgres_url):
    """What a key refers to is unique in the script."""
    parent = Table(
        name="p",
        columns=tuple(Column(name=name, kind="integer") for name in ("id", "a", "b")),
        primary_key=("id",),
    )
    child = Table(
        name="c",
        columns=tuple(Column(name=name, kind="integer") for name in ("a", "b")),
        foreign_keys=(ForeignKey(columns=("a", "b"), table="p", referred=("a", "b")),),
    )
    rows = {"p": [(1, 1, 1), (2, 1, 2)], "c": [(1, 2), (1, None)]}
    script = render_script(Schema((parent, child)), rows, dialect="sqlite")
    found = loaded_everywhere(script, "SELECT COUNT(*) FROM c", postgres_url)
    assert set(map(tuple, found.values())) == {((2,),)}


def test_circles_of_tables_are_cut(tmp_path):
    """One of two keys that refer to each other stays."""
    path = tmp_path / "circle.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE teams (id INTEGER PRIMARY KEY, lead INTEGER REFERENCES people(id));
            CREATE TABLE people (id INTEGER PRIMARY KEY, team INTEGER REFERENCES teams(id));
            """
        )
    database.close()
    schema = read_schema(read_only_engine(f"sqlite:///{path}"))
    assert [(table.name, len(table.foreign_keys)) for table in schema] == [
        ("people", 0),
        ("teams", 1),
    ]
    sqlite3.connect(":memory:").executescript(render_script(schema, {}, dialect="sqlite"))


KINDS = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE parts (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
CREATE TABLE kinds (id SERIAL PRIMARY KEY, t TEXT, v VARCHAR(9), n NUMERIC, p NUMERIC(8, 3),
  r REAL, d DOUBLE PRECISION, o BOOLEAN, y DATE, s TIMESTAMP, z TIMESTAMPTZ, i TIME, u UUID,
  j JSONB, w INTEGER[], x BYTEA, m mood, l INTERVAL, e INET, g BIGINT, c CHAR(3), a INTEGER,
  b INTEGER, FOREIGN KEY (a, b) REFERENCES parts (a, b));
INSERT INTO parts VALUES (1, 2);
INSERT INTO kinds VALUES (1, 'x', 'y', 1.25, 2.5, 0.5, 0.25, true, '2024-02-29',
  '2024-02-29 10:00:00', '2024-02-29 10:00:00+02', '10:00:00', gen_random_uuid(),
  '{"a": [1, "b"]}', '{1,2}', '\\x00ff', 'good', '1 day', '10.0.0.1', 9999999999, 'ab', 1, 2);
INSERT INTO kinds (id, n) VALUES (2, 'NaN'), (3, 123456789012345678901234567890.5)
"""


def test_every_type_of_postgresql_goes_through(postgres_url):
    """What no script can say on all databases is text; nothing is lost on the way there."""
    with psycopg.connect(postgres_url) as database:
        for statement in KINDS.split(";\n"):
            database.execute(statement)
    engine = read_only_engine(postgres_url)
    schema = read_schema(engine)
    sample = read_sample(engine, schema, ["SELECT * FROM kinds"], dialect="postgres", max_rows=50)
    assert [len(rows) for rows in sample.rows.values()] == [1, 3]
    script = render_script(schema, sample.rows, dialect="postgres")
    with psycopg.connect(postgres_url) as database:
        database.execute("DROP TABLE kinds, parts")
    engine.dispose()
    found = loaded_everywhere(
        script, "SELECT t, v, o, m, l, e, g, a, b FROM kinds WHERE id = 1", postgres_url
    )
    expected = ("x", "y", 1, "good", "1 day, 0:00:00", "10.0.0.1", 9999999999, 1, 2)
    assert {name: rows[0] for name, rows in found.items()} == dict.fromkeys(found, expected)


def test_a_schema_other_than_the_default_is_read(postgres_url):
    """Statements may name it; the script has no namespaces."""
    from dbagenteval.cases import Case
    from dbagenteval.slices import SameFailure, rows_differ, slice_data

    with psycopg.connect(postgres_url) as database:
        database.execute("CREATE SCHEMA sales")
        database.execute("CREATE TABLE sales.stores (id INTEGER PRIMARY KEY, open BOOLEAN)")
        database.execute(
            "CREATE TABLE sales.orders (id INTEGER PRIMARY KEY, total INTEGER, "
            "store INTEGER REFERENCES sales.stores (id))"
        )
        database.execute("INSERT INTO sales.stores SELECT n, true FROM generate_series(1, 9) n")
        database.execute("INSERT INTO sales.orders SELECT n, n, 1 FROM generate_series(1, 90) n")
    agent = "SELECT MAX(total) FROM sales.orders"
    reference = 'SELECT SUM(total) FROM "sales"."orders"'
    failure = rows_differ(agent, Case("?", reference_sql=reference))
    found = slice_data(postgres_url, [agent, reference], SameFailure(failure))
    assert {name: len(rows) for name, rows in found.rows.items()} == {"stores": 1, "orders": 2}


def test_statements_come_in_an_order_that_loads():
    """Tables before those that refer to them."""
    parent = Table(name="b", columns=(Column(name="id", kind="integer"),), primary_key=("id",))
    key = ForeignKey(columns=("b",), table="b", referred=("id",))
    child = Table(name="a", columns=(Column(name="b", kind="integer"),), foreign_keys=(key,))
    made = list(statements_of(Schema((parent, child)), {"a": [(1,)], "b": [(1,)]}))
    assert [text.split()[2].strip('"') for text in made] == ["b", "b", "a", "a"]
