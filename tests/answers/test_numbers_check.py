"""NumbersGrounded: evidence, stages, options and published behaviour."""

from datetime import date
from decimal import Decimal

import pytest

from dbagenteval.answers import SOURCES
from dbagenteval.cases import Case
from dbagenteval.checks.numbers import (
    NumbersGrounded,
    reference_numbers,
    states_value,
    ungrounded_numbers,
)
from dbagenteval.traces import Stage, Trace

CASE = Case("q")


def run(answer, rows, question="", **options):
    trace = Trace.simple(question, answer=answer, rows=rows)
    return NumbersGrounded(**options).run(trace, CASE)


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("We sold $1,234.50 worth.", [{"n": 1234.5}]),
        ("The rate is 45%.", [{"rate": 0.45}]),
        ("The rate is 45 percent.", [{"n": 45}]),
        ("The rate is 45 %.", [{"n": 45}]),
        ("There are 1,23,456 users.", [{"n": 123456}]),
        ("The rate is .75.", [{"n": 0.75}]),
        ("It costs Rs.15.", [{"n": 15}]),
        ("Stores 3, 4.", [{"a": 3, "b": 4}]),
        ("It is 2.67.", [{"n": 2.665}]),
        ("There are 1.2k.", [{"n": 1200}]),
        ("There are 1.5 million.", [{"n": 1500000}]),
        ("There are 2 lakh.", [{"n": 200000}]),
        ("1. Ann\n2. Bo", [{"name": "Ann"}, {"name": "Bo"}, {"name": "Cy"}]),
        ("There are 3 of them.", [{"name": "Ann"}, {"name": "Bo"}, {"name": "Cy"}]),
        ("Order 1042 was placed on 1 September 2026.", [{"o": "ORD-1042", "d": "2026-09-01"}]),
        ("It is 12.5.", [{"n": "12.50"}]),
        ("It is 12.5.", [{"n": Decimal("12.50")}]),
    ],
)
def test_grounded_numbers_pass(answer, rows):
    """Figures in any usual form are found in the rows."""
    assert run(answer, rows).status == "pass"


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("17. That is all.", "17"),
        ("17) That is all.", "17"),
        ("It costs Rs.99999.", "99999"),
        ("It costs USD99999.", "99999"),
        ("It is No.99999.", "99999"),
        ("It is x99999.", "99999"),
        ("It is .75.", ".75"),
        ("There are 15k.", "15k"),
        ("There are 15 million.", "15 million"),
        ("It costs $1.5M.", "1.5M"),
    ],
)
def test_glued_and_scaled_numbers_are_checked(answer, named):
    """A number is a claim however it is glued, and is not the number without its scale."""
    result = run(answer, [{"a": 15, "b": 1.5}, {"a": 15, "b": 1.5}])
    assert result.status == "fail"
    assert repr(named) in result.detail


def test_an_invented_number_fails_and_is_named():
    """A number that is nowhere fails the answer."""
    result = run("There are 17 orders.", [{"n": 3}])
    assert (result.status, result.reason) == ("fail", "ungrounded_numbers")
    assert result.detail == "not in the result rows: ['17']"
    assert result.evidence["figures"] == [{"text": "17", "fate": "ungrounded"}]


def test_empty_rows_allow_no_figure_but_zero():
    """Without rows only their count, 0, and numbers of the question are grounded."""
    assert run("No orders.", []).status == "pass"
    assert run("There are 0 orders.", []).status == "pass"
    assert run("There are 3 orders.", []).status == "fail"
    assert run("There are no orders above 3.", [], question="Above 3?").status == "pass"


@pytest.mark.parametrize("output", [None, "", "   ", ["text"], 5])
def test_no_answer_text_is_skipped(output):
    """Without an answer's text there is nothing to check."""
    trace = Trace("q", [Stage("execute", rows=[{"n": 1}]), Stage("answer", output=output)])
    result = NumbersGrounded().run(trace, CASE)
    assert (result.status, result.detail) == ("skip", "no answer text")


def test_no_query_is_skipped():
    """Without a query there is nothing to ground an answer in."""
    trace = Trace("q", [Stage("answer", output="There are 3.")])
    result = NumbersGrounded().run(trace, CASE)
    assert (result.status, result.detail) == ("skip", "no query result to ground the answer in")


def test_a_mistyped_answer_stage_fails():
    """A stage name that isn't there fails, unless the trace has no answer at all."""
    trace = Trace.simple("q", answer="3", rows=[{"n": 3}])
    result = NumbersGrounded(stage="answr").run(trace, CASE)
    assert result.status == "fail"
    assert result.detail == "stage 'answr' is not in the trace (found ['answer'])"
    bare = Trace.simple("q", rows=[{"n": 3}])
    assert NumbersGrounded(stage="answr").run(bare, CASE).status == "skip"


