"""Why rows differ: reason, detail, evidence and guess."""

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from dbagenteval.compare import RowOptions, compare_rows


def rows(*values, name="a"):
    return [{name: value} for value in values]


REASONS = [
    ("duplicate_rows", rows(1, 2), rows(1, 1, 2, 2)),
    ("duplicate_rows", rows(1, 1, 2), rows(1, 2, 2)),
    ("extra_rows", rows(1, 2), rows(1, 2, 3)),
    ("missing_rows", rows(1, 2), rows(1)),
    ("row_count", rows(1, 2), rows(3)),
    ("different_values", rows(1, 2), rows(1, 3)),
    ("different_text", rows("x"), rows("y")),
    ("text_case", rows("Mpl"), rows("MPL")),
    ("time_zone", rows(datetime(2024, 1, 1)), rows(datetime(2024, 1, 1, tzinfo=timezone.utc))),
    (
        "row_pairing",
        [{"k": "a", "v": 1}, {"k": "b", "v": 2}],
        [{"k": "a", "v": 2}, {"k": "b", "v": 1}],
    ),
    ("missing_column", [{"a": 1, "b": 2}], [{"a": 1}]),
    ("names_contradict", [{"lo_min": 1, "min": 2, "max": 3}], [{"min_x": 3, "max_x": 2, "lo": 1}]),
    ("reference_empty", [], rows(1)),
    ("no_rows", rows(1), []),
    ("no_columns", [{}], rows(1)),
]


@pytest.mark.parametrize(
    ("reason", "expected", "actual"), REASONS, ids=[item[0] for item in REASONS]
)
def test_each_kind_of_difference_has_its_code(reason, expected, actual):
    """The reason code tells what kind of difference it is, and there is a line for a person."""
    found = compare_rows(expected, actual)
    assert not found.equal
    assert found.reason == reason
    assert found.detail


