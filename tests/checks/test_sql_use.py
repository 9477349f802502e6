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


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Hello!", "PASS"),
        ("I can't tell for 2024.", "PASS"),  # the question's own figure
        (None, "FAIL"),
        (" ", "FAIL"),
        ("It is 400,000.", "SKIP"),
        (400_000, "SKIP"),
    ],
)
def test_an_answer_without_sql_must_be_one_and_state_no_figures(answer, verdict):
    """Nothing could verify a figure for which no query ran."""
    trace = Trace.simple("Revenue in 2024?", answer=answer)
    assert evaluate(trace, Case(trace.question, sql="none")).verdict == verdict


def test_an_expected_answer_may_state_figures():
    """The case says what is right."""
    trace = Trace.simple("Opening hours?", answer="9 to 17")
    case = Case(trace.question, sql="none", expect={"answer": "9 to 17"})
    assert evaluate(trace, case).verdict == "PASS"


def test_a_hidden_answer_is_no_evidence():
    """It may state anything."""
    stage = Stage(
        "answer", output="x", meta={"observed": {"output": {"state": "masked", "why": "w"}}}
    )
    assert evaluate(Trace("Hi", [stage]), Case("Hi", sql="none")).verdict == "SKIP"


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ("No SQL is needed.", "FAIL"),
        ("From the manual I know it.", "FAIL"),
        ("SELECT 1", "PASS"),
        ("-- all\n(select 1)", "PASS"),
        ("```sql\nWITH x AS (SELECT 1) SELECT * FROM x\n```", "PASS"),
    ],
)
def test_required_sql_looks_like_a_statement(written, verdict):
    """Prose in the generate stage is none."""
    trace = Trace.simple("q", sql=written, answer="done")
    assert evaluate(trace, Case("q", sql="required")).verdict == verdict


def test_prose_in_the_generate_stage_is_no_sql():
    """An agent may say there that it wrote none."""
    trace = Trace.simple("Hi", sql="No SQL is needed.", answer="Hello!")
    assert evaluate(trace, Case("Hi", sql="none")).verdict == "PASS"
