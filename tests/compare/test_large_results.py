"""Large results go through Arrow, with the verdicts and the explanations of small ones."""

import random
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from dbagenteval.compare import RowOptions, compare_rows, large, rowsets
from tests.effort import calls_of

COUNT = 15_000


def table():
    return [
        {
            "id": place,
            "name": f"customer {place % 500}",
            "amount": place * 1.25,
            "price": Decimal(place) / 8,
            "day": date(2020, 1, 1) + timedelta(days=place % 1000),
            "at": datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=place % 7000),
            "paid": place % 3 == 0,
            "note": None if place % 5 else "",
        }
        for place in range(COUNT)
    ]


def shuffled(rows):
    copy = [dict(row) for row in rows]
    random.Random(4).shuffle(copy)
    return copy


@pytest.fixture
def reduced(monkeypatch):
    """Count the comparisons that Arrow reduced."""
    found = []

    def spy(*arguments):
        found.append(large_reduce(*arguments))
        return found[-1]

    large_reduce = large.reduce_results
    monkeypatch.setattr(large, "reduce_results", spy)
    return found


def test_equal_rows_cancel(reduced):
    """Shuffled equal rows leave nothing to compare."""
    rows = table()
    found = compare_rows(rows, shuffled(rows), RowOptions(reference_is_ordered=True))
    assert found.equal
    assert found.notes == ("order not checked though the reference has ORDER BY",)
    assert reduced[0].expected.row_count == 0
    assert compare_rows(rows, table(), RowOptions(reference_is_ordered=True)).notes == ()
    assert compare_rows(rows, table(), RowOptions(ordered=True)).equal


@pytest.mark.parametrize("name", ["id", "name", "amount", "price", "day", "at", "paid"])
def test_one_changed_cell_is_found_and_shown(reduced, name):
    """Of 15,000 rows exactly the changed one is missing and extra."""
    rows = table()
    actual = shuffled(rows)
    place = next(place for place, row in enumerate(actual) if row["id"] == 777)
    changes = {
        "id": -5, "name": "nobody", "amount": 3.5, "price": Decimal("0.5"), "paid": False,
        "day": date(1999, 1, 1), "at": datetime(1999, 1, 1, tzinfo=timezone.utc),
    }  # fmt: skip
    actual[place][name] = changes[name]
    found = compare_rows(rows, actual)
    assert not found.equal
    assert reduced[0].expected.row_count == reduced[0].actual.row_count == 1
    assert found.evidence["missing_count"] == found.evidence["extra_count"] == 1
    assert found.evidence["missing"][0]["row"]["id"] == 777
    assert found.evidence["expected_rows"] == COUNT
    assert found.evidence["differences"][0]["column"] == name


def test_rows_that_are_equal_after_rounding_pass_with_the_note(reduced):
    """Arrow cancels identical rows only; the rest is rounded and said."""
    rows = table()
    actual = shuffled(rows)
    for row in actual[:100]:
        row["amount"] += 0.001
    found = compare_rows(rows, actual)
    assert found.equal
    assert reduced[0].expected.row_count == 100
    assert found.notes[0].startswith("equal only after rounding to 2 places")
    assert not compare_rows(rows, actual, RowOptions(precision=4)).equal


def test_renamed_columns_are_found_by_what_they_hold(reduced):
    """Each column has one of the same content, so the rows can be cancelled."""
    rows = [{name: value for name, value in row.items() if name != "note"} for row in table()]
    actual = [dict(zip("gfedcba", row.values(), strict=True)) for row in shuffled(rows)]
    found = compare_rows(rows, actual)
    assert found.equal
    assert found.notes[0].startswith("matched by value, names differ (id = g")
    assert reduced[0].expected.row_count == 0
    actual[5]["c"], actual[6]["c"] = date(1990, 1, 1), date(1990, 1, 2)
    assert not compare_rows(rows, actual).equal


def test_rows_without_a_unique_column_are_counted(reduced):
    """Repeated rows cancel as often as they are there."""
    rows = [{"a": place % 7, "b": f"x{place % 11}", "c": None} for place in range(40_000)]
    assert compare_rows(rows, shuffled(rows)).equal
    other = shuffled(rows)
    other[0] = dict(rows[0])
    other[1] = dict(rows[0])
    assert not compare_rows(rows, other).equal
    assert all(item is not None for item in reduced)


