"""The order of rows: which columns the reference is sorted by, and which rows tie."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

__all__ = ["sort_columns"]


def sort_columns(columns: Sequence[Sequence[Hashable]]) -> list[int]:
    """Guess the columns that rows are sorted by, from their keys.

    A sorted column of numbers or times without ties is taken to be the sort key, so that nothing
    ties. Else all sorted columns of numbers or times are, and only without any, those of text.

    Returns:
        Indices of columns with ties; empty if there are none or a column without ties sorts.
    """
    for is_measure in (True, False):
        found = []
        for index, column in enumerate(columns):
            if _is_measure(column) != is_measure:
                continue
            direction = _direction(column)
            if direction == "strict":
                return []
            if direction == "ties":
                found.append(index)
        if found:
            return found
    return []


def _is_measure(column: Sequence[Hashable]) -> bool:
    return all(
        isinstance(cell, (int, float, Decimal)) or (isinstance(cell, tuple) and len(cell) == 2)
        for cell in column
        if cell is not None
    )


def _direction(column: Sequence[Any]) -> str:
    """Tell whether a column is sorted: `strict`, with `ties`, or neither (also if constant)."""
    try:
        steps = {(one < other) - (one > other) for one, other in pairwise(column)}
    except TypeError:  # nulls or mixed kinds
        return ""
    if steps in ({1}, {-1}):
        return "strict"
    return "ties" if steps in ({0, 1}, {0, -1}) else ""
