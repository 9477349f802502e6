"""Statements that ran reach the rules wherever they stand below tagged spans."""

from __future__ import annotations

import pytest

from dbagenteval.traces.samestatement import is_told_by, is_wrapped
from tests.traces.spans import span
from tests.traces.test_tagged import QUESTION, SQL, auto_tool, only, stage

DELETE = "DELETE FROM orders"
ROOT = span(1, QUESTION, for_ms=90)
ANSWER = span(9, stage("answer", output="47"), parent=1)


def database(number, parent, sql=DELETE, **fields):
    return span(number, {"db.query.text": sql}, parent=parent, **fields)


def statements(trace):
    return [
        (s.kind, s.output or s.meta.get("sql"))
        for s in trace.stages
        if s.kind in "generate execute"
    ]


def pair(sql):
    return [("generate", sql), ("execute", sql)]


def test_another_statement_below_a_tagged_execution_is_an_execution():
    """The span's own SELECT doesn't hide the DELETE that the driver saw below it."""
    trace = only(
        [
            ROOT,
            span(2, stage("execute", sql=SQL, rows='[{"n": 47}]'), parent=1, for_ms=5),
            database(3, 2, SQL),
            database(4, 2, status_code=2, status_message="denied"),
            ANSWER,
        ]
    )
    assert statements(trace) == pair(SQL) + pair(DELETE)
    assert [s.error for s in trace.stages if s.kind == "execute"] == [None, "denied"]
    assert trace.stage("execute").meta["span_ids"] == [f"{2:016x}", f"{3:016x}"]


def test_each_statement_below_an_execution_without_sql_is_seen():
    """Two statements below a bare execute span are two executions."""
    trace = only([ROOT, span(2, stage("execute"), parent=1), database(3, 2, SQL), database(4, 2)])
    assert statements(trace) == pair(SQL) + pair(DELETE)


@pytest.mark.parametrize("kind", ["answer", "generate", "route", "plan", "retrieve"])
def test_a_statement_below_any_tagged_stage_is_an_execution(kind):
    """What ran while another stage was at work ran all the same."""
    trace = only([ROOT, span(2, stage(kind, output="SELECT 1 AS a"), parent=1), database(3, 2)])
    assert set(pair(DELETE)) <= set(statements(trace))


@pytest.mark.parametrize("kind", ["answer", "route", "plan", "retrieve"])
def test_a_statement_on_a_tagged_span_of_another_kind_is_an_execution(kind):
    """`db.query.text` says that a statement ran, whatever stage it stands on."""
    trace = only([ROOT, span(2, stage(kind, output="x", sql=DELETE), parent=1)])
    assert statements(trace) == pair(DELETE)
    assert [s.output for s in trace.stages if s.kind == kind] == ["x"]


def test_a_statement_seen_at_both_levels_ran_once():
    """A driver's comment, limit and spaces make no second execution."""
    trace = only(
        [
            ROOT,
            span(2, stage("execute", sql=SQL, rows='[{"n": 47}]'), parent=1),
            database(3, 2, f"SELECT * FROM ({SQL}) AS t LIMIT 100 /* traceparent='x' */"),
        ]
    )
    assert statements(trace) == pair(SQL)


@pytest.mark.parametrize(
    "ran",
    [
        f"DELETE FROM orders; {SQL}",
        f"{SQL}; DELETE FROM orders",
        f"CREATE TABLE copy AS {SQL}",
        f"INSERT INTO counts {SQL}",
        f"{SQL} UNION SELECT password FROM users",
        f"{SQL}, salaries",
        f"{SQL}_of_others",
        f"SELECT * FROM ({SQL}) AS t, users",
        f"SELECT pg_sleep(9), n FROM ({SQL}) AS t",
    ],
)
def test_a_statement_with_more_around_it_is_another(ran):
    """What hides behind a known statement is told as what it is."""
    assert not is_wrapped(ran, SQL)
    trace = only(
        [ROOT, span(2, stage("execute", sql=SQL, rows="[]"), parent=1), database(3, 2, ran)]
    )
    assert ("generate", ran) in statements(trace)


def test_a_comment_tells_of_no_execution():
    """A statement that only a comment of another holds is not known."""
    assert not is_told_by(DELETE, f"{SQL} /* {DELETE} */")
    assert is_told_by(DELETE, f"{SQL}; {DELETE};")


def test_a_statement_that_ran_before_a_tool_is_an_attempt_of_its_own():
    """A tool that began later with the same SQL doesn't swallow what ran before it."""
    failed = database(2, 1, SQL, status_code=2, status_message="locked")
    trace = only([ROOT, failed, auto_tool(5, 1), database(6, 5, SQL)])
    assert statements(trace) == pair(SQL) * 2
    assert [s.error for s in trace.stages if s.kind == "execute"] == ["locked", None]


def missing(trace):
    return [(n["what"], n["stage"], n["state"]) for n in trace.meta["not_observed"]]


def test_a_statement_of_no_stage_is_noted():
    """A span of another role with a statement makes no stage; the trace says which ran unseen."""
    facts = {"openinference.span.kind": "TOOL", "tool.name": "audit", "db.query.text": DELETE}
    trace = only([ROOT, span(2, facts, parent=1), ANSWER])
    assert missing(trace) == [("statement", None, "not captured")]
    assert trace.meta["not_observed"][0]["why"].endswith(f"no rule saw it: {DELETE}")


def test_what_drivers_send_on_their_own_is_not_noted():
    """BEGIN and COMMIT around a statement are no statements of the agent."""
    spans = [database(2, 1, "BEGIN"), database(3, 1, SQL), database(4, 1, "COMMIT"), ANSWER]
    assert [n for n in missing(only([ROOT, *spans])) if n[0] == "statement"] == []


@pytest.mark.parametrize("tagged", [True, False])
def test_a_turn_with_executions_and_no_answer_says_so(tagged):
    """Answer checks must not pass over an answer that was never recorded."""
    run = span(2, stage("execute", sql=SQL, rows="[]"), parent=1) if tagged else database(2, 1, SQL)
    assert ("output", "answer", "not captured") in missing(only([ROOT, run]))
    assert ("output", "answer", "not captured") not in missing(only([ROOT, run, ANSWER]))


def test_a_turn_that_ended_in_an_error_lacks_no_answer():
    """An agent that failed at its statement has none to give."""
    failed = span(2, stage("execute", sql=SQL, error="no such table"), parent=1)
    assert missing(only([ROOT, failed])) == []


@pytest.mark.parametrize(
    "hidden",
    [
        "BEGIN; DELETE FROM orders; COMMIT",
        "SET x = 1; DELETE FROM orders",
        "DELETE FROM orders WHERE 1 IN (SELECT 1 FROM information_schema.tables)",
        "SELECT s.* FROM salaries s, information_schema.tables",
        "SELECT * FROM salaries JOIN pg_catalog.pg_class ON true",
        "SELECT 'sqlite_master', salary FROM salaries",
        "SELECT version(), password FROM users",
        "SELECT name FROM sqlite_master UNION SELECT mail FROM user_mails",
        "PRAGMA table_info(a); DROP TABLE orders",
    ],
)
def test_a_statement_that_looks_like_a_drivers_is_the_agents(hidden):
    """A word of the catalog or of a transaction hides no statement, on any level."""
    for parent in (1, 9):
        trace = only([ROOT, ANSWER, database(10, parent, hidden)])
        assert ("generate", hidden) in statements(trace)
