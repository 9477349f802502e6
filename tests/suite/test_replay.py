"""Rows that were not captured come from running the SQL again: only reading, limited, and said."""

import queue
import sqlite3
import time

import duckdb
import pytest

from dbagenteval import Stage, Trace
from dbagenteval.scorecard import CheckResult, Scorecard
from dbagenteval.suite.interrupting import interrupted_after
from dbagenteval.suite.replay import Replay, mark_replayed
from dbagenteval.suite.replay_session import ReplayLimits, ReplayRefused, limited_executor_for

AT = "2026-01-31T12:00:00+00:00"
HIDDEN = {"observed": {"rows": {"state": "not captured", "why": "no rows in the spans"}}}


def trace_of(sql, **execute):
    meta = {**HIDDEN, "sql": sql, **execute.pop("meta", {})}
    notes = [{"what": "rows", "stage": "execute", "state": "not captured", "why": "no rows"}]
    stages = [Stage("generate", output=sql), Stage("execute", meta=meta, **execute)]
    return Trace("How many?", stages, {"not_observed": notes})


class Executor:
    """Remembers what it ran."""

    def __init__(self, result):
        self.result = result
        self.ran = []

    def __call__(self, sql):
        self.ran.append(sql)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def replay(executor):
    return Replay(executor, dialect="sqlite", now=lambda: AT)


def test_rows_that_were_not_captured_are_replayed_and_say_when():
    """The stage has the rows and is evidence; what was not observed is no more listed."""
    executor = Executor([{"n": 3}])
    given = trace_of("SELECT COUNT(*) AS n FROM t")
    got = replay(executor).trace(given)
    stage = got.stage("execute")
    assert stage.rows == [{"n": 3}]
    assert stage.observed("rows").state == "present"
    assert stage.meta["replayed"] == {"at": AT, "rows": 1}
    assert got.meta["replayed"] == [{"stage": "execute", "at": AT, "rows": 1}]
    assert got.meta["not_observed"] == []
    assert given.stage("execute").rows is None


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t",
        "SELECT 1; DROP TABLE t",
        "WITH gone AS (DELETE FROM t RETURNING id) SELECT * FROM gone",
        "SELECT load_extension('x')",
        "not SQL at all",
    ],
)
def test_sql_that_read_only_refuses_is_never_run(sql):
    """What may write isn't sent to the database, and the reason says which rule refused it."""
    executor = Executor([{"n": 3}])
    stage = replay(executor).trace(trace_of(sql)).stage("execute")
    assert executor.ran == []
    assert stage.rows is None
    assert stage.observed("rows").state == "not captured"
    assert "not replayed: read_only" in stage.observed("rows").why


def test_what_failed_then_is_not_replayed():
    """An execution that failed stays failed, though it may succeed today."""
    executor = Executor([{"n": 3}])
    given = trace_of("SELECT 1 AS n", error="timeout")
    assert replay(executor).trace(given) is given
    assert executor.ran == []


@pytest.mark.parametrize("state", ["present", "empty", "masked"])
def test_rows_that_are_known_or_hidden_on_purpose_stay(state):
    """Captured rows are better evidence; masked ones must not come back."""
    executor = Executor([{"n": 3}])
    rows = {"present": [{"n": 4}], "empty": [], "masked": None}[state]
    meta = (
        {"observed": {"rows": {"state": "masked", "why": ""}}}
        if state == "masked"
        else {"observed": {}}
    )
    given = trace_of("SELECT 1 AS n", rows=rows, meta=meta)
    assert replay(executor).trace(given).stage("execute").rows == rows
    assert executor.ran == []


def test_rows_that_were_cut_are_replaced_by_the_whole_result():
    """A result of which only the head was captured is read again."""
    meta = {"observed": {"rows": {"state": "cut", "why": "capped"}}}
    given = trace_of("SELECT n FROM t", rows=[{"n": 1}], meta=meta)
    got = replay(Executor([{"n": 1}, {"n": 2}])).trace(given).stage("execute")
    assert got.rows == [{"n": 1}, {"n": 2}]
    assert got.observed("rows").is_evidence


