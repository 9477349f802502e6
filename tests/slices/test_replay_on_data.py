"""Traces judged on a case's own data."""

from __future__ import annotations

import pytest

from dbagenteval import evaluate
from dbagenteval.cases import Case
from dbagenteval.scorecard import FAIL, SKIP
from dbagenteval.slices import dataset_executor, replay_on
from dbagenteval.traces import Stage, Trace

SCRIPT = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id INTEGER, status TEXT);
INSERT INTO orders VALUES (1, 1, 'paid'), (2, 1, 'open'), (3, 2, 'paid');
"""
RIGHT = "SELECT COUNT(*) FROM orders WHERE tenant_id = 1"
WRONG = "SELECT COUNT(*) AS n FROM orders"
CASE = Case("How many orders?", reference_sql=RIGHT)


@pytest.fixture
def data(tmp_path):
    """Three orders of two tenants."""
    path = tmp_path / "data.sql"
    path.write_text(SCRIPT)
    return dataset_executor(path)


def verdict(trace, data, case=CASE):
    """Judge a trace on the data."""
    return evaluate(replay_on(trace, data), case, execute=data)


def failed_of(card):
    """Give the results that failed."""
    return [result for result in card.results if result.status == FAIL]


def test_rows_of_production_are_replaced(data):
    """4711 orders in production are 2 here; right SQL passes, wrong SQL fails."""
    right = Trace.simple("How many orders?", answer="4711", sql=RIGHT, rows=[{"n": 4711}])
    wrong = Trace.simple("How many orders?", answer="9000", sql=WRONG, rows=[{"n": 9000}])
    assert verdict(right, data).verdict == "PASS"
    card = verdict(wrong, data)
    assert card.verdict == "FAIL"
    assert [result.check for result in failed_of(card)] == ["reference_rows"]
    assert right.stages[1].rows == [{"n": 4711}]


def test_sql_that_was_only_written_is_run_too(data):
    """An agent that hands over SQL and an answer is judged by its SQL, not by its numbers."""
    wrong = Trace.simple("How many orders?", answer="2", sql=WRONG)
    assert verdict(wrong, data).verdict == "FAIL"
    right = Trace("How many orders?", [Stage("generate", output=RIGHT)])
    assert verdict(right, data).verdict == "PASS"


def test_each_execution_gets_the_rows_of_its_own_sql(data):
    """The last one is the result."""
    trace = Trace(
        "How many orders?",
        [
            Stage("generate", "first", WRONG),
            Stage("execute", "run first", rows=[{"n": 1}]),
            Stage("generate", "second", RIGHT),
            Stage("execute", "run second", rows=[{"n": 1}]),
            Stage("answer", output="1"),
        ],
    )
    judged = replay_on(trace, data)
    assert [stage.rows for stage in judged.stages if stage.kind == "execute"] == [
        [{"n": 3}],
        [{"COUNT(*)": 2}],
    ]
    assert verdict(trace, data).verdict == "PASS"


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("DELETE FROM orders", "not run on the case's data: read_only"),
        ("SELECT COUNT(*) FROM shipments", "no such table: shipments"),
        ("SELECT COUNT( FROM orders", "does not parse"),
    ],
)
def test_sql_that_does_not_run_there_fails(data, sql, error):
    """With the database's words, or the rule's that refused it."""
    trace = Trace.simple("How many orders?", answer="2", sql=sql, rows=[{"n": 2}])
    card = verdict(trace, data)
    assert card.verdict == "FAIL"
    (failed,) = failed_of(card)
    assert (failed.check, failed.stage) == ("no_error", "execute")
    assert error in failed.detail


def test_an_error_of_production_is_no_error_here(data):
    """A timeout there says nothing of the SQL."""
    trace = Trace.simple("How many orders?", sql=RIGHT, error="timeout")
    assert verdict(trace, data).verdict == "PASS"


def test_sql_that_was_not_seen_is_no_evidence(data):
    """Then neither the recorded rows nor the answer's numbers are compared with the slice."""
    hidden = {"observed": {"output": {"state": "masked", "why": "the span hides it"}}}
    trace = Trace(
        "How many orders?",
        [
            Stage("generate", output="SELECT ***", meta=hidden),
            Stage("execute", rows=[{"n": 2}]),
            Stage("answer", output="There are 2 orders."),
        ],
    )
    card = verdict(trace, data)
    assert card.verdict == "SKIP"
    assert {result.reason for result in card.results if result.status == SKIP} == {"not_observed"}
