"""Rows of sqlite3 are recorded as the program fetches them, and the program sees no difference."""

import gc
import sqlite3
import threading
import time

import pytest
from opentelemetry import trace

from dbagenteval.instrument import open_records

THREE = "SELECT column1 AS n FROM (VALUES (1), (2), (3))"
ALL = (["n"], [[1], [2], [3]], False)


def _loop(cursor):
    return [row[0] for row in cursor]


def _one_by_one(cursor):
    return [row[0] for row in iter(cursor.fetchone, None)]


def _by_two(cursor):
    return [row[0] for rows in iter(lambda: cursor.fetchmany(2), []) for row in rows]


def _mixed(cursor):
    return [cursor.fetchone()[0], next(cursor)[0], *(row[0] for row in cursor.fetchall())]


@pytest.mark.parametrize("fetch", [_loop, _one_by_one, _by_two, _mixed], ids=lambda f: f.__name__)
def test_all_rows_are_recorded_however_they_are_fetched(recorded, connect, fetch):
    """Loops, single rows, batches and mixtures give the same record."""
    connection = connect()(":memory:")
    assert fetch(connection.execute(THREE)) == [1, 2, 3]
    assert recorded.rows() == ALL


def test_a_result_that_was_left_is_no_whole_result(recorded, connect):
    """Rows that the program didn't fetch are not fetched for it, and the record says so."""
    seen = []
    connection = connect()(":memory:")
    connection.create_function("seen", 1, lambda n: seen.append(n) or n)
    sql = "SELECT seen(column1) AS n FROM (VALUES (1), (2), (3), (4), (5))"
    cursor = connection.execute(sql)
    assert next(cursor) == (1,)
    cursor.close()
    by_us = list(seen)
    seen.clear()
    plain = sqlite3.connect(":memory:")
    plain.create_function("seen", 1, lambda n: seen.append(n) or n)
    next(plain.execute(sql))
    assert by_us == seen
    assert recorded.rows() == (["n"], [[1]], True)


def test_one_row_that_is_all_there_is_counts_as_whole(recorded, connect):
    """A program that fetches the one row of a result sees no end; the cursor does."""
    connection = connect()(":memory:")
    assert connection.execute("SELECT 7 AS n WHERE 1").fetchone() == (7,)
    assert recorded.rows() == (["n"], [[7]], False)


def test_a_cursor_that_goes_on_to_another_statement_ends_the_first(recorded, connect):
    """Each execution has its own span, in order."""
    cursor = connect()(":memory:").cursor()
    cursor.execute(THREE)
    cursor.fetchone()
    cursor.execute("SELECT 5 AS five")
    cursor.fetchall()
    first, second = recorded.spans()
    assert first.attributes["dbagenteval.rows"] == '{"columns":["n"],"rows":[[1]]}'
    assert first.attributes["dbagenteval.rows.truncated"] is True
    assert second.attributes["dbagenteval.rows"] == '{"columns":["five"],"rows":[[5]]}'
    assert second.attributes["db.response.returned_rows"] == 1
    assert "dbagenteval.rows.truncated" not in second.attributes


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 60])
@pytest.mark.parametrize("count", [1, 3, 4, 59, 60, 61, 200])
@pytest.mark.parametrize("fetch", [_loop, _by_two, list], ids=["loop", "two", "all"])
def test_rows_beyond_the_limit_are_left_out_and_said(recorded, connect, limit, count, fetch):
    """The record holds the first rows; it is marked unless it holds all of them."""
    connection = connect(max_rows=limit)(":memory:")
    connection.execute("CREATE TABLE t (n)")
    connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(count)])
    recorded.spans()
    cursor = connection.execute("SELECT n FROM t ORDER BY n")
    assert len(cursor.fetchall() if fetch is list else fetch(cursor)) == count
    assert recorded.rows() == (["n"], [[n] for n in range(min(count, limit))], count > limit)


def test_bytes_beyond_the_limit_are_left_out_and_said(recorded, connect):
    """The text stays within its bytes and is whole JSON."""
    connection = connect(max_bytes=200)(":memory:")
    connection.execute(
        "SELECT column1 AS n FROM (VALUES ('a'), (?), ('b'))", ["x" * 500]
    ).fetchall()
    assert recorded.rows() == (["n"], [["a"]], True)


