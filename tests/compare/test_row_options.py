"""Options of a case, and what a pass says that they hide."""

import pytest

from dbagenteval.compare import RowOptions, compare_rows, match_any, rows_match

UNLIMITED = [
    {"p": "A", "n": 5},
    {"p": "B", "n": 4},
    {"p": "C", "n": 4},
    {"p": "D", "n": 1},
]


def notes(expected, actual, **options):
    found = compare_rows(expected, actual, RowOptions(**options))
    assert found.equal, found
    return found.notes


def test_a_pass_without_leniency_says_nothing():
    """Equal rows pass without a note, numbers of other types and one renamed column too."""
    assert notes([{"COUNT(*)": 2}], [{"total": 2}]) == ()
    assert notes([{"n": 2, "k": "a"}], [{"n": "2.00", "k": "a"}]) == ()
    assert notes([{"x": 0.1 + 0.2}], [{"x": 0.3}]) == ()


@pytest.mark.parametrize(
    ("expected", "actual", "options", "note"),
    [
        (
            {"r": 0.0449},
            {"r": 0.0354},
            {},
            "equal only after rounding to 2 places (0.0449 against 0.0354)",
        ),
        (
            {"r": 1.2},
            {"r": 1.4},
            {"precision": 0},
            "equal only after rounding to 0 places (1.2 against 1.4)",
        ),
        (
            {"r": 1.21},
            {"r": 1.24},
            {"precision": 1},
            "equal only after rounding to 1 place (1.21 against 1.24)",
        ),
        (
            {"r": 100},
            {"r": 101},
            {"tolerance": {"relative": 0.02}},
            "equal only within the tolerance (100 against 101)",
        ),
        (
            {"SUM(x)": 2, "k": 1},
            {"total": 2, "k": 1},
            {},
            "matched by value, names differ (SUM(x) = total)",
        ),
        ({"a": None}, {"a": ""}, {}, "null equals empty text (None against '')"),
        ({"a": None}, {"a": float("nan")}, {}, "null equals NaN (None against nan)"),
        (
            {"a": "x"},
            {"a": "x  "},
            {},
            "equal only without the blanks around text ('x' against 'x  ')",
        ),
        ({"total": 2}, {"avg": 2}, {}, "the column is named avg, expected total"),
    ],
)
def test_a_pass_says_what_it_rests_on(expected, actual, options, note):
    """Each leniency that was needed is named with an example."""
    assert notes([expected], [actual], **options) == (note,)


def test_declared_padding_is_not_mentioned():
    """With `trim_char_padding` blanks around text are no news; inner blanks still count."""
    assert notes([{"a": "x"}], [{"a": "x  "}], trim_char_padding=True) == ()
    assert not compare_rows([{"a": "x y"}], [{"a": "xy"}], RowOptions(trim_char_padding=True)).equal


def test_order_is_free_unless_asked_for_and_the_pass_says_so():
    """Another order passes; if the reference is ordered the pass says it was not checked."""
    rows = [{"k": 1}, {"k": 2}]
    assert notes(rows, rows[::-1]) == ()
    assert notes(rows, rows[::-1], reference_is_ordered=True) == (
        "order not checked though the reference has ORDER BY",
    )
    assert notes(rows, rows, reference_is_ordered=True) == ()
    found = compare_rows(rows, rows[::-1], RowOptions(ordered=True))
    assert not found.equal
    assert found.reason == "row_order"


@pytest.mark.parametrize(
    ("expected", "actual", "is_equal"),
    [
        ([("A", 5), ("B", 5), ("C", 1)], [("B", 5), ("A", 5), ("C", 1)], True),
        ([("A", 5), ("B", 5), ("C", 1)], [("C", 1), ("A", 5), ("B", 5)], False),
        ([("A", 5), ("B", 4), ("C", 1)], [("B", 4), ("A", 5), ("C", 1)], False),
        ([("A", 5), ("B", 5)], [("B", 5), ("A", 5)], False),
        ([("A", True), ("B", True), ("C", False)], [("B", True), ("A", True), ("C", False)], False),
        ([("A", 1), ("B", 1), ("C", 2)], [("B", 1), ("A", 1), ("C", 2)], False),
        ([("C", 1), ("A", 1), ("B", 2)], [("A", 1), ("C", 1), ("B", 2)], True),
        ([("x", "r"), ("a", "r"), ("m", "s")], [("a", "r"), ("x", "r"), ("m", "s")], True),
    ],
)
def test_rows_that_tie_on_the_sort_column_may_change_places(expected, actual, is_equal):
    """Order among ties is free; a column that is the same everywhere sorts nothing."""
    ours, theirs = ([{"p": p, "n": n} for p, n in rows] for rows in (expected, actual))
    found = compare_rows(ours, theirs, RowOptions(ordered=True))
    assert found.equal == is_equal
    if is_equal:
        assert found.notes == ("rows that tie on n are in another order",)