def test_a_replay_that_fails_is_no_evidence():
    """An error of the replay is not the agent's error: the rows stay unknown."""
    got = replay(Executor(ValueError("gone"))).trace(trace_of("SELECT n FROM t")).stage("execute")
    assert got.error is None
    assert got.rows is None
    assert got.observed("rows").why.endswith("not replayed: ValueError: gone")


def test_each_result_on_replayed_rows_says_so():
    """A check of the rows, or of the numbers against them, names the time of the replay."""
    results = [
        CheckResult("no_error", "execute", "pass"),
        CheckResult("reference_rows", "execute", "fail", "1 row too many"),
        CheckResult("numbers_grounded", "answer", "pass"),
        CheckResult("read_only", "generate", "pass"),
    ]
    card = Scorecard("q", results=results)
    card.meta["replayed"] = [{"stage": "execute", "at": AT, "rows": 1}]
    details = [result.detail for result in mark_replayed(card).results]
    assert details == ["", f"1 row too many; rows replayed at {AT}", f"rows replayed at {AT}", ""]


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"
SLOW = {
    "sqlite": ENDLESS,
    "duckdb": "SELECT COUNT(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7",
    "postgresql": "SELECT pg_sleep(60)",
}


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def url(request, tmp_path):
    """A database with 25 rows, of each kind."""
    if request.param == "sqlite":
        connection = sqlite3.connect(tmp_path / "t.db")
        connection.executescript("CREATE TABLE t (n INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(25)])
        connection.commit()
        connection.close()
        return f"sqlite:///{tmp_path / 't.db'}"
    if request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT range::INTEGER AS n FROM range(25)")
        return f"duckdb:///{tmp_path / 't.duckdb'}"
    import psycopg

    base = request.getfixturevalue("postgres_url")
    with psycopg.connect(base) as connection:
        connection.execute("CREATE TABLE t AS SELECT n FROM generate_series(0, 24) n")
    return base


def test_a_session_gives_rows_up_to_its_limit(url):
    """A result of as many rows as allowed comes whole, one more refuses all."""
    execute = limited_executor_for(url, ReplayLimits(rows=25))
    assert execute("SELECT n FROM t ORDER BY n") == [{"n": n} for n in range(25)]
    with pytest.raises(ReplayRefused, match="more than 24 rows"):
        limited_executor_for(url, ReplayLimits(rows=24))("SELECT n FROM t")


def test_what_goes_on_is_interrupted_again():
    """An interrupt that comes between two statements is lost, so it is not the last one."""
    interrupts = queue.SimpleQueue()
    with interrupted_after(0.01, lambda: interrupts.put(None)) as is_over:
        for _ in range(3):
            interrupts.get(timeout=30)
        assert is_over()


def test_a_session_interrupts_what_takes_too_long(url):
    """A statement that would run for ever is over soon, and the next one works."""
    execute = limited_executor_for(url, ReplayLimits(seconds=0.5))
    started = time.monotonic()
    with pytest.raises(ReplayRefused, match=r"more than 0.5 s"):
        execute(SLOW[url.split(":")[0]])
    assert time.monotonic() - started < 20
    assert execute("SELECT COUNT(*) AS n FROM t") == [{"n": 25}]


def test_a_session_only_reads(url):
    """Even SQL that nobody checked writes nothing."""
    execute = limited_executor_for(url, ReplayLimits())
    with pytest.raises(Exception, match=r"(?i)read.?only|returns no rows|syntax error"):
        execute("DELETE FROM t")
    assert execute("SELECT COUNT(*) AS n FROM t") == [{"n": 25}]


def test_a_session_refuses_results_that_are_too_big(url):
    """The bytes of a result are limited too, not only its rows."""
    wide = {"sqlite": "hex(zeroblob(50000))"}.get(url.split(":")[0], "repeat('x', 100000)")
    with pytest.raises(Exception, match=r"more than 1000000 bytes|too big|too large"):
        limited_executor_for(url, ReplayLimits(result_bytes=1_000_000))(
            f"SELECT {wide} AS w FROM t"
        )