def test_an_error_is_raised_as_ever_and_recorded(recorded, connect):
    """The exception is sqlite3's own, with its attributes."""
    connection = connect()(":memory:")
    with pytest.raises(sqlite3.OperationalError, match="no such column: nope"):
        connection.execute("SELECT nope")
    span = recorded.span()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.status.description == "no such column: nope"
    assert span.events[0].attributes["exception.type"].endswith("OperationalError")
    assert "dbagenteval.rows" not in span.attributes


def test_an_error_while_rows_are_read_is_recorded(recorded, connect):
    """A statement can fail after its first rows."""
    connection = connect()(":memory:")
    connection.create_function("fail", 1, lambda n: 1 / (3 - n))
    cursor = connection.execute("SELECT fail(column1) FROM (VALUES (1), (2), (3), (4))")
    with pytest.raises(sqlite3.OperationalError):
        cursor.fetchall()
    assert recorded.span().status.status_code is trace.StatusCode.ERROR


def test_classes_and_objects_are_what_they_were(recorded, connect):
    """Types by `isinstance`, name and attributes, iteration and chaining are those of sqlite3."""
    connection = connect()(":memory:")
    cursor = connection.cursor()
    assert isinstance(connection, sqlite3.Connection)
    assert isinstance(cursor, sqlite3.Cursor)
    assert repr(type(cursor)) == "<class 'sqlite3.Cursor'>"
    assert repr(type(connection)) == "<class 'sqlite3.Connection'>"
    assert cursor.execute(THREE) is cursor
    assert iter(cursor) is cursor
    assert cursor.connection is connection
    assert cursor.description == (("n", None, None, None, None, None, None),)
    assert not hasattr(cursor, "__dict__")
    with pytest.raises(AttributeError):
        cursor.own = 1
    target = sqlite3.connect(":memory:")
    connection.backup(target)
    with connection:
        connection.execute("CREATE TABLE t (n)")
    assert connection.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        (sqlite3.Row, (1, "a")),
        (lambda cursor, row: {c[0]: v for c, v in zip(cursor.description, row, strict=True)}, None),
        (lambda cursor, row: list(row), [1, "a"]),
    ],
    ids=["Row", "dict", "list"],
)
@pytest.mark.parametrize("fetch", [list, lambda c: c.fetchall(), lambda c: [c.fetchone()]])
def test_row_factories_are_kept(recorded, connect, factory, expected, fetch):
    """The program gets what its factory makes; the record has the cells by position."""
    connection = connect()(":memory:")
    connection.row_factory = factory
    (row,) = fetch(connection.execute("SELECT 1 AS n, 'a' AS t"))
    if factory is sqlite3.Row:
        assert isinstance(row, sqlite3.Row)
        assert tuple(row) == expected
    else:
        assert row == (expected or {"n": 1, "t": "a"})
    assert recorded.rows() == (["n", "t"], [[1, "a"]], False)


def test_what_a_program_does_to_its_rows_is_not_recorded(recorded, connect):
    """Rows are those of the database, though the program changes them at once."""
    connection = connect()(":memory:")
    connection.row_factory = lambda cursor, row: {"n": row[0]}
    cursor = connection.execute(THREE)
    for row in cursor:
        row["n"] = "changed"
    assert recorded.rows() == ALL


def test_rows_of_unknown_form_are_left_out(recorded, connect):
    """Rather nothing than cells in the wrong columns."""
    connection = connect()(":memory:")
    connection.row_factory = lambda cursor, row: object()
    connection.execute("SELECT 1 AS a, 2 AS b").fetchall()
    assert "dbagenteval.rows" not in recorded.span().attributes


def test_classes_of_the_program_are_kept(recorded, connect):
    """Its own connection and cursor classes work, and a fetch through another counts once."""

    class Cursor(sqlite3.Cursor):
        def fetchall(self):
            return list(iter(self.fetchone, None))

    class Connection(sqlite3.Connection):
        greeting = "hello"

    connection = connect()(":memory:", factory=Connection)
    assert isinstance(connection, Connection)
    assert connection.greeting == "hello"
    cursor = connection.cursor(Cursor)
    assert isinstance(cursor, Cursor)
    assert cursor.execute(THREE).fetchall() == [(1,), (2,), (3,)]
    assert recorded.rows() == ALL


