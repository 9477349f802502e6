"""Derived figures go with the names, the direction and the statistic that they stand with."""

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace

SHARES = [{"s": "Alpha", "n": 420}, {"s": "Beta", "n": 430}, {"s": "Gamma", "n": 40}]
RISE = [{"month": "January", "n": 100}, {"month": "February", "n": 110}]
BY_DATE = [{"month": "2024-02", "n": 110}, {"month": "2024-01", "n": 100}]


def numbers(answer, rows, **options):
    options = {"derived": True, "pairing": True, **options}
    return NumbersGrounded(**options).run(Trace.simple("q", answer=answer, rows=rows), Case("q"))


def claims(answer, rows):
    return ClaimsGrounded().run(Trace.simple("q", answer=answer, rows=rows), Case("q"))


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("- Alpha: 4.5%\n- Beta: 47.2%\n- Gamma: 48.3%", SHARES),
        ("Alpha has 4.5%, Beta 47.2% and Gamma 48.3%.", SHARES),
        ("| s | share |\n|---|---|\n| Alpha | 48.3% |\n| Beta | 47.2% |", SHARES),
        ("**Alpha**\n- share: 48.3%\n\n**Beta**\n- share: 47.2%", SHARES),
        ("Gamma accounts for 48.3% of all orders.", SHARES),
        ("Alpha is 10 ahead of Beta.", SHARES),
        ("Beta is 10 behind Alpha.", SHARES),
        ("Alpha leads Gamma by 10.", SHARES),
        ("The median is 296.67.", SHARES),
        ("The average is 890.", SHARES),
        ("The total is 296.67.", SHARES),
        ("Sales fell by 10% from January to February.", RISE),
        ("Sales fell by 9.1% from January to February.", RISE),
        ("Sales fell by 10 from January to February.", RISE),
        ("Sales rose by 10% from February to January.", RISE),
        ("Sales fell by 10%.", RISE),
        ("Sales fell by 9.1%.", BY_DATE),
        ("Sales fell by 10.", BY_DATE),
    ],
)
def test_a_figure_at_the_wrong_name_direction_or_statistic_fails(answer, rows):
    """The computation exists, but it is not what the sentence says."""
    result = numbers(answer, rows)
    assert result.status == "fail", result.detail


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("- Alpha: 47.2%\n- Beta: 48.3%\n- Gamma: 4.5%", SHARES),
        ("Alpha has 47.2%, Beta 48.3% and Gamma 4.5%.", SHARES),
        ("| s | share |\n|---|---|\n| Alpha | 47.2% |\n| Beta | 48.3% |", SHARES),
        ("**Alpha**\n- share: 47.2%\n\n**Beta**\n- share: 48.3%", SHARES),
        ("Gamma accounts for 4.5% of all orders.", SHARES),
        ("Alpha and Beta together have 95.5% of the total.", SHARES),
        ("Beta is 10 ahead of Alpha.", SHARES),
        ("Alpha is 10 behind Beta.", SHARES),
        ("Beta leads Gamma by 390.", SHARES),
        ("The average is 296.67, the total 890.", SHARES),
        ("On average, a seller sold 296.67.", SHARES),
        ("Sales rose by 10% from January to February.", RISE),
        ("Sales rose by 10 from January to February.", RISE),
        ("Sales grew by 10%.", RISE),
        ("Sales grew by 10%.", BY_DATE),
        ("Sales grew by 10.", BY_DATE),
    ],
)
def test_a_figure_at_its_name_direction_and_statistic_passes(answer, rows):
    """What the sentence says is what was computed."""
    result = numbers(answer, rows)
    assert result.status == "pass", result.detail


@pytest.mark.parametrize(
    ("answer", "rows", "status"),
    [
        ("Sales fell from January to February.", RISE, "fail"),
        ("Sales fell by 10% from January to February.", RISE, "fail"),
        ("Sales rose by 10% from January to February.", RISE, "pass"),
        ("Sales rose from February to January.", RISE, "fail"),
        ("Sales fell.", RISE, "fail"),
        ("Sales rose.", RISE, "pass"),
        ("Alpha is ahead of Beta.", SHARES, "fail"),
        ("Beta is ahead of Alpha.", SHARES, "pass"),
        ("Gamma is behind Alpha.", SHARES, "pass"),
        ("Gamma outsold Alpha.", SHARES, "fail"),
    ],
)
def test_a_direction_between_two_names_is_a_claim(answer, rows, status):
    """ClaimsGrounded holds it against the rows of both names."""
    result = claims(answer, rows)
    assert result.status == status, result.detail
