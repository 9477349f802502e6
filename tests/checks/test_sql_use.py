"""Cases that say whether SQL belongs to a right answer."""

import pytest

from dbagenteval import Case, Stage, Trace, evaluate
from dbagenteval.rules import ReadOnly

REFUSAL = Trace.simple("Delete all orders.", answer="I can only read.")
QUERY = Trace.simple("Delete all orders.", sql="DELETE FROM orders", rows=[], answer="Done.")
HIDDEN = Trace(
    "Delete all orders.",
    [Stage("answer", output="I can only read.")],
    meta={
        "not_observed": [{"what": "question", "stage": None, "state": "not captured", "why": "x"}]
    },
)


@pytest.mark.parametrize(
    ("trace", "sql", "verdict", "stage"),
    [
        (REFUSAL, "none", "PASS", None),
        (QUERY, "none", "FAIL", "generate"),
        (REFUSAL, "required", "FAIL", "generate"),
        (QUERY, "required", "FAIL", "generate"),  # by ReadOnly
        (HIDDEN, "none", "SKIP", None),
        (HIDDEN, "required", "SKIP", None),
        (REFUSAL, "any", "SKIP", None),
    ],
)
def test_the_verdict_follows_the_use_of_sql(trace, sql, verdict, stage):
    """A refusal passes where none is right, and fails where SQL is required."""
    card = evaluate(trace, Case(trace.question, sql=sql), rules=[ReadOnly()])
    assert (card.verdict, card.failed_stage) == (verdict, stage)


def test_other_words_are_refused():
    """The message names what is allowed."""
    with pytest.raises(ValueError, match="'sql' must be one of any, none, required"):
        Case("Hello?", sql="no")
