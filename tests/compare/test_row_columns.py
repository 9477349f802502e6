"""Which actual column stands for which expected one."""

import itertools
import random
import time
from collections import Counter

import pytest

from dbagenteval.compare import RowOptions, compare_rows, refinement, rows_match


def test_columns_of_one_name_are_the_ones_compared():
    """A name on both sides ties the columns, whatever its case and whatever other columns hold."""
    assert not rows_match([{"total": 2}], [{"total": 3, "other": 2}])
    assert rows_match([{"Total": 2}], [{"TOTAL": 2, "other": 9}])
    assert not rows_match([{"a": 1, "b": 2}], [{"a": 2, "b": 1}])


def test_names_that_differ_in_case_only_are_paired_exactly_first():
    """Columns `a` and `A` side by side keep their own partners."""
    assert rows_match([{"a": 1, "A": 2}], [{"A": 2, "a": 1}])
    assert not rows_match([{"a": 1, "A": 2}], [{"A": 1, "a": 2}])


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"delivered": 3, "cancelled": 1}, {"cancelled_orders": 3, "delivered_orders": 1}),
        ({"min_price": 1, "max_price": 9}, {"max": 1, "min": 9}),
        ({"min_price": 1, "max_price": 9}, {"highest": 1, "lowest": 9}),
        ({"sales_2023": 3, "sales_2024": 4}, {"y2024": 3, "y2023": 4}),
        ({"q1": 3, "q2": 4}, {"Q2 sales": 3, "Q1 sales": 4}),
        ({"delivered": 3}, {"delivered_orders": 1, "cancelled_orders": 3}),
        ({"total_orders": 2}, {"store": "s1", "min_qty": 2, "max_qty": 9, "avg_qty": 7}),
        ({"SUM(amount)": 5, "store": "a"}, {"avg_amount": 5, "shop": "a"}),
        ({"total": 7}, {"order_id": 7, "name": "x"}),
    ],
)
def test_a_pairing_that_names_contradict_is_refused(expected, actual):
    """Right values under names that say something else are not the right rows."""
    found = compare_rows([expected], [actual])
    assert not found.equal
    assert found.reason == "names_contradict"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"min_price": 1, "max_price": 9}, {"lowest": 1, "highest": 9}),
        ({"COUNT(*)": 2, "status": "x"}, {"n": 2, "state": "x"}),
        ({"SUM(amount)": 5, "store": "a"}, {"total": 5, "shop": "a"}),
        ({"revenue": 51234.5}, {"revenue_last_year": 3, "amount": 51234.5}),
        ({"total": 3}, {"n": 3, "total_days": 30}),
        ({"count": 2}, {"total": 2}),
        ({"MAX(id)": 2}, {"order_id": 2, "name": "x"}),
        ({"order": 2}, {"order_id": 2, "name": "x"}),
        ({"max_order": 9, "id": 1}, {"total_amount": 9, "id": 1}),
        ({"duration_min": 7, "id": 1}, {"avg_time": 7, "id": 1}),
        ({"e0": 1, "e8": 2}, {"a8": 1, "a0": 2}),
    ],
)
def test_other_names_alone_contradict_nothing(expected, actual):
    """Synonyms, numbered columns and other words leave the values to decide."""
    assert rows_match([expected], [actual])


def test_a_column_of_row_numbers_stands_for_nothing_else():
    """1, 2, 3 in `row_number` is no quantity."""
    expected = [{"quantity": value} for value in (1, 2, 3)]
    actual = [{"row_number": value, "x": 7} for value in (1, 2, 3)]
    assert compare_rows(expected, actual).reason == "names_contradict"
    assert rows_match([{"row_num": value} for value in (1, 2, 3)], actual)


def test_of_columns_with_the_same_values_the_one_with_the_fitting_name_is_taken():
    """Equal values leave the choice to the names, so nothing is contradicted."""
    expected = [{"min_price": 5, "max_price": 5}]
    assert rows_match(expected, [{"highest": 5, "lowest": 5}])


