"""ClaimsGrounded: names, dates, superlatives, comparisons and trends agree with the rows."""

from datetime import date

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.traces import Stage, Trace

SALES = [
    {"category": "Electronics", "n": 40},
    {"category": "Toys", "n": 30},
    {"category": "Garden", "n": 20},
]
MONTHS = [{"month": "2024-01", "n": 120}, {"month": "2024-02", "n": 95}]


def run(answer, rows, question=""):
    return ClaimsGrounded().run(Trace.simple(question, answer=answer, rows=rows), Case("q"))


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("Electronics is the best category with 40.", SALES),
        ("- Electronics: 40\n- Toys: 30\n- Garden: 20", SALES),
        ("- Electronics: 40\n- Toys: 30\n- Total: 90", SALES),
        ("Electronics has more sales than Toys.", SALES),
        ("Toys has fewer sales than Electronics.", SALES),
        ("Toys has the second highest sales.", SALES),
        ("Am wenigsten verkaufte Garden, am meisten Electronics.", SALES),
        ("Sales fell from 120 to 95.", [{"a": 120, "b": 95}]),
        ("Sales fell.", MONTHS),
        ("Der Umsatz ist gesunken.", MONTHS),
        ("売上は減少しました。", MONTHS),
        ("No orders were found.", []),
        ("No orders were found.", [{"n": 0}]),
        ("The last order was on 14 June 2026.", [{"d": date(2026, 6, 14)}]),
        ("The last order was on June 14th.", [{"d": date(2026, 6, 14)}]),
    ],
)
def test_true_claims_pass(answer, rows):
    """A claim that the rows bear out passes."""
    result = run(answer, rows)
    assert result.status == "pass", result.detail


@pytest.mark.parametrize(
    ("answer", "rows", "told"),
    [
        ("The best category is Toys with 30.", SALES, "'Electronics' has 40"),
        ("The best category is Furniture.", SALES, "Furniture"),
        ("Furniture is the best category.", SALES, "Furniture"),
        ("- Electronics: 40\n- Toys: 30\n- Furniture: 20", SALES, "Furniture"),
        ("| c | n |\n|---|---|\n| Electronics | 40 |\n| Sofas | 30 |", SALES, "Sofas"),
        ("Toys has more sales than Electronics.", SALES, "n is 30 and 40"),
        ("The lowest is Toys.", SALES, "'Garden' has 20"),
        ("Die meisten Verkäufe hat Toys.", SALES, "'Electronics' has 40"),
        ("最も多いのはToysです。", SALES, "'Electronics' has 40"),
        ("Sales rose from 120 to 95.", [{"a": 120, "b": 95}], "from 120 to 95"),
        ("Sales rose.", MONTHS, "from 120 to 95"),
        ("Les ventes ont augmenté.", MONTHS, "from 120 to 95"),
        ("No orders were found.", [{"n": 5}], "nothing"),
        ("Es wurden keine Bestellungen gefunden.", [{"n": 5}], "nothing"),
        ("The last order was on 11 June 2026.", [{"d": date(2026, 6, 14)}], "2026-06-14"),
    ],
)
def test_false_claims_fail(answer, rows, told):
    """A claim that the rows contradict fails and shows the contradiction."""
    result = run(answer, rows)
    assert result.status == "fail", result.detail
    assert result.reason == "claim_contradicted"
    assert told in result.detail


@pytest.mark.parametrize(
    ("answer", "rows", "why"),
    [
        ("There are 5 orders.", [{"n": 5}], "no claim that the rows can be compared with"),
        ("Sales rose.", [{"n": 5}], "course of time"),
        ("As of 1 May 2024 there are 5.", [{"n": 5}], "the rows hold none"),
    ],
)
def test_it_abstains_where_the_rows_cannot_tell(answer, rows, why):
    """Without anything to compare, the check is skipped with the reason."""
    result = run(answer, rows)
    assert result.status == "skip"
    assert why in result.detail


def test_hidden_rows_are_skipped():
    """A claim about rows that were cut is not judged."""
    cut = {"observed": {"rows": {"state": "cut", "why": "limit"}}}
    stages = [Stage("execute", rows=SALES, meta=cut), Stage("answer", output="Toys is best.")]
    assert ClaimsGrounded().run(Trace("q", stages), Case("q")).status == "skip"


def test_a_name_of_the_question_or_the_sql_is_no_invention():
    """What the user asked about need not be in the rows."""
    rows = [{"name": "Ann", "n": 5}]
    assert run("For Reykjavik, it is Ann.", rows, "Who in Reykjavik?").status == "pass"
    trace = Trace.simple(
        "Who?", answer="In the city of Turin, it is Ann.", sql="… WHERE city = 'Turin'", rows=rows
    )
    assert ClaimsGrounded().run(trace, Case("q")).status == "pass"
