"""Small results that are the same row by row need no alignment."""

from __future__ import annotations

from typing import Any

from dbagenteval.compare.options import RowOptions

__all__ = ["are_identical"]

_PLAIN = frozenset({str, int, bool, type(None)})
_MOST_ROWS = 100


def are_identical(expected: Any, actual: Any, options: RowOptions) -> bool:
    """Say whether two results are equal under any option, with nothing to be noted.

    It answers for the most frequent case: a few rows of texts and whole numbers, under the same
    names, in the same order. False only means that the comparison has to look.

    Args:
        expected: The correct rows.
        actual: The agent's rows.
        options: How they are compared; an unchecked order would have to be noted.
    """
    if options.reference_is_ordered and not options.ordered:
        return False
    if type(expected) is not list or type(actual) is not list:
        return False
    return 0 < len(expected) == len(actual) <= _MOST_ROWS and all(
        map(_is_same_row, expected, actual)
    )


def _is_same_row(left: Any, right: Any) -> bool:
    if type(left) is not dict or type(right) is not dict or not left or left != right:
        return False
    # True equals 1, and one order of columns equals another, to Python.
    return (
        list(left) == list(right)
        and _PLAIN.issuperset(map(type, left.values()))
        and list(map(type, left.values())) == list(map(type, right.values()))
    )