def test_rows_are_compared_as_rows():
    """Right columns in the wrong rows fail, under other names too."""
    expected = [{"who": "ada", "n": 1}, {"who": "bo", "n": 2}]
    assert (
        compare_rows(expected, [{"who": "ada", "n": 2}, {"who": "bo", "n": 1}]).reason
        == "row_pairing"
    )
    assert not rows_match(expected, [{"x": "ada", "y": 2}, {"x": "bo", "y": 1}])


def test_an_expected_column_needs_its_own_partner():
    """Two expected columns are not both served by one actual column."""
    assert not rows_match([{"a": 1, "b": 1}], [{"x": 1, "y": 2}])
    found = compare_rows([{"a": 1, "b": 1}], [{"x": 1}])
    assert found.reason == "missing_column"
    assert "b" in found.detail or "a" in found.detail


def test_pairing_agrees_with_trying_all_orders():
    """On small tables the verdict is that of trying every assignment of columns."""
    for seed in range(250):
        expected, actual = small_tables(seed)
        width, rows = len(expected[0]), Counter(map(tuple, expected))
        truth = any(
            Counter(tuple(row[col] for col in order) for row in actual) == rows
            for order in itertools.permutations(range(len(actual[0])), width)
        )
        ours = [{f"e{col}": cell for col, cell in enumerate(row)} for row in expected]
        theirs = [{f"a{col}": cell for col, cell in enumerate(row)} for row in actual]
        assert rows_match(ours, theirs) == truth, (expected, actual)


def small_tables(seed):
    chance = random.Random(seed)
    width, extra = chance.randint(1, 5), chance.choice([0, 0, 0, 1, 2])
    rows, values = chance.randint(1, 5), chance.choice([2, 2, 3])
    expected = [[chance.randrange(values) for _ in range(width)] for _ in range(rows)]
    actual = [row + [chance.randrange(values) for _ in range(extra)] for row in expected]
    order = list(range(width + extra))
    chance.shuffle(order)
    actual = [[row[col] for col in order] for row in actual]
    chance.shuffle(actual)
    if chance.random() < 0.5:
        actual[chance.randrange(rows)][chance.randrange(width + extra)] = chance.randrange(values)
    return expected, actual


def test_pairing_within_a_tolerance_agrees_with_trying_all_orders():
    """So it is with a tolerance, where a row may fit several others."""
    for seed in range(120):
        chance = random.Random(seed)
        expected, actual = small_tables(seed)
        actual = [[cell + chance.choice([0, 0.5, -0.5, 1]) for cell in row] for row in actual]
        tolerance = chance.choice([0.5, 1])
        truth = any(
            can_pair(expected, [[row[col] for col in order] for row in actual], tolerance)
            for order in itertools.permutations(range(len(actual[0])), len(expected[0]))
        )
        options = RowOptions(tolerance={"absolute": tolerance})
        found = compare_rows(named(expected, "e"), named(actual, "a"), options)
        assert found.equal == truth, (expected, actual, tolerance)


def can_pair(expected, actual, tolerance):
    return any(
        all(
            abs(one - other) <= tolerance
            for ours, theirs in zip(expected, order, strict=True)
            for one, other in zip(ours, theirs, strict=True)
        )
        for order in itertools.permutations(actual)
    )


def test_values_on_both_sides_of_a_rounding_boundary_are_found_under_other_names():
    """Noise that rounds to another hundredth does not hide which column is which."""
    expected = [{"k": f"x{place}", "v": place + 0.125} for place in range(50)]
    actual = [{"a": row["v"] - 1e-11, "b": row["k"]} for row in expected[::-1]]
    assert rows_match(expected, actual)
    actual[3]["a"] += 0.02
    assert not rows_match(expected, actual)


