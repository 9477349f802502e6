"""Where in the results a number stands: which execution, row and column."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from dbagenteval.answers.columns import as_number, exact
from dbagenteval.traces import Rows

__all__ = ["MOST_ROWS", "Place", "Places"]

MOST_ROWS = 20_000
"""Rows of a result that are looked at to tie a number to its row."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cell: index of the result (0 is the last execution), index of the row, column name."""

    result: int
    row: int
    column: str


class Places:
    """Finds the cells that hold a number.

    Args:
        results: The rows of each execution, the last one first.
    """

    def __init__(self, results: Sequence[Rows]) -> None:
        self._results = results

    @cached_property
    def _by_size(self) -> dict[Any, list[Place]]:
        found: dict[Any, list[Place]] = defaultdict(list)
        for result, rows in enumerate(self._results):
            for index, row in enumerate(rows[:MOST_ROWS]):
                for column, cell in row.items():
                    number = as_number(cell)
                    if number is not None:
                        found[abs(number)].append(Place(result, index, column))
        return found

    @cached_property
    def _sizes(self) -> list[Any]:
        return sorted(self._by_size)

    def of(self, size: Any) -> list[Place]:
        """Give the cells that hold exactly this number, the sign not looked at."""
        return self._by_size.get(abs(size), [])

    def within(self, low: Decimal, high: Decimal) -> list[Place]:
        """Give the cells whose size lies between two bounds, both included."""
        at = bisect_left(self._sizes, low)
        found: list[Place] = []
        while at < len(self._sizes) and exact(self._sizes[at]) <= high:
            found += self._by_size[self._sizes[at]]
            at += 1
        return found