def test_duplicate_names_and_values_of_all_kinds_are_kept(recorded, connect):
    """Big integers, blobs, NULL and texts come as exact as JSON allows."""
    connection = connect()(":memory:")
    sql = (
        "SELECT 9223372036854775807 AS n, x'00ff' AS n, NULL AS n, 'ü\"' AS n, 0.1 AS n, 9e999 AS n"
    )
    connection.execute(sql).fetchall()
    cells = [9223372036854775807, "00ff", None, 'ü"', 0.1, "Infinity"]
    assert recorded.rows() == (["n"] * 6, [cells], False)


def test_a_forgotten_cursor_is_recorded_when_it_goes(recorded, connect):
    """A cursor that nobody refers to any more gives its span, marked as cut."""
    cursor = connect()(":memory:").execute(THREE)
    next(cursor)
    del cursor
    gc.collect()
    assert recorded.rows() == (["n"], [[1]], True)


def test_a_forgotten_cursor_is_recorded_once_as_the_program_ends(recorded, connect):
    """What goes by itself is not told again by the last look at what is open."""
    cursor = connect()(":memory:").execute(THREE)
    next(cursor)
    del cursor
    gc.collect()
    open_records.flush(forgotten=True)
    assert recorded.rows() == (["n"], [[1]], True)


def test_a_cursor_that_idles_is_recorded(recorded, connect, monkeypatch):
    """A program that keeps its cursor and never ends it is not waited for."""
    monkeypatch.setattr(open_records, "IDLE_S", 0.05)
    cursor = connect()(":memory:").execute(THREE)
    next(cursor)
    open_records.flush()
    time.sleep(0.1)
    assert recorded.rows() == (["n"], [[1]], True)
    assert list(cursor) == [(2,), (3,)]


def test_spans_belong_to_the_span_that_was_current(recorded, connect):
    """The record is a child of what ran the statement, though it is made later by another thread."""
    connection = connect()(":memory:")
    with recorded.tracer.start_as_current_span("tool") as tool:
        connection.execute(THREE).fetchall()
    spans = {span.name: span for span in recorded.spans()}
    assert spans["SELECT"].parent.span_id == tool.get_span_context().span_id
    assert spans["SELECT"].end_time <= spans["tool"].end_time


def test_a_span_of_the_statement_that_is_still_open_gets_the_rows(recorded, connect):
    """A program that traces its statements itself has the rows on its own span."""
    connection = connect()(":memory:")
    with recorded.tracer.start_as_current_span("query", attributes={"db.query.text": THREE}):
        connection.execute(THREE).fetchall()
    assert recorded.rows() == ALL


def test_a_span_that_ends_before_the_fetch_gets_a_child_with_the_rows(recorded, connect):
    """As with OpenTelemetry's own instrumentations, whose spans end when `execute` returns."""
    connection = connect()(":memory:")
    with recorded.tracer.start_as_current_span(
        "theirs", attributes={"db.statement": THREE}
    ) as span:
        cursor = connection.execute(THREE)
    cursor.fetchall()
    theirs, ours = recorded.spans()
    assert theirs.name == "theirs"
    assert "dbagenteval.rows" not in theirs.attributes
    assert ours.parent.span_id == span.get_span_context().span_id
    assert ours.attributes["db.query.text"] == THREE


def test_threads_record_side_by_side(recorded, connect):
    """Each thread's statements have their own rows."""
    make = connect()

    def work(number):
        connection = make(":memory:")
        for _ in range(20):
            connection.execute(f"SELECT {number} AS n, column1 FROM (VALUES (1), (2))").fetchall()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spans = recorded.spans()
    assert len(spans) == 80
    for span in spans:
        number = span.attributes["db.query.text"].split()[1]
        assert span.attributes["dbagenteval.rows"].endswith(f"[[{number},1],[{number},2]]}}")
