"""Rows of psycopg2, asyncpg and SQLAlchemy's async engines, against a real PostgreSQL.

Each runs in a process of its own under the instrumentor, as a program does.
"""

import json
import subprocess
import sys

import pytest

from tests.conftest import missing

THREE = "SELECT n FROM (VALUES (1), (2), (3)) AS t(n) ORDER BY n"
ALL = [["n"], [[1], [2], [3]], None]
NONE = [None, None, None]

HEAD = """
import asyncio, json
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
tracer = trace.get_tracer("program")
"""
TAIL = """
open_records.flush(forgotten=True)
for span in sorted(exporter.get_finished_spans(), key=lambda span: span.start_time):
    said = json.loads(span.attributes.get("dbagenteval.rows", "{}"))
    print(json.dumps({
        "sql": span.attributes.get("db.query.text"), "error": span.status.description,
        "rows": [said.get("columns"), said.get("rows"), span.attributes.get("dbagenteval.rows.truncated")],
        "parent": span.parent and f"{span.parent.span_id:016x}", "name": span.name,
        "id": f"{span.context.span_id:016x}",
    }))
"""


def spans_of(program, **names):
    """Run a program under the instrumentor; give its spans by start."""
    given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    done = subprocess.run(
        [sys.executable, "-c", HEAD + given + program + TAIL],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_of(program, **names):
    return [span["rows"] for span in spans_of(program, **names)]


@pytest.fixture
def psycopg2():
    try:
        import psycopg2
    except ImportError:
        missing("psycopg2")
    return psycopg2


@pytest.fixture
def asyncpg():
    try:
        import asyncpg
    except ImportError:
        missing("asyncpg")
    return asyncpg


def test_psycopg2_rows_however_they_are_fetched(psycopg2, postgres_url):
    """Loops, single rows, batches, dicts, named cursors: each execution has its rows once."""
    program = """
import psycopg2, psycopg2.extras
connection = psycopg2.connect(url)
expected = [(1,), (2,), (3,)]
def run(fetch, connection=connection, **made):
    with connection.cursor(**made) as cursor:
        assert cursor.execute(THREE) is None
        rows = fetch(cursor)
        assert [tuple(row.values() if hasattr(row, "values") and not isinstance(row, list) else row)
                for row in rows] == expected, rows
run(lambda c: c.fetchall())
run(list)
run(lambda c: [c.fetchone(), *c.fetchmany(1), next(c)])
run(lambda c: [c.fetchone() for _ in range(c.rowcount)])
run(list, cursor_factory=psycopg2.extras.RealDictCursor)
run(lambda c: c.fetchall(), cursor_factory=psycopg2.extras.DictCursor)
run(list, cursor_factory=psycopg2.extras.NamedTupleCursor)
run(list, name="first")
run(lambda c: c.fetchall(), name="second", cursor_factory=psycopg2.extras.RealDictCursor)
run(list, psycopg2.connect(url, connection_factory=psycopg2.extras.RealDictConnection))
run(list, psycopg2.connect(url, cursor_factory=psycopg2.extras.DictCursor))
"""
    assert rows_of(program, url=postgres_url, THREE=THREE) == [ALL] * 11


def test_psycopg2_rows_that_were_left_errors_and_composed_sql(psycopg2, postgres_url):
    """Two of three rows are marked as cut, an error is told, and SQL is the text that ran."""
    program = """
import psycopg2
from psycopg2 import sql
connection = psycopg2.connect(url)
connection.autocommit = True
with connection.cursor() as cursor:
    cursor.execute(THREE)
    cursor.fetchmany(2)
with connection.cursor() as cursor:
    try:
        cursor.execute("SELECT * FROM nope")
    except psycopg2.errors.UndefinedTable:
        pass
    cursor.execute("CREATE TABLE t (n numeric, d date)")
    cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(1.5, "2026-01-31"), (None, None)])
    cursor.execute(sql.SQL("SELECT {} AS m, d FROM t WHERE n > %s").format(sql.Identifier("n")), [1])
    cursor.fetchall()
    cursor.execute("SELECT n FROM t WHERE n > 99")
    cursor.fetchall()
"""
    cut, failed, *written, composed, empty = spans_of(program, url=postgres_url, THREE=THREE)
    assert cut["rows"] == [["n"], [[1], [2]], True]
    assert failed["error"].startswith('relation "nope" does not exist')
    assert [span["rows"] for span in written] == [NONE, NONE]
    assert composed["sql"] == 'SELECT "n" AS m, d FROM t WHERE n > %s'
    assert composed["rows"] == [["m", "d"], [[1.5, "2026-01-31"]], None]
    assert empty["rows"] == [["n"], [], None]


def test_psycopg2_looks_as_ever(psycopg2, postgres_url):
    """Types by `isinstance`, name and attributes are those of psycopg2."""
    program = """
import psycopg2
from psycopg2.extensions import connection as Connection, cursor as Cursor
connection = psycopg2.connect(url)
assert isinstance(connection, Connection) and repr(type(connection)) == repr(Connection)
cursor = connection.cursor()
assert isinstance(cursor, Cursor) and repr(type(cursor)) == repr(Cursor)
assert connection.cursor_factory is None and cursor.connection is connection
cursor.execute("SELECT 1 AS one")
assert isinstance(cursor, Cursor) and cursor.description[0].name == "one"
assert iter(cursor) is cursor and cursor.rowcount == 1 and cursor.query == b"SELECT 1 AS one"
class Own(Cursor):
    def execute(self, query, vars=None):
        super().execute(query.replace("WHO", "1"), vars)
with connection.cursor(cursor_factory=Own) as cursor:
    cursor.execute("SELECT WHO AS one")
    assert isinstance(cursor, Own) and cursor.fetchone() == (1,)
"""
    spans = spans_of(program, url=postgres_url)
    assert [span["sql"] for span in spans] == ["SELECT 1 AS one"] * 2


def test_asyncpg_rows_however_they_are_fetched(asyncpg, postgres_url):
    """Whole results, single rows and cells, prepared statements, pools and cursors."""
    program = """
import asyncpg
ONE = "SELECT COUNT(*) AS n, 7 AS m FROM (VALUES (1), (2)) AS t"
async def main():
    connection = await asyncpg.connect(url)
    assert [tuple(row) for row in await connection.fetch(THREE)] == [(1,), (2,), (3,)]
    assert tuple(await connection.fetchrow(ONE)) == (2, 7)
    assert await connection.fetchval(ONE, column=1) == 7
    assert tuple(await connection.fetchrow(THREE)) == (1,)
    assert await connection.fetch("SELECT 1 AS a WHERE $1", False) == []
    prepared = await connection.prepare(THREE)
    assert len(await prepared.fetch()) == 3
    async with connection.transaction():
        assert [row["n"] async for row in connection.cursor(THREE)] == [1, 2, 3]
        cursor = await connection.cursor(THREE)
        assert len(await cursor.fetch(2)) == 2 and tuple(await cursor.fetchrow()) == (3,)
        assert await cursor.fetchrow() is None
        cursor = await prepared.cursor()
        assert await cursor.forward(1) == 1 and len(await cursor.fetch(9)) == 2
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        assert len(await pool.fetch(THREE)) == 3
        async with pool.acquire() as one:
            assert len(await one.fetch(THREE)) == 3
    await connection.close()
asyncio.run(main())
"""
    spans = spans_of(program, url=postgres_url, THREE=THREE)
    assert [span["rows"] for span in spans] == [
        ALL,
        [["n", "m"], [[2, 7]], None],
        [["n", "m"], [[2, 7]], None],
        [["n"], [[1]], True],
        [[], [], None],
        ALL,
        ALL,
        ALL,
        NONE,
        ALL,
        ALL,
    ]
    assert {span["name"] for span in spans} == {"SELECT"}


def test_asyncpg_statements_without_rows_and_errors(asyncpg, postgres_url):
    """Each statement of the program is told once, none of the driver's own, and errors are."""
    program = """
import asyncpg
async def failing(awaitable):
    try:
        await awaitable
    except asyncpg.PostgresError:
        return
    raise AssertionError
async def main():
    connection = await asyncpg.connect(url)
    assert await connection.execute("CREATE TABLE t (n int)") == "CREATE TABLE"
    assert await connection.execute("INSERT INTO t VALUES ($1)", 1) == "INSERT 0 1"
    await connection.executemany("INSERT INTO t VALUES ($1)", [(2,), (3,)])
    async with connection.transaction():
        await connection.execute("DELETE FROM t")
    await failing(connection.fetch("SELECT * FROM nope"))
    await failing(connection.prepare("SELECT nope"))
    await connection.set_type_codec("json", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    await connection.reset()
    await connection.close()
asyncio.run(main())
"""
    spans = spans_of(program, url=postgres_url)
    assert [span["sql"] for span in spans] == [
        "CREATE TABLE t (n int)",
        "INSERT INTO t VALUES ($1)",
        "INSERT INTO t VALUES ($1)",
        "DELETE FROM t",
        "SELECT * FROM nope",
        "SELECT nope",
    ]
    assert [span["error"] for span in spans[-2:]] == [
        'relation "nope" does not exist',
        'column "nope" does not exist',
    ]
    assert all(span["rows"] == NONE for span in spans)


ENGINE = """
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
async def main():
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        with tracer.start_as_current_span("tool"):
            assert (await connection.execute(text(THREE))).all() == [(1,), (2,), (3,)]
            try:
                await connection.execute(text("SELECT * FROM nope"))
            except Exception as error:
                assert "nope" in str(error)
            else:
                raise AssertionError
    await engine.dispose()
asyncio.run(main())
"""


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg", "aiosqlite"])
def test_async_engines_of_sqlalchemy(driver, postgres_url, tmp_path):
    """Rows and errors of what the program ran, below the span that was current."""
    pytest.importorskip("greenlet")
    if driver == "aiosqlite":
        url = f"sqlite+aiosqlite:///{tmp_path}/shop.db"
        three = "SELECT column1 AS n FROM (VALUES (1), (2), (3))"
    else:
        url, three = postgres_url.replace("postgresql", f"postgresql+{driver}"), THREE
    spans = spans_of(ENGINE, url=url, THREE=three)
    (tool,) = (span["id"] for span in spans if span["name"] == "tool")
    good, bad = (span for span in spans if span["parent"] == tool)
    assert (good["sql"], good["rows"]) == (three, ALL)
    assert bad["sql"] == "SELECT * FROM nope"
    assert "nope" in bad["error"]


def test_psycopg2_through_sqlalchemy(psycopg2, postgres_url):
    """A plain engine's rows are recorded below the span that was current."""
    program = """
from sqlalchemy import create_engine, text
engine = create_engine(url)
with tracer.start_as_current_span("tool"), engine.connect() as connection:
    assert connection.execute(text(THREE)).all() == [(1,), (2,), (3,)]
"""
    spans = spans_of(
        program, url=postgres_url.replace("postgresql", "postgresql+psycopg2"), THREE=THREE
    )
    (tool,) = (span["id"] for span in spans if span["name"] == "tool")
    assert [s["rows"] for s in spans if s["parent"] == tool and s["sql"] == THREE] == [ALL]


def test_aiosqlite_below_the_span_that_was_current(tmp_path):
    """Its thread makes the spans of the task that asked."""
    program = """
import aiosqlite
async def main():
    async with aiosqlite.connect(path) as connection:
        with tracer.start_as_current_span("tool"):
            async with connection.execute("SELECT 1 AS n UNION SELECT 2") as cursor:
                assert [row async for row in cursor] == [(1,), (2,)]
asyncio.run(main())
"""
    pytest.importorskip("aiosqlite")
    tool, select = spans_of(program, path=str(tmp_path / "a.db"))
    assert select["parent"] == tool["id"]
    assert select["rows"] == [["n"], [[1], [2]], None]
