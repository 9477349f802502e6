"""NumbersGrounded(pairing=True): a number belongs to the name that the rows have it at."""

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace

SALES = [{"name": "Ann", "n": 30}, {"name": "Bo", "n": 20}, {"name": "Cy", "n": 10}]
WIDE = [
    {"region": "North", "product": "Tent", "n": 7},
    {"region": "North", "product": "Lamp", "n": 9},
    {"region": "South", "product": "Tent", "n": 4},
]
TWO_MEASURES = [
    {"item": "Tent", "price": 190, "sold": 3},
    {"item": "Lamp", "price": 20, "sold": 50},
]


def run(answer, rows, question="q", **options):
    options = {"pairing": True, **options}
    trace = Trace.simple(question, answer=answer, rows=rows)
    return NumbersGrounded(**options).run(trace, Case("q"))


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("Ann sold 30 and Bo sold 20.", SALES),
        ("30 were sold by Ann and 20 by Bo.", SALES),
        ("Ann, Bo and Cy sold 30, 20 and 10 respectively.", SALES),
        ("Ann (30), Bo (20), Cy (10)", SALES),
        ("- Ann: 30\n- Bo: 20\n- Cy: 10", SALES),
        ("| name | n |\n|---|---|\n| Ann | 30 |\n| Bo | 20 |", SALES),
        ("|  | Ann | Bo |\n|---|---|---|\n| sold | 30 | 20 |", SALES),
        ("**Ann**\n- sold: 30\n\n**Bo**\n- sold: 20", SALES),
        ("There are 3 sellers; Ann leads with 30.", SALES),
        ("Ann sold 30, 10 more than Bo's 20.", SALES),
        ("Ann hat 30 verkauft, Bo nur 20.", SALES),
        ("Annは30、Boは20です。", SALES),
        ("North sold 7 Tents and 9 Lamps.", WIDE),
        ("In the North, Tent sold 7 and Lamp 9; in the South, Tent sold 4.", WIDE),
        ("The most expensive is the Tent at 190; it sold 3.", TWO_MEASURES),
        ("The best seller is the Lamp with 50 sold.", TWO_MEASURES),
        ("The second highest is Bo with 20.", SALES),
        ("The lowest is Cy with 10.", SALES),
        ("Bo is one of the best with 20.", SALES),
        ("Nobody sold more than 30.", SALES),
    ],
)
def test_numbers_at_their_names_pass(answer, rows):
    """Every natural way to tie numbers to names is understood."""
    result = run(answer, rows)
    assert result.status == "pass", result.detail
    assert "stands at" not in result.detail


@pytest.mark.parametrize(
    ("answer", "rows", "told"),
    [
        ("Ann sold 20 and Bo sold 30.", SALES, "20 stands at 'Ann', and the rows have it at 'Bo'"),
        ("20 were sold by Ann and 30 by Bo.", SALES, "at 'Ann'"),
        ("Ann, Bo and Cy sold 20, 30 and 10 respectively.", SALES, "at 'Ann'"),
        ("- Ann: 20\n- Bo: 30", SALES, "at 'Ann'"),
        ("| name | n |\n|---|---|\n| Ann | 20 |\n| Bo | 30 |", SALES, "at 'Bo'"),
        ("|  | Ann | Bo |\n|---|---|---|\n| sold | 20 | 30 |", SALES, "at 'Ann'"),
        ("**Ann**\n- sold: 20\n\n**Bo**\n- sold: 30", SALES, "at 'Ann'"),
        ("Ann: 20; Bo: 30.", SALES, "at 'Bo'"),
        ("Annは20、Boは30です。", SALES, "at 'Ann'"),
        ("In the North, Tent sold 4.", WIDE, "'South'"),
        ("The best is Bo with 20.", SALES, "'Ann'"),
        ("The highest is Bo with 20.", SALES, "'best'|'highest'"),
        ("The lowest is Ann with 30.", SALES, "'Cy' has 10"),
        ("The second highest is Cy with 10.", SALES, "'highest' names 'Cy'"),
        ("Die meisten Verkäufe hat Bo mit 20.", SALES, "'Ann' has 30"),
        ("最も多いのはBoの20です。", SALES, "'Ann' has 30"),
    ],
)
def test_numbers_at_other_names_fail(answer, rows, told):
    """Swapped numbers and wrong winners fail, and the detail shows both names."""
    result = run(answer, rows)
    assert result.status == "fail", result.detail
    assert result.reason == "misplaced_numbers"
    assert any(part in result.detail for part in told.split("|"))


def test_the_question_makes_a_lone_name_the_winner():
    """An answer to `who is our biggest` is a superlative without the word."""
    assert run("Bo, with 20.", SALES, question="Who is our biggest seller?").status == "fail"
    assert run("Ann, with 30.", SALES, question="Who is our biggest seller?").status == "pass"


def test_by_default_a_swap_is_a_warning():
    """The documented default does not tie numbers to names, and says so where it matters."""
    result = run("Ann sold 20 and Bo sold 30.", SALES, pairing=False)
    assert result.status == "pass"
    assert "20 stands at 'Ann'" in result.detail
    assert "pairing=True fails this" in result.detail


def test_one_row_has_nothing_to_swap():
    """A result of one row can't be in conflict."""
    assert run("Bo beats Ann 30 to 20.", [{"a": 30, "b": 20, "name": "Ann"}]).status == "pass"
