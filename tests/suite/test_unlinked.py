"""Which turn of a service answers a question when its spans don't continue the request's trace."""

import pytest

from dbagenteval.otlp import Link
from dbagenteval.suite.span_source import CallContext
from dbagenteval.suite.unlinked import AmbiguousSpans, find_turn
from tests.traces.spans import one_trace, span

SQL = "SELECT COUNT(*) AS n FROM orders"
CALL = CallContext.new("case-1", "session-1", "How many orders?")


def turn(number: int, question: str = "", **fields):
    """Give the spans of a turn in a trace of its own: an agent and the statement it ran."""
    trace_id = f"{number:032x}"
    facts = {"openinference.span.kind": "AGENT", "output.value": "47", **fields.pop("facts", {})}
    if question:
        facts["input.value"] = question
    ran = {"db.system": "sqlite", "db.statement": SQL}
    return (
        span(number * 10, facts, trace_id=trace_id, for_ms=5, **fields),
        span(number * 10 + 1, ran, trace_id=trace_id, parent=number * 10),
    )


OTHER = turn(2, "Which customers?")


@pytest.mark.parametrize(
    ("fields", "by"),
    [
        ({"links": (Link(CALL.trace_id, CALL.span_id),)}, "link"),
        ({"facts": {"dbagenteval.case.id": "case-1"}}, "case id"),
        ({"facts": {"session.id": "session-1"}}, "session id"),
        ({"question": "Answer briefly.\nHow many  orders?"}, "question"),
    ],
)
@pytest.mark.parametrize("is_alone", [True, False])
def test_one_sign_tells_the_turn_among_others(fields, by, is_alone):
    """Also while other questions are asked; the Trace says which sign it was."""
    found = find_turn(CALL, one_trace(*turn(1, **fields), *OTHER), is_alone=is_alone)
    assert found.meta["trace_ids"] == [f"{1:032x}"]
    assert found.meta["joined"] == [{"trace_id": f"{1:032x}", "by": f"{by} of the request"}]
    assert found.stage("execute").meta["sql"] == SQL


def test_the_only_turn_of_its_time_is_the_questions():
    """Where the spans tell no question and no other question is asked at the same time."""
    found = find_turn(CALL, one_trace(*turn(1)), is_alone=True)
    assert found.meta["joined"] == [{"trace_id": f"{1:032x}", "by": "time of the request"}]


def test_a_weaker_sign_decides_between_turns_that_a_stronger_one_fits():
    """Two turns of the case's session: the text of the question tells which it is."""
    session = {"session.id": "session-1"}
    spans = (*turn(1, "How many orders?", facts=session), *turn(2, "And?", facts=session))
    assert find_turn(CALL, one_trace(*spans), is_alone=False).question == "How many orders?"


@pytest.mark.parametrize(
    ("spans", "is_alone", "reason"),
    [
        ((*turn(1), *turn(2)), True, "2 turns came in its time"),
        (turn(1), False, "several questions are asked at once"),
        (OTHER, True, "the one turn that came asks 'Which customers\\?'"),
        (
            (*turn(1, "How many orders?"), *turn(2, "How many orders?")),
            False,
            "2 turns fit it by their question",
        ),
    ],
)
def test_what_is_not_certain_is_an_error_with_the_reason(spans, is_alone, reason):
    """A wrong turn would be worse than none."""
    with pytest.raises(AmbiguousSpans, match=reason):
        find_turn(CALL, one_trace(*spans), is_alone=is_alone)


def test_requests_that_are_no_turns_are_passed_over():
    """Health checks and the like come at the same time."""
    health = span(90, {"http.route": "/health"}, kind=2, trace_id="9" * 32)
    assert find_turn(CALL, one_trace(health), is_alone=True) is None
    assert find_turn(CALL, one_trace(health, *turn(1)), is_alone=True) is not None
