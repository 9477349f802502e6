"""Answers that were not seen, or are no text, pass nothing."""

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.evidence import NOT_OBSERVED
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.evaluation import try_evaluate
from dbagenteval.scorecard import UNVERIFIED
from dbagenteval.traces import Stage, Trace

ROWS = [{"n": 42}]
QUERIED = [Stage("generate", output="SELECT 1"), Stage("execute", rows=ROWS)]


def trace_with(output):
    return Trace("q", [*QUERIED, Stage("answer", output=output)])


@pytest.mark.parametrize("check", [NumbersGrounded(), ClaimsGrounded()])
@pytest.mark.parametrize("output", [99, 0, 42.0, True, {"text": "99 orders"}, ["99 orders"]])
def test_an_answer_that_is_no_text_is_unverified(check, output):
    """The skip has the documented detail, and the card is no pass."""
    result = check.run(trace_with(output), Case("q"))
    assert (result.status, result.reason) == ("skip", UNVERIFIED)
    assert result.detail == "no answer text"
    card = try_evaluate(trace_with(output), Case("q", expect={"rows": ROWS}), rules=[check])
    assert card.verdict == "SKIP"


@pytest.mark.parametrize("output", [None, "", "  ", {}, []])
def test_an_empty_answer_is_skipped_as_documented(output):
    """Nothing was said, so nothing is left unverified."""
    result = NumbersGrounded().run(trace_with(output), Case("q"))
    assert (result.status, result.reason, result.detail) == ("skip", "", "no answer text")


def test_spans_that_hold_queries_but_no_answer_are_missing_evidence():
    """A trace made from spans saw only a part; a live one without an answer has none."""
    seen = Trace("q", list(QUERIED), meta={"not_observed": []})
    result = NumbersGrounded().run(seen, Case("q"))
    assert (result.status, result.reason) == ("skip", NOT_OBSERVED)
    live = NumbersGrounded().run(Trace("q", list(QUERIED)), Case("q"))
    assert (live.status, live.reason, live.detail) == ("skip", "", "no answer text")
    no_query = Trace("q", [Stage("route", output="talk")], meta={"not_observed": []})
    assert NumbersGrounded().run(no_query, Case("q")).reason == ""


def test_a_masked_answer_is_missing_evidence():
    """Its skip has the reason that is counted as such."""
    masked = {"observed": {"output": {"state": "masked", "why": "policy"}}}
    trace = Trace("q", [*QUERIED, Stage("answer", output="x", meta=masked)])
    result = NumbersGrounded().run(trace, Case("q"))
    assert (result.status, result.reason) == ("skip", NOT_OBSERVED)