GUESSES = [
    ("repeated, as by a join", rows(1, 2), rows(1, 1, 2, 2)),
    ("not each of them as often", rows(1, 1, 2), rows(1, 2, 2)),
    ("3 times the expected value: rows may be repeated by a join", rows(100, name="t"), rows(300, name="t")),
    ("a filter is missing", rows(1, 2), rows(1, 2, 3)),
    ("a filter too many", rows(1, 2), rows(1)),
    ("rows of another store_id: s2; a filter on it is missing",
     [{"store_id": "s1", "n": 2}], [{"store_id": "s1", "n": 2}, {"store_id": "s2", "n": 4}]),
    ("rows of another store_id: s2", [{"store_id": "s1", "n": 2}], [{"store_id": "s2", "n": 2}]),
    ("expected is the sum of them", rows(60, name="total"), rows(10, 20, 30, name="amount")),
    ("expected is the count of them", rows(3, name="n"), rows(101, 120, 130, name="id")),
    ("this is the average of the expected rows", rows(10, 20, name="t"), rows(15, name="t")),
    ("another aggregate: avg_t in place of sum_t",
     [{"c": "x", "sum_t": 10}, {"c": "y", "sum_t": 20}], [{"c": "x", "avg_t": 5}, {"c": "y", "avg_t": 7}]),
    ("100 times the expected value: percent against ratio", rows(0.12, 0.5), rows(12, 50)),
    ("100 times the expected value", rows(0.336, 71.25), rows(33.6, 7125)),
    ("divided by 100: percent against ratio, or cents", rows(1234), rows(12.34)),
    ("divided by 1,000: thousands", rows(5000, 7000), rows(5, 7)),
    ("3,600 times the expected value: hours against seconds", rows(2, 3), rows(7200, 10800)),
    ("the sign is the other way round", rows(1234), rows(-1234)),
    ("rounded to 0 decimal places", rows(12.34), rows(12)),
    ("cut to 1 decimal place", rows(12.37, 8.18), rows(12.3, 8.1)),
    ("off by +1 day(s)", rows(date(2024, 1, 1)), rows(date(2024, 1, 2))),
    ("off by -2 hour(s)", rows("2024-01-01T05:00:00"), rows("2024-01-01T03:00:00")),
    ("equal as numbers, but both columns are text", rows("1.10"), rows("1.1")),
    ("not known whether they are the same instant",
     rows("2024-01-01T05:00:00"), rows("2024-01-01T05:00:00Z")),
    ("relative to today", [], rows(1)),
    ("wrong rows", [{"k": "a", "v": 1}, {"k": "b", "v": 2}], [{"k": "a", "v": 2}, {"k": "b", "v": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("guess", "expected", "actual"), GUESSES, ids=[item[0] for item in GUESSES]
)
def test_a_common_mistake_is_guessed(guess, expected, actual):
    """What queries get wrong most often is named where it explains the whole difference."""
    assert guess in compare_rows(expected, actual).guess


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (rows(2000, name="SUM(amount)"), rows(11900, name="total")),
        (rows(1), rows(2)),
        (rows(1, 2, 3), rows(4, 5, 7)),
        (rows(100, 200), rows(300, 500)),
        (rows("x"), rows("y")),
        (rows(0), rows(5)),
        (rows(10), rows(float("inf"))),
        (rows(True), rows(False)),
    ],
)
def test_a_difference_without_a_pattern_is_left_without_guess(expected, actual):
    """No guess is better than a wrong one."""
    assert compare_rows(expected, actual).guess == ""


def test_evidence_shows_counts_rows_and_the_first_differing_cells():
    """Missing and extra rows with how often, and where a row differs from its nearest one."""
    expected = [{"k": place, "v": place * 10, "w": "x"} for place in range(12)]
    actual = [dict(row) for row in expected]
    actual[3]["v"] = 31
    actual[8]["w"] = "y"
    found = compare_rows(expected, actual)
    assert found.detail == "2 row(s) missing, 2 row(s) extra, v: 31, expected 30"
    evidence = found.evidence
    assert (evidence["expected_rows"], evidence["actual_rows"]) == (12, 12)
    assert (evidence["missing_count"], evidence["extra_count"]) == (2, 2)
    assert evidence["missing"][0] == {"row": {"k": 3, "v": 30, "w": "x"}, "count": 1}
    assert evidence["extra"][1] == {"row": {"k": 8, "v": 80, "w": "y"}, "count": 1}
    assert evidence["differences"] == [
        {
            "row": {"k": 3, "w": "x"},
            "column": "v",
            "actual_column": "v",
            "expected": 30,
            "actual": 31,
        },
        {
            "row": {"k": 8, "v": 80},
            "column": "w",
            "actual_column": "w",
            "expected": "x",
            "actual": "y",
        },
    ]


def test_evidence_is_bounded_and_counts_repeats():
    """At most five distinct rows of each kind are shown, however many differ."""
    found = compare_rows(rows(*range(100)), rows(*([7] * 3 + [1000 + n for n in range(97)])))
    assert len(found.evidence["missing"]) == len(found.evidence["extra"]) == 5
    assert found.evidence["missing_count"] == 99
    found = compare_rows(rows(1), rows(1, 2, 2, 2))
    assert found.evidence["extra"] == [{"row": {"a": 2}, "count": 3}]


def test_evidence_of_renamed_columns_names_both():
    """Columns are aligned as well as can be for the explanation."""
    found = compare_rows(
        [{"city": "Bern", "n": 5}, {"city": "Basel", "n": 7}],
        [{"town": "Bern", "count": 5}, {"town": "Basel", "count": 8}],
    )
    assert found.evidence["columns"] == {"city": "town", "n": "count"}
    assert found.evidence["columns_without_partner"] == ["n"]
    assert found.evidence["differences"][0]["row"] == {"city": "Basel"}
    assert found.detail == "no column for n, 1 row(s) missing, 1 row(s) extra, n: 8, expected 7"


@pytest.mark.parametrize(
    "value",
    [Decimal("1.5"), 10**5000, float("nan"), b"\x00", "\ud800", date(2024, 1, 1), {"a": [1]},
     timedelta(1), "x" * 10_000, Decimal("sNaN"), object()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_evidence_can_be_written_as_json(value):
    """Whatever a cell holds, the evidence is text, numbers, lists and objects."""
    found = compare_rows([{"k": 1, "v": value}], [{"k": 1, "v": "other"}, {"k": 2, "v": value}])
    assert not found.equal
    text = json.dumps(found.evidence, allow_nan=False)
    assert len(text) < 3_000
    text.encode("utf-8")


def test_all_differing_rows_end_soon():
    """Thousands of rows without a partner are explained without comparing each with each."""
    expected = [{"k": place, "v": place * 1.5} for place in range(8_000)]
    actual = [{"k": place + 50_000, "v": place * 2.5 + 1} for place in range(8_000)]
    found = compare_rows(expected, actual)
    assert found.evidence["missing_count"] == 8_000
    assert len(found.evidence["differences"]) <= 10


def test_ties_are_said_to_be_refused():
    """Another choice at the cut is a plain difference without the option."""
    found = compare_rows(
        [{"p": "A", "n": 5}, {"p": "B", "n": 4}],
        [{"p": "A", "n": 5}, {"p": "C", "n": 4}],
        RowOptions(),
    )
    assert found.reason == "different_text"
    assert found.evidence["differences"][0]["expected"] == "B"
