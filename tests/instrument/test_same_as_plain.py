"""Whatever a program does with sqlite3, it sees the same with and without recording."""

import json
import sqlite3

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

SETUP = "CREATE TABLE t (n INTEGER, s TEXT); INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'c')"
STATEMENTS = (
    "SELECT n, s FROM t ORDER BY n",
    "SELECT n FROM t WHERE n > 5",
    "SELECT COUNT(*) FROM t",
    "SELECT nope FROM t",
    "INSERT INTO t VALUES (4, 'd')",
    "INSERT INTO t VALUES (5, 'e') RETURNING n",
    "UPDATE t SET s = 'x' WHERE n = 1",
    "SELECT 1 AS a, 2 AS a",
    "not SQL",
    "",
)
FACTORIES = (None, sqlite3.Row, lambda cursor, row: list(row), lambda cursor, row: row[0])
STEPS = st.one_of(
    st.tuples(st.just("execute"), st.sampled_from(STATEMENTS)),
    st.tuples(st.just("shortcut"), st.sampled_from(STATEMENTS)),
    st.tuples(
        st.just("executemany"), st.sampled_from(["INSERT INTO t VALUES (?, 'm')", "SELECT ?"])
    ),
    st.tuples(st.just("fetchone"), st.none()),
    st.tuples(st.just("fetchmany"), st.sampled_from([None, 0, 1, 2, 10, -1])),
    st.tuples(st.just("fetchall"), st.none()),
    st.tuples(st.just("next"), st.none()),
    st.tuples(st.just("loop"), st.integers(0, 4)),
    st.tuples(st.just("arraysize"), st.integers(1, 3)),
    st.tuples(st.just("factory"), st.integers(0, 3)),
    st.tuples(st.just("cursor factory"), st.integers(0, 3)),
    st.tuples(st.just("cursor"), st.none()),
    st.tuples(st.just("close"), st.none()),
    st.tuples(st.just("commit"), st.none()),
)


class Program:
    """Takes steps on a connection and tells what it saw."""

    def __init__(self, connect):
        self.connection = connect(":memory:")
        self.connection.executescript(SETUP)
        self.cursor = self.connection.cursor()

    def step(self, name, argument):
        try:
            result = self._do(name, argument)
        except (sqlite3.Error, StopIteration, TypeError, ValueError, OverflowError) as error:
            result = (type(error), str(error))
        cursor = self.cursor
        return result, cursor.description, cursor.rowcount, cursor.lastrowid

    def _do(self, name, argument):  # noqa: C901, PLR0912 a step each
        cursor = self.cursor
        if name == "execute":
            return cursor.execute(argument) is cursor
        if name == "shortcut":
            self.cursor = self.connection.execute(argument)
            return isinstance(self.cursor, sqlite3.Cursor)
        if name == "executemany":
            return cursor.executemany(argument, [(7,), (8,)]) is cursor
        if name == "fetchmany":
            return shown(cursor.fetchmany() if argument is None else cursor.fetchmany(argument))
        if name == "next":
            return shown([next(cursor)])
        if name == "loop":
            rows = []
            for row in cursor:
                rows.append(row)
                if len(rows) > argument:
                    break
            return shown(rows)
        if name == "arraysize":
            cursor.arraysize = argument
        elif name == "factory":
            self.connection.row_factory = FACTORIES[argument]
        elif name == "cursor factory":
            cursor.row_factory = FACTORIES[argument]
        elif name == "cursor":
            self.cursor = self.connection.cursor()
        elif name == "commit":
            self.connection.commit()
        else:
            result = getattr(cursor, name)()
            return shown(result if isinstance(result, list) else [result])
        return None


def shown(rows):
    return [
        (type(row).__name__, tuple(row) if isinstance(row, sqlite3.Row) else row) for row in rows
    ]


def check(recorded, connect, steps, **limits):
    plain, watched = Program(sqlite3.connect), Program(connect(**limits))
    for name, argument in steps:
        assert watched.step(name, argument) == plain.step(name, argument), (name, argument)
    plain.connection.close()
    watched.connection.close()
    for span in recorded.spans():
        if "dbagenteval.rows" in span.attributes:
            json.loads(span.attributes["dbagenteval.rows"])


@pytest.mark.parametrize("limit", [2, 500])
@given(steps=st.lists(STEPS, max_size=14))
@example(steps=[("execute", STATEMENTS[1]), ("cursor factory", 1), ("next", None)])
@example(
    steps=[
        ("executemany", "SELECT ?"),
        ("execute", STATEMENTS[5]),
        ("cursor", None),
        ("commit", None),
    ]
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_program_sees_the_same(recorded, connect, limit, steps):
    """Results, exceptions, descriptions and counts are equal at each step."""
    check(recorded, connect, steps, max_rows=limit)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 3, 500])
@given(steps=st.lists(STEPS, max_size=40))
@settings(
    max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_program_sees_the_same_for_long(recorded, connect, limit, steps):
    """The same with long programs."""
    check(recorded, connect, steps, max_rows=limit)
