"""Answers are compared by what they mean; the existing command's rules can be had as they are."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from dbagenteval.project.verdict.comparison import compare_answer

BIG = 9007199254740992

# actual, expected, right, and what the existing command says.
# fmt: off
CELLS = [
    (0.001, 0.004, False, True),
    (0.0, 0.0049, False, True),
    (0.12, 0.124, False, True),
    (1.005, 1.01, False, False),
    (2.675, 2.68, False, True),
    (100000, 100001, False, True),
    (10_000_000, 10_000_050, False, True),
    (BIG + 1, BIG, False, True),
    (158500, 158501, False, True),
    (99, 100, False, False),
    (99.6, 100, False, False),
    ("1585", 1585, True, False),
    ("1,585.00", 1585, True, False),
    ("$1,585", 1585, True, False),
    ("12%", 0.12, True, False),
    (12.0, 0.12, False, False),
    ("(1,200)", -1200, True, False),
    ("-$5", -5, True, False),
    ("1585.00", "1585.0", True, False),
    ("01234", "1234", False, False),
    ("1.234", 1234, False, False),
    ("12,5", 12.5, False, False),
    ("12,5", 125, False, False),
    ("2018-04-09", datetime.datetime(2018, 4, 9), True, False),
    (None, 0, False, False),
    ("paris", "Paris", False, False),
    ("\u00e9", "e\u0301", True, False),
    (True, 1, True, True),
    (True, "true", True, False),
    ("1585.00", Decimal(1585), True, False),
    (172.5, Decimal("172.50"), True, False),
    (172.49999999999997, Decimal("172.50"), True, False),
    (158500.01, Decimal("158500.02"), False, False),
    (1000000.02, 1000000.0, True, True),
    (0.333333333, 1 / 3, True, True),
    ([1, 2], [1, 2], True, True),
]
# fmt: on


@pytest.mark.parametrize(("actual", "expected", "right", "_old"), CELLS)
def test_one_value(actual, expected, right: bool, _old: bool) -> None:
    """One value passes just if it means the expected one."""
    found = compare_answer([{"x": expected}], [{"x": actual}])
    assert found.equal is right, found
    assert bool(found.reason) is not right


@pytest.mark.parametrize(
    ("actual", "expected", "old"),
    [(a, e, old) for a, e, _, old in CELLS if not (a == 2.675 or isinstance(e, Decimal))],
)
def test_one_value_by_the_old_rules(actual, expected, old: bool) -> None:
    """`comparison: dazense` gives the verdicts that were measured on the existing command."""
    assert compare_answer([{"x": expected}], [{"x": actual}], mode="dazense").equal is old


def test_rows_are_a_multiset_unless_ordered() -> None:
    """Order counts only where asked, and only by the sort key."""
    rows = [{"id": 1, "n": 5}, {"id": 2, "n": 5}, {"id": 3, "n": 4}]
    swapped = [rows[1], rows[0], rows[2]]
    assert compare_answer(rows, rows[::-1]).equal
    assert compare_answer(rows, swapped, ordered=True, order_columns=("n",)).equal
    assert not compare_answer(rows, rows[::-1], ordered=True, order_columns=("n",)).equal
    assert not compare_answer(rows, swapped, mode="dazense").equal


def test_columns_match_by_name_then_by_content() -> None:
    """Other names and capitals are no difference, and are told; a missing column is one."""
    expected = [{"city": "Oslo", "total": 100_000}]
    assert compare_answer(expected, [{"City": "Oslo", "TOTAL": 100_000}]).equal
    renamed = compare_answer(expected, [{"antall": 100_000, "by": "Oslo"}])
    assert renamed.equal
    assert "city = by" in str(renamed.notes)
    assert not compare_answer(expected, [{"antall": 100_001, "by": "Oslo"}]).equal
    missing = compare_answer(expected, [{"city": "Oslo"}])
    assert (missing.equal, missing.message) == (False, "missing columns: {'total'}")
    assert compare_answer(expected, [{"city": "Oslo", "total": 100_000, "note": "x"}]).equal
    strict = compare_answer(
        expected, [{"city": "Oslo", "total": 100_000, "note": "x"}], extra_columns="fail"
    )
    assert not strict.equal


def test_rows_of_other_number_are_told_with_what_is_missing() -> None:
    """A missing group is named, not only counted."""
    expected = [{"city": "Oslo", "n": 2}, {"city": "Bodø", "n": 0}]
    found = compare_answer(expected, [{"city": "Oslo", "n": 2}])
    assert found.message == "row count: 1 vs 2"
    assert found.evidence["missing"][0]["row"] == {"city": "Bodø", "n": "#0"} or "Bodø" in str(
        found.evidence
    )


def test_odd_shapes_do_not_crash() -> None:
    """Mixed types, lists and empty results are compared."""
    assert compare_answer([{"a": 1}, {"a": "x"}], [{"a": "x"}, {"a": 1}]).equal
    assert compare_answer([{"l": [1, 2]}, {"l": [3]}], [{"l": [3]}, {"l": [1, 2]}]).equal
    assert compare_answer([], []).equal
    assert compare_answer([], [{"a": 1}]).message == "expected is empty"
    assert compare_answer([{"a": 1}], []).message == "actual is empty"
    drift = [{"a": 1, "b": 1000000.0}, {"a": 2, "b": 1000000.01}]
    assert compare_answer(drift, [{"a": 1, "b": 1000000.02}, {"a": 2, "b": 999999.99}]).equal


def test_a_tolerance_of_the_test_holds_for_whole_numbers_too() -> None:
    """A test that sets a tolerance means it."""
    assert compare_answer([{"n": 100}], [{"n": 101}], tolerance={"absolute": 2}).equal
    assert not compare_answer([{"n": 100}], [{"n": 103}], tolerance={"absolute": 2}).equal