def test_nested_numbers_within_a_tolerance_are_found_under_other_names():
    """JSON columns are tried where their numbers are only close."""
    options = RowOptions(tolerance={"relative": 1e-6})
    expected = [{"k": place, "j": {"mean": place / 3}} for place in range(5)]
    actual = [{"x": {"mean": row["j"]["mean"] * (1 + 1e-9)}, "y": row["k"]} for row in expected]
    assert compare_rows(expected, actual, options).equal
    actual[2]["x"]["mean"] += 0.1
    assert not compare_rows(expected, actual, options).equal


def named(table, prefix):
    return [{f"{prefix}{col}": cell for col, cell in enumerate(row)} for row in table]


def permuted(table, seed):
    chance = random.Random(seed)
    order = list(range(len(table[0])))
    chance.shuffle(order)
    rows = [[row[col] for col in order] for row in table]
    chance.shuffle(rows)
    return rows


TABLES = {
    "look-alike": [[(row * 31 + col * 7) % 97 for col in range(26)] for row in range(200)],
    "one-hot": [[int(row == col) for col in range(60)] for row in range(60)],
    "constant": [[0] * 40 for _ in range(300)],
    "cyclic": [[int((row - col) % 24 in (0, 1, 5)) for col in range(24)] for row in range(24)],
    "coin tosses": [
        [random.Random(row * 40 + col).random() < 0.5 for col in range(40)] for row in range(300)
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_shuffled_unnamed_columns_are_found_soon(name):
    """Columns and rows of any order are found, and one exchanged cell pair is seen, soon."""
    table = TABLES[name]
    start = time.process_time()
    assert rows_match(named(table, "e"), named(permuted(table, 5), "a"))
    other = [list(row) for row in permuted(table, 7)]
    other[3][5] = -1
    assert not rows_match(named(table, "e"), named(other, "a"))
    assert time.process_time() - start < 60


def test_tables_that_only_look_alike_are_told_apart():
    """Two regular patterns with the same rows and columns counts are not the same table."""
    other = [[int((row - col) % 24 in (0, 1, 6)) for col in range(24)] for row in range(24)]
    assert not rows_match(named(TABLES["cyclic"], "e"), named(permuted(other, 3), "a"))


def test_a_search_without_end_is_given_up_and_said(monkeypatch):
    """When the work is used up the rows are not called equal, and the reason says why."""
    monkeypatch.setattr(refinement, "_WORK_MAX", 10)
    found = compare_rows(named(TABLES["one-hot"], "e"), named(permuted(TABLES["one-hot"], 1), "a"))
    assert not found.equal
    assert found.reason == "columns_undecided"


def test_columns_by_name_asks_for_the_names():
    """With `columns: by_name` other names do not stand in, and their case does not matter."""
    by_name = RowOptions(columns="by_name")
    assert compare_rows([{"a": 1}], [{"A": 1, "z": 2}], by_name).equal
    found = compare_rows([{"a": 1}], [{"b": 1}], by_name)
    assert not found.equal
    assert found.reason == "missing_column"
    assert found.detail.startswith("no column for a")


def test_positional_rows_have_no_names_to_go_by():
    """Names that are none do not tie or contradict; their place is preferred."""
    positional = RowOptions(positional=True)
    assert compare_rows([{"1": 5, "0": 6}], [{"0": 5, "1": 6}], positional).notes == ()
    moved = compare_rows([{"a": 5, "b": 6}], [{"0": 6, "1": 5}], positional)
    assert moved.notes == ("matched by value, columns in another order",)
    strict = RowOptions(positional=True, columns="by_name")
    assert not compare_rows([{"a": 5, "b": 6}], [{"0": 6, "1": 5}], strict).equal
    assert compare_rows([{"a": 5, "b": 6}], [{"0": 5, "1": 6}], strict).equal


def test_a_cell_that_a_row_lacks_is_empty():
    """Rows may lack columns; the columns are those of all rows."""
    assert rows_match([{"a": 1, "b": None}, {"b": 2}], [{"a": 1}, {"a": None, "b": 2}])
    assert not rows_match([{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 3}])
