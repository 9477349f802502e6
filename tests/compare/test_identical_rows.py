"""The short way for identical rows gives what the long way gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbagenteval.compare import RowComparison, RowOptions, compare_rows, rowsets
from dbagenteval.compare.identical import are_identical
from dbagenteval.compare.sides import Side

CELLS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["", " ", "01", "1.10"])
)
ROWS = st.lists(
    st.sampled_from(["a", "A", "b", "ß", ""]), unique=True, min_size=1, max_size=3
).flatmap(
    lambda names: st.lists(
        st.fixed_dictionaries(dict.fromkeys(names, CELLS)), min_size=1, max_size=5
    )
)
OPTIONS = st.builds(
    RowOptions,
    ordered=st.booleans(),
    precision=st.integers(0, 4),
    columns=st.sampled_from(["by_value", "by_name"]),
    extra_columns=st.sampled_from(["allow", "fail"]),
    empty=st.sampled_from(["pass", "fail"]),
    ties=st.sampled_from(["reject", "accept"]),
    reference_is_ordered=st.booleans(),
    trim_char_padding=st.booleans(),
    text_numbers=st.sampled_from(["typed", "equal"]),
)


@given(rows=ROWS, options=OPTIONS)
def test_it_agrees_with_the_whole_comparison(
    rows: list[dict[str, Any]], options: RowOptions
) -> None:
    """Whenever it answers, the comparison finds the rows equal too, with nothing to note."""
    copy = [dict(row) for row in rows]
    if are_identical(rows, copy, options):
        assert rowsets._compare(Side.of(rows), Side.of(copy), options, None) == RowComparison(
            equal=True
        )
    assert compare_rows(rows, copy, options).equal


@pytest.mark.parametrize(
    ("expected", "actual", "options"),
    [
        ([], [], {}),
        ([{}], [{}], {}),
        ([{"a": 1}], [{"a": True}], {}),
        ([{"a": 1}], [{"a": 1.0}], {}),
        ([{"a": 1.5}], [{"a": 1.5}], {}),
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], {}),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], {}),
        ([{"a": 1}], [{"a": 1}, {"a": 1}], {}),
        ([{"a": 1}], [{"a": 1}], {"reference_is_ordered": True}),
        ([{"a": 1}] * 101, [{"a": 1}] * 101, {}),
        (({"a": 1},), [{"a": 1}], {}),
    ],
)
def test_it_leaves_all_else_to_the_comparison(
    expected: Any, actual: Any, options: dict[str, Any]
) -> None:
    """Other types, orders and lengths, and where there is something to note."""
    assert not are_identical(expected, actual, RowOptions(**options))
