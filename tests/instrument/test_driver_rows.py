"""Rows of the drivers whose methods are replaced: psycopg, DuckDB, PyMySQL and ADBC."""

import decimal
import json
import subprocess
import sys

import pytest
from opentelemetry import trace

from dbagenteval.instrument.driver_rows import (
    instrument_adbc,
    instrument_psycopg,
    instrument_pymysql,
)
from dbagenteval.instrument.row_settings import RowSettings
from tests.conftest import missing

THREE = "SELECT n FROM (VALUES (1), (2), (3)) AS t(n) ORDER BY n"
ALL = (["n"], [[1], [2], [3]], False)


def _copies(module, names):
    """Give subclasses of a module's classes to change, so that other tests see the originals."""
    from types import SimpleNamespace

    return SimpleNamespace(**{name: _copy(getattr(module, name)) for name in names})


def _copy(cls):
    members = {}
    for base in reversed(cls.__mro__[:-1]):
        members.update({k: v for k, v in vars(base).items() if callable(v) and k in _METHODS})
    return type(cls.__name__, (cls,), {"__slots__": (), **{k: _plain(k, cls) for k in members}})


_METHODS = (
    "execute", "executemany", "fetchone", "fetchmany", "fetchall", "__next__", "__anext__",
    "close", "scroll", "nextset", "stream",
)  # fmt: skip


def _plain(name, cls):
    original = getattr(cls, name)

    def method(self, *args, **kwargs):
        return original(self, *args, **kwargs)

    return method


@pytest.fixture
def psycopg_cursors(recorded):
    import psycopg

    names = ("Cursor", "ServerCursor", "AsyncCursor")
    module = _copies(psycopg, names)
    instrument_psycopg(module, RowSettings())
    return module


@pytest.mark.parametrize(
    "fetch",
    [
        lambda c: c.fetchall(),
        list,
        lambda c: [c.fetchone(), *c.fetchmany(1), *c.fetchmany(1)],
        lambda c: [*iter(c.fetchone, None)],
    ],
)
def test_psycopg(recorded, psycopg_cursors, postgres_url, fetch):
    """All rows are whole once as many came as the driver says there are."""
    import psycopg

    with psycopg.connect(postgres_url, cursor_factory=psycopg_cursors.Cursor) as connection:
        assert fetch(connection.execute(THREE)) == [(1,), (2,), (3,)]
    assert recorded.rows() == ALL


def test_a_cursor_is_of_its_own_class_again_once_all_is_recorded(
    recorded, psycopg_cursors, postgres_url
):
    """While rows are recorded it is one by `isinstance` and name, afterwards by identity."""
    import psycopg

    cls = psycopg_cursors.Cursor
    with psycopg.connect(postgres_url, cursor_factory=cls) as connection:
        cursor = connection.execute(THREE)
        assert isinstance(cursor, cls)
        assert repr(type(cursor)) == repr(cls)
        cursor.fetchall()
        assert type(cursor) is cls
        with pytest.raises(IndexError):
            connection.execute("SELECT 1").scroll(5)


def test_psycopg_rows_that_were_left_are_cut(recorded, psycopg_cursors, postgres_url):
    """Two of three rows are not the result."""
    import psycopg

    with psycopg.connect(postgres_url, cursor_factory=psycopg_cursors.Cursor) as connection:
        connection.execute(THREE).fetchmany(2)
    assert recorded.rows() == (["n"], [[1], [2]], True)


def test_psycopg_types_dict_rows_and_errors(recorded, psycopg_cursors, postgres_url):
    """Decimals keep their digits, dates are ISO, nested values are as they were when fetched."""
    import psycopg
    from psycopg.rows import dict_row

    connect = psycopg.connect(
        postgres_url, cursor_factory=psycopg_cursors.Cursor, row_factory=dict_row, autocommit=True
    )
    with connect as connection:
        sql = "SELECT 12.50::numeric AS d, date '2026-01-31' AS day, '{\"a\": [1]}'::jsonb AS j, %s AS p"
        (row,) = connection.execute(sql, ["x"]).fetchall()
        row["j"]["a"].append(2)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nope")
    good, bad = recorded.spans()
    assert good.attributes["dbagenteval.rows"] == (
        '{"columns":["d","day","j","p"],"rows":[[12.50,"2026-01-31",{"a":[1]},"x"]]}'
    )
    assert row["d"] == decimal.Decimal("12.50")
    assert bad.status.status_code is trace.StatusCode.ERROR


def test_psycopg_server_cursor_and_stream(recorded, psycopg_cursors, postgres_url):
    """Cursors on the server fetch by themselves what the program asks for, and count once."""
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.server_cursor_factory = psycopg_cursors.ServerCursor
        with connection.cursor(name="c") as cursor:
            cursor.execute(THREE)
            assert cursor.fetchall() == [(1,), (2,), (3,)]
        connection.cursor_factory = psycopg_cursors.Cursor
        assert list(connection.cursor().stream(THREE)) == [(1,), (2,), (3,)]
    assert [json.loads(s.attributes["dbagenteval.rows"])["rows"] for s in recorded.spans()] == [
        [[1], [2], [3]],
        [[1], [2], [3]],
    ]