def test_known_sort_columns_replace_the_guess():
    """With `order_columns` ties are those of the columns the reference orders by."""
    rows = [{"p": "A", "n": 5}, {"p": "B", "n": 5}, {"p": "C", "n": 1}]
    other = [rows[1], rows[0], rows[2]]
    assert compare_rows(rows, other, RowOptions(ordered=True, order_columns=("n",))).equal
    by_both = RowOptions(ordered=True, order_columns=("n", "p"))
    assert not compare_rows(rows, other, by_both).equal
    unknown = RowOptions(ordered=True, order_columns=("hidden",))
    assert not compare_rows(rows, other, unknown).equal


@pytest.mark.parametrize(
    ("chosen", "is_equal"), [((0, 1), True), ((0, 2), True), ((0, 3), False), ((1, 2), False)]
)
def test_a_limit_through_ties_accepts_every_right_set(chosen, is_equal):
    """`ties: accept` takes any of the rows that tie at the cut, and no other rows."""
    actual = [UNLIMITED[place] for place in chosen]
    found = compare_rows(UNLIMITED[:2], actual, RowOptions(ties="accept"), unlimited=UNLIMITED)
    assert found.equal == is_equal
    renamed = [{"product": row["p"], "sold": row["n"]} for row in actual]
    ordered = RowOptions(ties="accept", ordered=True)
    assert compare_rows(UNLIMITED[:2], renamed, ordered, unlimited=UNLIMITED).equal == is_equal


def test_ties_need_the_option_the_rows_and_the_order():
    """Without the option or the unlimited rows, or in another order, the other choice fails."""
    actual = [UNLIMITED[0], UNLIMITED[2]]
    assert not compare_rows(UNLIMITED[:2], actual, unlimited=UNLIMITED).equal
    assert not compare_rows(UNLIMITED[:2], actual, RowOptions(ties="accept")).equal
    ordered = RowOptions(ties="accept", ordered=True)
    assert not compare_rows(UNLIMITED[:2], actual[::-1], ordered, unlimited=UNLIMITED).equal
    accepted = compare_rows(UNLIMITED[:2], actual, ordered, unlimited=UNLIMITED)
    assert accepted.notes == ("LIMIT cuts through ties on n",)


def test_a_tied_choice_takes_no_row_twice():
    """A row of the unlimited result counts as often as it is there."""
    wanted = [{"p": "A", "n": 5}, {"p": "B", "n": 4}, {"p": "C", "n": 4}]
    actual = [{"p": "A", "n": 5}, {"p": "D", "n": 4}, {"p": "D", "n": 4}]
    unlimited = [*wanted, {"p": "D", "n": 4}]
    assert not compare_rows(wanted, actual, RowOptions(ties="accept"), unlimited=unlimited).equal


def test_tolerance_replaces_rounding():
    """Within the tolerance is equal, beyond it is not, and no rounding hides the rest."""
    relative = RowOptions(tolerance={"relative": 0.01})
    absolute = RowOptions(tolerance={"absolute": 0.5})
    assert compare_rows([{"x": 100.0}], [{"x": 100.9}], relative).equal
    assert not compare_rows([{"x": 100.0}], [{"x": 101.1}], relative).equal
    assert not compare_rows([{"x": 0.001}], [{"x": 0.004}], relative).equal
    assert compare_rows([{"x": 1}], [{"x": 1.5}], absolute).equal
    assert not compare_rows([{"x": 1}], [{"x": 1.51}], absolute).equal
    assert compare_rows([{"x": {"m": [1.0]}}], [{"x": {"m": [1.005]}}], relative).equal


