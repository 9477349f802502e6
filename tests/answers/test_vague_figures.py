"""Figures in vague words are read where they have a value, else the detail says they weren't."""

from itertools import pairwise

import pytest

from dbagenteval.answers import read_figures
from dbagenteval.cases import Case
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace


def run(answer, rows, **options):
    trace = Trace.simple("How many orders?", answer=answer, rows=rows)
    return NumbersGrounded(**options).run(trace, Case("q"))


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("We have a million orders.", [{"n": 42}]),
        ("A hundred orders were delivered.", [{"n": 42}]),
        ("Half a million orders.", [{"n": 1_000_000}]),
        ("Total: forty-three", [{"n": 42}]),
        ("There are a hundred and twenty orders.", [{"n": 100}]),
    ],
)
def test_a_number_in_words_that_is_not_in_the_rows_fails(answer, rows):
    """A million is a number."""
    assert run(answer, rows).status == "fail"


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("We have a million orders.", [{"n": 1_000_000}]),
        ("About a hundred orders.", [{"n": 98}]),
        ("Half a million orders.", [{"n": 510_000}]),
        ("Total: forty-two", [{"n": 42}]),
        ("There are a hundred and twenty orders.", [{"n": 120}]),
    ],
)
def test_a_number_in_words_that_is_in_the_rows_passes(answer, rows):
    """It stands for what `1 million` stands for."""
    result = run(answer, rows)
    assert result.status == "pass", result.detail


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("Two thirds of customers churned.", "Two thirds of"),
        ("About half of the orders were returned.", "half of"),
        ("There are millions of orders.", "millions of"),
        ("The order count doubled.", "doubled"),
        ("Orders: #43", "#43"),
    ],
)
def test_a_vague_figure_is_named_in_the_detail(answer, word):
    """A pass does not vouch for it."""
    result = run(answer, [{"n": 42, "m": 2}])
    assert result.status == "pass"
    assert f"'{word}' is a vague figure that was not checked" in result.detail


@pytest.mark.parametrize("answer", ["#1 is Ann, #2 is Bo.", "Ann has 2.", "The first is Ann."])
def test_ranks_and_plain_numbers_are_not_vague(answer):
    """Nothing is said of a rank that the rows can have."""
    assert "vague" not in run(answer, [{"name": "Ann", "n": 2}, {"name": "Bo", "n": 1}]).detail


def test_a_fraction_that_was_computed_is_not_vague():
    """With derived=True `half of` rests on two cells."""
    result = run("Half of the 84 orders, 42, were returned.", [{"a": 84, "b": 42}], derived=True)
    assert "vague" not in result.detail


@pytest.mark.parametrize("answer", ["1-½ cups", "5–½%", "5 to ¾ of 42", "http://x.y/1```sql"])
def test_odd_neighbours_break_nothing(answer):
    """A range that ends in a fraction sign, and a link that runs into quoted SQL, are read."""
    figures = read_figures(answer)
    for before, after in pairwise(figures):
        assert before.end <= after.start
    assert run(answer, [{"n": 42}]).status in ("pass", "fail")
