"""What a case expects and nobody could check does not pass by other checks."""

import pytest

from dbagenteval import Case, Stage, Trace, evaluate
from dbagenteval.report import render_card
from dbagenteval.rules import ReadOnly
from dbagenteval.suite.gate import Gate, Score

MASKED_ROWS = {"observed": {"rows": {"state": "masked", "why": "policy"}}}
MASKED_OUTPUT = {"observed": {"output": {"state": "masked", "why": "policy"}}}
SQL = Stage("generate", output="SELECT COUNT(*) AS n FROM o")
HIDDEN = Trace("q", [SQL, Stage("execute", meta=MASKED_ROWS)])
REFERENCE = Case("q", reference_sql="S")
ROWS = Case("q", expect={"rows": [{"n": 42}]})


def card_of(trace: Trace, case: Case):
    return evaluate(trace, case, rules=[ReadOnly()], execute=lambda sql: [{"n": 42}])


@pytest.mark.parametrize("case", [REFERENCE, ROWS, Case("q", expect=ROWS.expect, sql="required")])
def test_hidden_rows_leave_the_case_a_skip(case: Case) -> None:
    """Though `read_only` passes."""
    assert card_of(HIDDEN, case).verdict == "SKIP"


def test_a_hidden_stage_that_is_expected_leaves_the_case_a_skip() -> None:
    """Another expectation of the case that is met does not stand for it."""
    route = Stage("route", output="?", meta=MASKED_OUTPUT)
    trace = Trace("q", [route, SQL, Stage("execute", rows=[{"n": 42}])])
    case = Case("q", expect={"rows": [{"n": 42}], "route": "data"})
    assert card_of(trace, case).verdict == "SKIP"


def test_the_answer_stands_for_hidden_rows() -> None:
    """The reference was checked after all."""
    trace = Trace("q", [*HIDDEN.stages, Stage("answer", output="There are 42.")])
    assert card_of(trace, REFERENCE).verdict == "PASS"


def test_a_failure_stays_a_failure() -> None:
    """Rows that an error left out are skipped, the error is not."""
    trace = Trace.simple("q", sql="SELECT 1", error="boom")
    assert card_of(trace, ROWS).verdict == "FAIL"


def test_a_gate_that_allows_hidden_evidence_waives_it() -> None:
    """Only where something else was checked."""
    score, blind = Score(), Score()
    score.add(card_of(HIDDEN, REFERENCE), matched=True)
    blind.add(evaluate(HIDDEN, ROWS), matched=True)
    waive = Gate(allow_skipped=True)
    assert score.problems(waive) == []
    assert score.problems(Gate()) == [
        "1 of 1 scored trace(s) did not pass",
        "1 check(s) had no evidence",
    ]
    assert blind.problems(waive) == ["1 of 1 scored trace(s) did not pass"]


def test_the_line_of_a_skip_says_what_was_not_checked() -> None:
    """And why."""
    text = render_card(card_of(HIDDEN, REFERENCE))
    assert text == "SKIP  q\n      execute / reference_rows: rows masked: policy"