def test_the_edge_of_a_tolerance_belongs_to_it():
    """A float computed to lie on the edge is within, whatever its last digit; the next is not."""
    edge = RowOptions(tolerance={"absolute": 0.5})
    values = [place / 7 for place in range(3_000)]
    ours = [{"v": value} for value in values]
    assert compare_rows(ours, [{"x": value + 0.5} for value in reversed(values)], edge).equal
    assert not compare_rows(ours, [{"x": value + 0.501} for value in values], edge).equal


def test_tolerance_does_not_reach_float_noise_into_integers():
    """A tolerance for float noise leaves integers exact; a coarse one is meant for them too."""
    ids = [{"account": 9007199254740993}], [{"account": 9007199254740992}]
    assert not compare_rows(*ids, RowOptions(tolerance={"relative": 1e-9})).equal
    counts = [{"n": 1000}], [{"n": 1005}]
    assert compare_rows(*counts, RowOptions(tolerance={"relative": 0.01})).equal


def test_tolerance_finds_the_pairing_if_there_is_one():
    """A value that could pair with two others is given to the one that needs it."""
    one = RowOptions(tolerance={"absolute": 1})
    values = [0.0, 1.0, 2.0, 3.0]
    ours = [{"x": value, "k": "a"} for value in values]
    theirs = [{"x": value + 1, "k": "a"} for value in values]
    assert compare_rows(ours, theirs, one).equal
    assert compare_rows(ours, theirs[::-1], one).equal
    renamed = [{"key": row["k"], "value": row["x"]} for row in theirs]
    assert compare_rows(ours, renamed, one).equal
    assert not compare_rows(ours, [{"x": value + 1.5, "k": "a"} for value in values], one).equal


@pytest.mark.parametrize(
    "tolerance",
    [
        {"relativ": 0.1},
        {"relative": -1},
        {"absolute": float("inf")},
        {"absolute": "x"},
        {"absolute": True},
    ],
)
def test_a_wrong_tolerance_is_an_error(tolerance):
    """Misspelt names and impossible values are told, not ignored."""
    with pytest.raises(ValueError, match="tolerance"):
        compare_rows([{"a": 1}], [{"a": 1}], RowOptions(tolerance=tolerance))


@pytest.mark.parametrize("option", ["columns", "extra_columns", "empty", "ties", "text_numbers"])
def test_a_wrong_choice_is_an_error(option):
    """An option that is no choice names itself and the choices."""
    with pytest.raises(ValueError, match=f"'{option}' must be one of"):
        RowOptions(**{option: "maybe"})


def test_extra_columns_may_be_refused():
    """`extra_columns: fail` names what is too much; equal columns still pass."""
    refuse = RowOptions(extra_columns="fail")
    found = compare_rows([{"a": 1}], [{"a": 1, "z": 2}], refuse)
    assert not found.equal
    assert found.reason == "extra_columns"
    assert found.detail == "column(s) beyond the expected ones: z"
    assert compare_rows([{"a": 1}], [{"b": 1}], refuse).equal


def test_empty_results():
    """Two empty results pass and say so, or fail on request; one empty result fails."""
    assert notes([], []) == ("both results empty",)
    assert compare_rows([], [], RowOptions(empty="fail")).reason == "both_empty"
    assert compare_rows([], [{"a": 1}]).reason == "reference_empty"
    assert compare_rows([{"a": 1}], []).reason == "no_rows"


def test_rows_without_columns_prove_nothing():
    """Expected rows without columns do not match rows with some."""
    assert compare_rows([{}], [{"n": 5}]).reason == "no_columns"
    assert notes([{}], [{}]) == ("no columns to compare",)
    assert not rows_match([{}], [{}, {}])


def test_match_any_gives_the_first_accepted_answer():
    """The index of the first match, None without one."""
    assert match_any([[{"a": 1}], [{"a": 2}], [{"b": 2}]], [{"c": 2}]) == 1
    assert match_any([[{"a": 1}]], [{"c": 2}]) is None
    assert match_any([], [{"c": 2}]) is None
    assert match_any([[{"a": 1}, {"a": 2}]], [{"a": 2}, {"a": 1}], ordered=True) is None
    assert match_any([[{"a": 0.12}]], [{"a": 0.118}], precision=3) is None