@pytest.mark.parametrize("state", ["cut", "masked", "unparseable", "not captured"])
def test_rows_that_were_not_seen_are_no_evidence(state):
    """Hidden rows give a skip with the reason, never a verdict."""
    seen = {"observed": {"rows": {"state": state, "why": "OTEL limit 1000"}}}
    rows = None if state == "not captured" else [{"n": 3}]
    stages = [Stage("execute", rows=rows, meta=seen), Stage("answer", output="There are 3.")]
    result = NumbersGrounded().run(Trace("q", stages), CASE)
    assert result.status == "skip"
    assert state in result.detail
    assert "OTEL limit 1000" in result.detail


def test_a_masked_answer_is_no_evidence():
    """A masked answer is skipped with the reason."""
    seen = {"observed": {"output": {"state": "masked", "why": "redacted"}}}
    stages = [Stage("execute", rows=[{"n": 3}]), Stage("answer", output="4", meta=seen)]
    result = NumbersGrounded().run(Trace("q", stages), CASE)
    assert result.status == "skip"
    assert "redacted" in result.detail


def executions(*results, answer):
    stages = [Stage("execute", f"e{number}", **one) for number, one in enumerate(results)]
    return Trace("q", [*stages, Stage("answer", output=answer)])


def test_numbers_of_two_queries_are_grounded():
    """By default the rows of all successful queries count, and the detail tells which."""
    trace = executions({"rows": [{"n": 120}]}, {"rows": [{"n": 95}]}, answer="From 120 to 95.")
    result = NumbersGrounded().run(trace, CASE)
    assert result.status == "pass"
    assert "'120' is in the rows of an earlier query" in result.detail
    assert NumbersGrounded(executions="last").run(trace, CASE).status == "fail"


def test_a_number_that_hidden_rows_may_hold_is_skipped():
    """An ungrounded number is no fault while an earlier result was not seen."""
    hidden = {"rows": None, "meta": {"observed": {"rows": {"state": "cut", "why": "10 rows"}}}}
    trace = executions(hidden, {"rows": [{"n": 95}]}, answer="From 120 to 95.")
    assert NumbersGrounded().run(trace, CASE).status == "skip"
    trace = executions(hidden, {"rows": [{"n": 95}]}, answer="It is 95.")
    assert NumbersGrounded().run(trace, CASE).status == "pass"


def test_a_failed_query_hides_nothing():
    """A query that failed gave no rows; the answer rests on the one that worked."""
    trace = executions({"error": "no such column"}, {"rows": [{"n": 95}]}, answer="It is 96.")
    assert NumbersGrounded().run(trace, CASE).status == "fail"
    trace = executions({"rows": [{"n": 95}]}, {"error": "no such column"}, answer="It is 95.")
    assert NumbersGrounded().run(trace, CASE).status == "pass"


@pytest.mark.parametrize(
    "options",
    [
        {"derived": ["product"]},
        {"sources": ["cells"]},
        {"executions": "first"},
        {"locale": "xx_nowhere"},
    ],
)
def test_unknown_options_are_refused(options):
    """A mistyped option is an error at once, with what is allowed."""
    with pytest.raises(ValueError, match=r"allowed|expected"):
        NumbersGrounded(**options)


def test_each_source_can_be_left_out():
    """A figure that rests on one source fails when that source doesn't count."""
    rows = [{"code": "A-17", "day": date(2024, 5, 6), "n": 3}, {"code": "B-1", "day": None, "n": 4}]
    grounded_by = {
        "rows": "There are 3.",
        "row_count": "There are 2.",
        "question": "There are 99.",
        "text": "There are 17.",
        "dates": "There are 6.",
    }
    for source, answer in grounded_by.items():
        others = [name for name in SOURCES if name != source]
        assert run(answer, rows, "Are there 99?").status == "pass"
        assert run(answer, rows, "Are there 99?", sources=others).status == "fail"


def test_the_sql_grounds_years_only():
    """A year that the query filters by is no invention; its LIMIT is no fact."""
    sql = "SELECT SUM(x) FROM s WHERE day >= '2024-01-01' LIMIT 10"
    rows = [{"day": date(2023, 1, 1), "n": 500}]
    trace = Trace.simple("Sales?", answer="Sales in 2024 were 500.", sql=sql, rows=rows)
    assert NumbersGrounded().run(trace, CASE).status == "pass"
    others = [name for name in SOURCES if name != "sql"]
    assert NumbersGrounded(sources=others).run(trace, CASE).status == "fail"
    trace = Trace.simple("Sales?", answer="There were 10.", sql=sql, rows=rows)
    assert NumbersGrounded().run(trace, CASE).status == "fail"