def test_psycopg_async(postgres_url):
    """Coroutines and async loops are recorded too, in a program of its own."""
    program = f"""
import asyncio, json, psycopg
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from dbagenteval.instrument import open_records
from dbagenteval.instrument.instrumentor import RowInstrumentor
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
RowInstrumentor().instrument()
async def main():
    async with await psycopg.AsyncConnection.connect({postgres_url!r}) as connection:
        cursor = await connection.execute({THREE!r})
        first = await cursor.fetchall()
        second = [row async for row in await connection.execute({THREE!r})]
        assert first == second == [(1,), (2,), (3,)], (first, second)
asyncio.run(main())
open_records.flush()
for span in exporter.get_finished_spans():
    print(span.attributes["dbagenteval.rows"], span.attributes.get("dbagenteval.rows.truncated"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ['{"columns":["n"],"rows":[[1],[2],[3]]} None'] * 2, (
        done.stderr
    )


DUCK = """
import json, duckdb, datetime
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from dbagenteval.instrument import open_records
from dbagenteval.instrument.instrumentor import RowInstrumentor
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
before = (duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation)
RowInstrumentor().instrument()
assert before == (duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation)
c = duckdb.connect()
c.execute("CREATE TABLE t AS SELECT range AS n FROM range(1, 4)")
SQL = "SELECT n FROM t ORDER BY n"
assert c.execute(SQL).fetchall() == [(1,), (2,), (3,)]
c.execute(SQL)
assert c.fetchmany(2) + c.fetchmany(2) == [(1,), (2,), (3,)]
assert c.sql(SQL).fetchall() == [(1,), (2,), (3,)]
assert c.sql(SQL).to_arrow_table().num_rows == 3
try:
    c.execute("SELECT nope FROM t")
except duckdb.Error as error:
    print(type(error).__name__)
duckdb.execute("CREATE TABLE u AS SELECT 1.50::DECIMAL(5,2) AS d, [1, 2] AS l, NULL AS z")
assert len(duckdb.execute("SELECT * FROM u").fetchall()) == 1
open_records.flush()
for span in exporter.get_finished_spans():
    if span.attributes["db.query.text"].startswith("SELECT"):
        print(span.attributes.get("dbagenteval.rows"), span.attributes.get("dbagenteval.rows.truncated"))
"""


def test_duckdb():
    """Connections, relations, tables and the module's own functions are recorded."""
    done = subprocess.run([sys.executable, "-c", DUCK], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "BinderException",
        *['{"columns":["n"],"rows":[[1],[2],[3]]} None'] * 4,
        "None None",
        '{"columns":["d","l","z"],"rows":[[1.50,[1,2],null]]} None',
    ]


class MySqlConnection:
    """What PyMySQL's cursors use of a connection, with one result."""

    encoding = "utf8"
    server_status = 0

    def __init__(self):
        self._result = None

    def query(self, query, unbuffered=False):
        from types import SimpleNamespace

        if "nope" in query:
            raise ValueError("no such column")
        fields = [
            SimpleNamespace(name="n", description=lambda: ("n", 3, None, None, None, None, True))
        ]
        self._result = SimpleNamespace(
            affected_rows=3, insert_id=0, warning_count=0, has_next=False, fields=fields,
            description=(("n", 3, None, None, None, None, True),), rows=((1,), (2,), (3,)),
        )  # fmt: skip

    def next_result(self, unbuffered=False):
        pass


@pytest.fixture
def mysql_cursors(recorded):
    try:
        from pymysql import cursors
    except ImportError:
        missing("PyMySQL")
    module = _copies(cursors, ("Cursor", "DictCursor"))
    module.DictCursorMixin = module.DictCursor
    instrument_pymysql(module, RowSettings())
    return module


@pytest.mark.parametrize("fetch", [lambda c: c.fetchall(), list, lambda c: c.fetchmany(3)])
@pytest.mark.parametrize("name", ["Cursor", "DictCursor"])
def test_pymysql(recorded, mysql_cursors, fetch, name):
    """Tuples and dicts give the same record."""
    cursor = getattr(mysql_cursors, name)(MySqlConnection())
    assert cursor.execute("SELECT n FROM t") == 3
    assert len(fetch(cursor)) == 3
    assert recorded.rows() == ALL


def test_pymysql_rows_that_were_left_are_cut(recorded, mysql_cursors):
    """One of three rows is not the result."""
    cursor = mysql_cursors.Cursor(MySqlConnection())
    cursor.execute("SELECT n FROM t")
    cursor.fetchone()
    cursor.close()
    assert recorded.rows() == (["n"], [[1]], True)


def test_adbc(recorded):
    """Rows and Arrow tables of ADBC are recorded."""
    try:
        import adbc_driver_sqlite.dbapi as adbc
    except ImportError:
        missing("adbc-driver-sqlite")
    from types import SimpleNamespace

    import adbc_driver_manager.dbapi as manager

    plain = manager.Cursor
    cursors = SimpleNamespace(Cursor=type("Cursor", (plain,), {
        name: _plain(name, plain) for name in (*_METHODS[:6], "close", "fetch_arrow_table")
        if hasattr(plain, name)
    }))  # fmt: skip
    instrument_adbc(cursors, RowSettings())
    sql = "SELECT column1 AS n FROM (VALUES (1), (2), (3))"
    with adbc.connect() as connection, cursors.Cursor(connection) as cursor:
        cursor.execute(sql)
        assert cursor.fetchall() == [(1,), (2,), (3,)]
        assert recorded.rows() == ALL
        cursor.execute(sql)
        assert cursor.fetch_arrow_table().num_rows == 3
        assert recorded.rows() == ALL
