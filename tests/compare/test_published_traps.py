"""Inputs on which comparators are known to err, each with the right verdict."""

import datetime
import json
import random
import sqlite3
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from dbagenteval import Case, Trace, evaluate
from dbagenteval.compare import RowOptions, compare_rows

DATA = Path(__file__).parent / "data"
BANK = [json.loads(line) for line in (DATA / "bank.jsonl").read_text().splitlines()]
EVALUATOR = [json.loads(line) for line in (DATA / "evaluator.jsonl").read_text().splitlines()]
DEFAULT_KEPT = {"row-exp-text", "row-rate-2dp", "row-rate-zero"}


def decoded(value):
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (tag, content), *_ = value.items()
        if tag == "$py":
            names = {"datetime": datetime, "Decimal": Decimal, "UUID": UUID}
            return eval(content.replace("uuid.", ""), names)
        if tag == "$int":
            return int(content)
        if tag == "$decimal":
            return Decimal(content)
        if tag == "$date":
            return datetime.date.fromisoformat(content)
        if tag == "$timestamp":
            return datetime.datetime.fromisoformat(content)
    return {name: decoded(item) for name, item in value.items()}


def rows_of(side, *, without=()):
    if "sql" in side:
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(side["sql"])]
    if "generate" in side:
        return generated(side["generate"])
    return [
        {
            name: decoded(cell)
            for name, cell in zip(side["columns"], row, strict=True)
            if name not in without
        }
        for row in side["rows"]
    ]


def generated(recipe):
    table = [[(row * 31 + col * 7) % 97 for col in range(recipe["columns"])] for row in range(200)]
    if "shuffle_columns_seed" not in recipe:
        return [{f"c{col}": cell for col, cell in enumerate(row)} for row in table]
    change = recipe["change_cell"]
    table[change["row"]][change["column"]] = change["to"]
    order = list(range(recipe["columns"]))
    random.Random(recipe["shuffle_columns_seed"]).shuffle(order)
    return [{f"x{place}": row[col] for place, col in enumerate(order)} for row in table]


def options_of(given):
    chosen = {}
    if "rel_tol" in given:
        chosen["tolerance"] = {"relative": given["rel_tol"]}
    if given.get("trim_text"):
        chosen["trim_char_padding"] = True
    if "text_numbers" in given:
        chosen["text_numbers"] = given["text_numbers"]
    if given.get("row_order") == "strict":
        chosen["ordered"] = True
    return RowOptions(**chosen)


@pytest.mark.parametrize("trap", BANK, ids=lambda trap: f"{trap['id']} {trap['title']}")
def test_known_trap_gets_the_right_verdict(trap):
    """Traps reported against public comparators do not catch this one."""
    ignored = trap["options"].get("ignore_columns", ())
    expected, actual = rows_of(trap["reference"], without=ignored), rows_of(trap["agent"])
    found = compare_rows(expected, actual, options_of(trap["options"]))
    if trap["right"] == "vacuous_match":
        assert found.notes == ("both results empty",)
        assert not compare_rows(expected, actual, RowOptions(empty="fail")).equal
    elif trap["right"] == "reference_suspect":
        assert not found.equal
        assert found.reason == "reference_empty"
        assert "relative to today" in found.guess
    else:
        assert found.equal == (trap["right"] == "match"), found


@pytest.mark.parametrize(
    "trap", [trap for trap in EVALUATOR if trap["id"] not in DEFAULT_KEPT], ids=lambda t: t["id"]
)
def test_published_evaluator_error_is_not_repeated(trap):
    """Rows that the published evaluator judges wrongly get the right verdict by default."""
    found = compare_rows(
        decoded(trap["expected"]), decoded(trap["actual"]), RowOptions(ordered=trap["ordered"])
    )
    assert found.equal == (trap["right"] == "pass"), found


@pytest.mark.parametrize("trap_id", ["row-rate-2dp", "row-rate-zero"])
def test_documented_rounding_is_kept_and_said_and_an_option_mends_it(trap_id):
    """Rates in the same hundredth pass by default with a note; two options tell them apart."""
    trap = next(trap for trap in EVALUATOR if trap["id"] == trap_id)
    expected, actual = decoded(trap["expected"]), decoded(trap["actual"])
    found = compare_rows(expected, actual)
    assert found.equal
    assert any("equal only after rounding to 2 places" in note for note in found.notes)
    assert not compare_rows(expected, actual, RowOptions(precision=4)).equal
    assert not compare_rows(expected, actual, RowOptions(tolerance={"relative": 0.001})).equal


def test_exponent_text_is_a_number_only_against_a_number():
    """1e3 as text equals 1000.0; two texts 1E5 and 100000 stay apart unless the case says so."""
    trap = next(trap for trap in EVALUATOR if trap["id"] == "row-exp-text")
    assert compare_rows(decoded(trap["expected"]), decoded(trap["actual"])).equal
    texts = [{"x": "1E5"}], [{"x": "100000"}]
    assert not compare_rows(*texts).equal
    assert compare_rows(*texts, RowOptions(text_numbers="equal")).equal


def evaluated(case, rows, reference_rows):
    trace = Trace.simple(case.question, rows=rows)
    return evaluate(trace, case, execute=lambda _sql: reference_rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM (SELECT name, ts FROM log ORDER BY ts DESC LIMIT 2) t",
        "SELECT name, rank() OVER (ORDER BY p DESC) AS r FROM runs WHERE memo <> 'sort: order by name'",
    ],
)
def test_order_inside_a_subquery_window_or_literal_orders_nothing(sql):
    """With `ordered: auto` only the outermost ORDER BY of the reference makes the order count."""
    rows = [{"name": "Ann"}, {"name": "Bo"}]
    case = Case("q", reference_sql=sql, ordered="auto")
    assert evaluated(case, rows[::-1], rows).verdict == "PASS"
    ordered = Case("q", reference_sql="SELECT name FROM log ORDER BY name", ordered="auto")
    assert evaluated(ordered, rows[::-1], rows).verdict == "FAIL"


def test_a_reference_that_names_two_columns_alike_does_not_pass():
    """An executor that loses one of two columns of the same name is no evidence."""
    case = Case("q", reference_sql="SELECT COUNT(*) AS n, SUM(amount) AS n FROM orders")
    with pytest.raises((RuntimeError, ValueError), match="name each column once"):
        evaluated(case, [{"n": 7}], [{"n": 7}])
