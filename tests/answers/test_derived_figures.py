"""NumbersGrounded(derived=True): computed figures pass and are explained, accidents do not."""

import random

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace

SHOP = [
    {"category": "Electronics", "orders": 60, "revenue": 8000.5},
    {"category": "Clothing", "orders": 30, "revenue": 2500.25},
    {"category": "Toys", "orders": 10, "revenue": 999.0},
]


def run(answer, rows, **options):
    options = {"derived": True, **options}
    return NumbersGrounded(**options).run(Trace.simple("q", answer=answer, rows=rows), Case("q"))


@pytest.mark.parametrize(
    ("answer", "rows", "told"),
    [
        ("The gap is 30.", [{"a": 60, "b": 30, "c": 1}, {"a": 5, "b": 7, "c": 9}], ""),
        ("It fell by 25.", [{"n": 60}, {"n": 35}], "25 = 60 - 35"),
        ("In total 95.", [{"n": 60}, {"n": 35}], "95 = 60 + 35"),
        ("On average 47.5.", [{"n": 60}, {"n": 35}], "47.5 = average"),
        ("5 of 47 were cancelled, 10.6%.", [{"a": 5, "b": 47}], "10.6% = 5 / 47"),
        ("It grew 25% from 1200 to 1500.", [{"a": 1200}, {"a": 1500}], "(1500 - 1200) / 1200"),
        ("Electronics has 6 times the orders of Toys.", SHOP, "6 = 60 / 10"),
        ("Electronics has 60% of the orders.", SHOP, ""),
        ("There are 2 distinct cities.", [{"c": "X"}, {"c": "Y"}, {"c": "X"}], "2 distinct"),
        ("There are 2 orders in Rome.", [{"c": "Rome"}, {"c": "Bari"}, {"c": "Rome"}], "'Rome'"),
        ("The median is 4.5.", [{"n": 1}, {"n": 3}, {"n": 6}, {"n": 90}], "median of n"),
    ],
)
def test_a_computed_figure_passes_with_its_computation(answer, rows, told):
    """Sums, differences, shares, ratios, averages, counts and changes are recognised."""
    result = run(answer, rows)
    assert result.status == "pass", result.detail
    assert told in result.detail


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("There are 17 products.", [{"n": 3}]),
        ("The total is 71.", [{"n": 40}, {"n": 30}]),
        ("That is 12.6 percent: 5 of 47.", [{"a": 5, "b": 47}]),
        ("There are 45 orders.", SHOP),
        ("There are 6 orders.", SHOP),
        ("Electronics has 7 times the orders of Toys.", SHOP),
        ("Revenue was 4,118.", [{"n": 312.4}]),
        ("184 + 59 = 233 in all.", [{"open": 184, "closed": 59}]),
        ("The average is 35.", SHOP),
    ],
)
def test_a_figure_that_no_named_computation_gives_fails(answer, rows):
    """A number near some combination of cells is no derived figure."""
    assert run(answer, rows).status == "fail"


def test_only_the_named_operations_count():
    """A list of operations accepts those and no other."""
    rows = [{"n": 60}, {"n": 35}]
    assert run("In total 95.", rows, derived=["sum"]).status == "pass"
    assert run("It fell by 25.", rows, derived=["sum"]).status == "fail"
    assert run("It fell by 25.", rows, derived="difference").status == "pass"


def test_a_failure_says_what_derived_would_accept():
    """The documented default fails own maths, and the detail offers the option."""
    result = run("The total is 70.", [{"n": 40}, {"n": 30}], derived=False)
    assert result.status == "fail"
    assert "derived=True accepts 70 = 40 + 30" in result.detail


@pytest.mark.parametrize(
    ("template", "most"),
    [
        ("There are {} orders.", 0.02),
        ("The total is {}.", 0.05),
        ("It is {} more than before.", 0.06),
        ("That is {}.{} percent.", 0.06),
    ],
)
def test_invented_figures_are_seldom_derived_by_accident(template, most):
    """Of random figures against random rows, nearly none passes as computed."""
    chance = random.Random(11)
    passed = 0
    for _ in range(400):
        rows = [
            {"name": f"n{i}", "a": chance.randrange(1, 1000), "b": chance.randrange(1, 1000)}
            for i in range(5)
        ]
        answer = template.format(chance.randrange(10, 99), chance.randrange(10))
        cells = {cell for row in rows for cell in row.values()}
        is_grounded = any(word.strip(".") in map(str, cells) for word in answer.split())
        passed += (
            run(answer, rows, derived=True, sources=["rows"]).status == "pass" and not is_grounded
        )
    assert passed / 400 <= most