def test_types_that_differ_between_the_sides_meet():
    """Integers, decimals and floats, dates and midnights, agree as in small results."""
    ours = pa.table(
        {"a": pa.array([1, 2, 3]), "b": pa.array([date(2024, 1, day) for day in (1, 2, 3)])}
    )
    theirs = pa.table({
        "a": pa.array([Decimal("3.00"), Decimal("1.00"), Decimal("2.00")]),
        "b": pa.array([datetime(2024, 1, day) for day in (3, 1, 2)]),
    })  # fmt: skip
    assert compare_rows(ours, theirs).equal
    assert compare_rows(ours, theirs.to_pylist()).equal
    assert compare_rows(ours.to_pylist(), theirs).equal
    assert not compare_rows(ours, theirs.set_column(0, "a", pa.array([3.0, 1.0, 2.5]))).equal


def test_integers_beyond_a_double_stay_exact():
    """Neighbouring integers above 2**53 are told apart, in Arrow and beside floats."""
    big = 2**53
    ours = pa.table({"a": pa.array([big + 1, 5])})
    assert not compare_rows(ours, pa.table({"a": pa.array([big, 5])})).equal
    assert compare_rows(ours, pa.table({"a": pa.array([5, big + 1])})).equal


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.int64()),
        pa.array([None, None, None]),
        pa.array(["x", "y", None]).dictionary_encode(),
        pa.array([[1], [2], None]),
        pa.array([{"a": 1}, {"a": 2}, None]),
        pa.array([float("nan"), 1.5, -0.0]),
        pa.array([b"a", b"b", None], pa.large_binary()),
        pa.array([timedelta(1), timedelta(2), None]),
        pa.array([1, 2, 3], pa.uint64()),
        pa.array([1.5, 2.5, None], pa.float32()),
        pa.array([1, 2, 3], pa.timestamp("ns")),
        pa.array([True, False, None]),
    ],
    ids=lambda column: str(column.type),
)
def test_every_arrow_type_equals_itself_and_sees_a_change(column):
    """A table of any type equals itself in another order and differs with a row replaced."""
    ours = pa.table({"a": column})
    theirs = pa.table({"a": column.take(pa.array(range(len(column) - 1, -1, -1), pa.int64()))})
    assert compare_rows(ours, theirs).equal
    assert compare_rows(ours, theirs.rename_columns(["b"])).equal
    if len(column) and column.type != pa.null():
        changed = column.take(pa.array([0, 0, 1]))
        assert not compare_rows(ours, pa.table({"a": changed})).equal


def test_small_results_load_neither_arrow_nor_duckdb():
    """The imports that take long are made for large results only."""
    script = (
        "import sys; from dbagenteval.compare import rows_match; "
        "assert rows_match([{'a': 1}] * 50, [{'b': 1.0}] * 50); "
        "print([name for name in ('pyarrow', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_large_and_plain_path_explain_alike(monkeypatch):
    """The explanation does not depend on the path."""
    rows = table()
    actual = shuffled(rows)
    actual[9]["name"], actual[9]["paid"] = "nobody", True
    by_arrow = compare_rows(rows, actual)
    monkeypatch.setattr(rowsets, "_LARGE_CELLS", 10**9)
    plain = compare_rows(rows, actual)
    assert (by_arrow.reason, by_arrow.detail) == (plain.reason, plain.detail)
    assert by_arrow.evidence == plain.evidence


def test_a_large_comparison_is_quick():
    """120,000 cells a side are compared in bulk: less than a call a cell."""
    rows = table()
    actual = shuffled(rows)
    assert compare_rows(rows, actual).equal
    assert calls_of(lambda: compare_rows(rows, actual)) < 120_000


@pytest.mark.parametrize(
    ("change", "reason", "missing", "extra"),
    [
        (lambda rows: rows[:-3], "missing_rows", 3, 0),
        (lambda rows: [*rows, {**rows[0], "id": -1}], "extra_rows", 0, 1),
        (lambda rows: [*rows, rows[5], rows[5]], "duplicate_rows", 0, 2),
        (lambda rows: [{**rows[0], "id": -1}, *rows[2:]], "row_count", 2, 1),
    ],
)
def test_other_numbers_of_rows_are_explained_from_what_is_left(
    reduced, change, reason, missing, extra
):
    """Missing, extra and repeated rows are found without reading every row in Python."""
    rows = table()
    for options in (
        RowOptions(),
        RowOptions(ordered=True),
        RowOptions(tolerance={"absolute": 0.1}),
    ):
        found = compare_rows(rows, change(shuffled(rows)), options)
        assert not found.equal
        assert found.reason == reason
        assert found.evidence["missing_count"] == missing
        assert found.evidence["extra_count"] == extra
        assert reduced[-1].actual.row_count < 20


def test_columns_of_nothing_differ_by_their_number_of_rows():
    """Null cells alone say nothing but how many rows there are."""
    five, one = pa.table({"a": pa.nulls(5)}), pa.table({"a": pa.nulls(1)})
    assert not compare_rows(one, five).equal
    assert compare_rows(five, five).equal
    assert not compare_rows([{"a": None}] * 100_000, [{"a": None}] * 7).equal
