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
    ties. Else all sorted columns of numbers or times are; if they rise, a sorted column of text
    without ties comes first, since lists are sorted by name and rankings from the top down.
    Without any, sorted columns of text are.

    Returns:
        Indices of columns with ties; empty if there are none or a column without ties sorts.
    """
    measures = [index for index, column in enumerate(columns) if _is_measure(column)]
    others = [index for index in range(len(columns)) if index not in measures]
    directions = {index: _direction(column) for index, column in enumerate(columns)}
    ranks = [index for index in measures if directions[index]]
    names = [index for index in others if directions[index]]
    if any(directions[index] in _STRICT for index in ranks):
        return []
    is_ranking = any(directions[index] == "falls" for index in ranks)
    if not is_ranking and any(directions[index] in _STRICT for index in names):
        return []
    return ranks or names


_STRICT = ("rises strictly", "falls strictly")


def _is_measure(column: Sequence[Hashable]) -> bool:
    return all(
        (isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool))
        or (isinstance(cell, tuple) and cell[0] in ("naive", "aware", "clock"))
        for cell in column
        if cell is not None
    )


def _direction(column: Sequence[Any]) -> str:
    """Say how a column is sorted; empty if it is not, or constant."""
    try:
        steps = {(one < other) - (one > other) for one, other in pairwise(column)}
    except TypeError:  # nulls or mixed kinds
        return ""
    for sign, word in ((1, "rises"), (-1, "falls")):
        if steps == {sign}:
            return f"{word} strictly"
        if steps == {0, sign}:
            return word
    return ""
