"""Two results that differ: what the explanation and the guesses look at."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.matching import Matching

__all__ = ["Difference", "as_float", "is_number"]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two results that differ, over the columns that likely correspond.

    Args:
        keys: The keys of both results.
        pairs: Expected index to actual index of the columns.
        matching: Which rows correspond over these columns.
        neighbours: Missing row, extra row and the column pairs that differ between them.
    """

    keys: PairKeys
    pairs: dict[int, int]
    matching: Matching
    neighbours: list[tuple[int, int, tuple[tuple[int, int], ...]]]

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Give both results as rows of keys."""
        return self.keys.rows(list(self.pairs.items()))

    def only_repeats(self) -> bool:
        """Tell whether the extra rows are all copies of expected ones."""
        ours, theirs = self.rows()
        known = set(ours)
        return bool(self.pairs) and all(theirs[row] in known for row in self.matching.extra)

    def same_distinct_rows(self) -> bool:
        """Tell whether both results hold the same rows, only not equally often."""
        ours, theirs = self.rows()
        return bool(self.pairs) and set(ours) == set(theirs)

    def is_scrambled(self) -> bool:
        """Tell whether each column is right by itself but the rows are not."""
        return len(self.pairs) > 1 and all(
            Counter(self.keys.left(i, self.keys.context(i, j)))
            == Counter(self.keys.right(j, self.keys.context(i, j)))
            for i, j in self.pairs.items()
        )

    def cell_reason(self) -> str:
        """Give the reason code if all differing cells differ in one known way."""
        found = {
            _cell_reason(
                self.keys.expected.columns[i][one],
                self.keys.actual.columns[j][other],
                self.keys.left(i, self.keys.context(i, j))[one],
                self.keys.right(j, self.keys.context(i, j))[other],
            )
            for one, other, differing in self.neighbours
            for i, j in differing
        }
        return found.pop() if len(found) == 1 else ""

    def keys_of_cells(self) -> list[tuple[Any, Any]]:
        """Give the keys of the differing cells, expected and actual."""
        found = []
        for one, other, differing in self.neighbours:
            for i, j in differing:
                context = self.keys.context(i, j)
                found.append((self.keys.left(i, context)[one], self.keys.right(j, context)[other]))
        return found

    def numbers(self) -> list[tuple[float, float]] | None:
        """Give the differing cells as pairs of numbers; None if some are no numbers."""
        pairs = self.keys_of_cells()
        if not all(is_number(ours) and is_number(theirs) for ours, theirs in pairs):
            return None
        cells = [
            (self.keys.expected.columns[i][one], self.keys.actual.columns[j][other])
            for one, other, differing in self.neighbours
            for i, j in differing
        ]
        return [
            (_unrounded(left, ours), _unrounded(right, theirs))
            for (left, right), (ours, theirs) in zip(cells, pairs, strict=True)
        ]


def _unrounded(cell: Any, key: Any) -> float:
    return as_float(cell if is_number(cell) else key)


def is_number(value: object) -> bool:
    """Tell numbers from other keys; booleans are none."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def as_float(value: Any) -> float:
    """Give a number as a float, infinity if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def _cell_reason(left: Any, right: Any, one: Any, other: Any) -> str:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) == 2:
        return "time_zone" if {one[0], other[0]} == {"naive", "aware"} else ""
    if isinstance(left, str) and isinstance(right, str):
        if left.strip().casefold() == right.strip().casefold():
            return "text_case"
        return "different_text"
    return ""