def test_rounding_can_be_limited():
    """1 million may stand for 1,490,000 as printed; rounding=0.05 says that it does not."""
    rows = [{"n": 1_490_000}]
    result = run("There are 1 million.", rows)
    assert result.status == "pass"
    assert "33% off" in result.detail
    assert run("There are 1 million.", rows, rounding=0.05).status == "fail"
    assert run("There are 1 million.", [{"n": 1_010_000}], rounding=0.05).status == "pass"


def test_signs_can_be_compared():
    """signs=True ties -500 to a cell below zero; a loss of 500 may be one too."""
    assert run("Profit was -500.", [{"n": -500}], signs=True).status == "pass"
    assert run("Profit was -$500.", [{"n": 500}], signs=True).status == "fail"
    assert run("A loss of 500.", [{"n": -500}], signs=True).status == "pass"
    assert run("It changed by +500.", [{"n": -500}], signs=True).status == "fail"


def test_extreme_cells_do_no_harm():
    """Cells too large to print are passed over."""
    rows = [
        {"a": 10**5000, "b": Decimal("9E+999999"), "c": float("nan"), "d": float("inf"), "e": 3},
        {"a": None, "b": Decimal("sNaN"), "c": [1, 2], "d": {"x": 1}, "e": True},
    ]
    assert run("It is 3.", rows).status == "pass"
    assert run("It is 4.", rows).status == "fail"
    assert reference_numbers("It is 4.", "", [{"n": 10**5000}])[0] == "fail"


def test_a_locale_settles_an_ambiguous_figure():
    """1.234 is a thousand and more in German, and not in English."""
    rows = [{"n": 1234}]
    assert run("Es sind 1.234 Kunden.", rows, locale="de").status == "pass"
    assert run("There are 1.234 customers.", rows, locale="en").status == "fail"
    assert run("Es sind 1.234 Kunden.", [{"n": 1.234}], locale="de").status == "fail"


def test_ungrounded_numbers_lists_them():
    """The function gives the figures as printed."""
    assert ungrounded_numbers("5 and 1.2 bn of 7", "Is it 7?", [{"n": 5}]) == ["1.2 bn"]


@pytest.mark.parametrize(
    ("answer", "value", "states"),
    [
        ("There are 3.", 3, True),
        ("There are 4.", 3, False),
        ("It is 45%.", 0.45, True),
        ("It is in Berlin.", "Berlin", True),
        ("It is in Berlin's centre.", "Berlin", True),
        ("Berliner", "Berl", False),
        ("Zürichに住んでいます", "Zürich", True),
        ("true", True, True),
        ("Yes, it is.", True, True),
        ("No, it is not.", True, False),
        ("No.", False, True),
        ("None", None, False),
        ("The last was on May 6, 2024.", date(2024, 5, 6), True),
        ("The last was on May 7, 2024.", date(2024, 5, 6), False),
        ("The last was on 2024-05-06.", "2024-05-06", True),
        ("There are no orders.", 0, True),
        ("A customer has it.", "A", False),
        ("The grade is A.", "A", True),
    ],
)
def test_states_value(answer, value, states):
    """An answer states a value as a number, a whole word, a date or yes and no."""
    assert states_value(answer, value) is states


@pytest.mark.parametrize(
    ("answer", "rows", "status", "detail"),
    [
        ("There are 3.", [{"n": 3}], "pass", ""),
        ("There are 4.", [{"n": 3}], "fail", "not in the reference result: ['4']"),
        ("Many.", [{"n": 3}], "fail", "the answer does not state the reference value 3"),
        (
            "Many.",
            [{"n": 3}, {"n": 4}],
            "fail",
            "the answer states no value from the reference result",
        ),
        ("Ann has 3.", [{"k": "Ann", "n": 3}, {"k": "Bo", "n": 4}], "pass", ""),
        ("No orders were found.", [], "pass", ""),
        ("There is no value.", [{"n": None}], "pass", ""),
        ("Sorry, I can't help.", [], "fail", "the reference result has no value"),
    ],
)
def test_reference_numbers(answer, rows, status, detail):
    """The answer must state the reference; a part of several values is enough."""
    found = reference_numbers(answer, "", rows)
    assert found[0] == status
    assert found[1].startswith(detail)
