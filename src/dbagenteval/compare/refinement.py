"""Find which columns correspond, by refining colours of rows and columns together.

Two columns can only correspond if they hold the same values in rows that look the same. Rows
look the same if they hold the same values in columns that may correspond. Refining the one by
the other separates nearly everything in a few rounds, as in testing graphs for isomorphism;
what stays tied is tried out, within a fixed amount of work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from operator import mul

__all__ = ["ColumnClass", "Refinement", "Undecided"]

_WORK_MAX = 20_000_000
"""Cells hashed before the search gives up; some ten seconds."""


_ACCEPT_COST = 4
"""Work of comparing all rows, in hashed cells for each cell."""


class Undecided(Exception):
    """The search used up its work."""


@dataclass(frozen=True, slots=True)
class ColumnClass:
    """Columns that may correspond to each other.

    Args:
        left: Indices of expected columns, each of which needs a partner.
        right: Indices of actual columns; some may stay without a partner.
        is_loose: The cells are close, not equal, so they tell nothing about rows.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    is_loose: bool = False


class Refinement:
    """Searches for a one-to-one pairing of columns under which the rows agree.

    Args:
        left: Keys of each expected column.
        right: Keys of each actual column.
        prefer: Orders the partners to try for an expected column: best first.
        accept: Decides on a complete pairing (expected index to actual index).
        ordered: Rows correspond by position.
    """

    def __init__(
        self,
        left: Sequence[Sequence[Hashable]],
        right: Sequence[Sequence[Hashable]],
        prefer: Callable[[int, Sequence[int]], list[int]],
        accept: Callable[[dict[int, int]], bool],
        *,
        ordered: bool = False,
    ) -> None:
        self._left = left
        self._right = right
        self._prefer = prefer
        self._accept = accept
        self._rows = range(len(left[0]) if left else 0)
        self._ordered = ordered
        self._work = 0

    def search(self, classes: Sequence[ColumnClass]) -> dict[int, int] | None:
        """Give the pairing, or None if there is none.

        Raises:
            Undecided: Not found within the amount of work.
        """
        refined = self._refine(list(classes))
        if refined is None:
            return None
        open_class = min(
            (item for item in refined if len(item.right) > 1),
            key=lambda item: (len(item.left), len(item.right)),
            default=None,
        )
        if open_class is None:
            self._spend(_ACCEPT_COST * len(refined))
            pairing = {item.left[0]: item.right[0] for item in refined}
            return pairing if self._accept(pairing) else None
        rest = [item for item in refined if item is not open_class]
        if self._is_uniform(open_class):
            return self._search_any(open_class, rest)
        i = open_class.left[0]
        tried: list[Sequence[Hashable]] = []
        for j in self._prefer(i, open_class.right):
            if any(self._right[j] == column for column in tried):
                continue  # a column with the same cells leads to the same end
            tried.append(self._right[j])
            pair = ColumnClass((i,), (j,), open_class.is_loose)
            found = self.search([*rest, pair, *_without(open_class, i, j)])
            if found is not None:
                return found
        return None

    def _is_uniform(self, item: ColumnClass) -> bool:
        """Tell whether all columns of a class hold the same, so that any pairing will do."""
        first = self._left[item.left[0]]
        self._spend(len(item.left) + len(item.right))
        if self._ordered and any(self._right[j] != first for j in item.right):
            return False
        return all(self._left[i] == first for i in item.left) and all(
            self._right[j] == self._right[item.right[0]] for j in item.right
        )

    def _search_any(self, item: ColumnClass, rest: Sequence[ColumnClass]) -> dict[int, int] | None:
        """Pair the columns of a uniform class by preference and go on."""
        free = list(item.right)
        pairs = []
        for i in item.left:
            partners = self._prefer(i, free)
            if not partners:
                return None
            pairs.append(ColumnClass((i,), (partners[0],), item.is_loose))
            free.remove(partners[0])
        return self.search([*rest, *pairs])

    def _refine(self, classes: list[ColumnClass]) -> list[ColumnClass] | None:
        while True:
            if any(len(item.left) > len(item.right) for item in classes):
                return None
            colours = self._row_colours(classes)
            if colours is None:
                return None
            finer: list[ColumnClass] = []
            for item in classes:
                is_final = item.is_loose or len(item.right) == 1
                finer.extend([item] if is_final else self._split(item, *colours))
            if any(not item.right for item in finer):
                return None
            if len(finer) == len(classes) and finer == classes:
                return classes
            classes = finer

    def _row_colours(self, classes: list[ColumnClass]) -> tuple[list[int], list[int]] | None:
        if self._ordered:
            return list(self._rows), list(self._rows)
        balanced = [
            item for item in classes if len(item.left) == len(item.right) and not item.is_loose
        ]
        self._spend(2 * sum(len(item.left) for item in balanced))
        left = _colour_rows([[self._left[i] for i in item.left] for item in balanced], self._rows)
        right = _colour_rows(
            [[self._right[j] for j in item.right] for item in balanced], self._rows
        )
        return (left, right) if Counter(left) == Counter(right) else None

    def _split(
        self, item: ColumnClass, left_rows: list[int], right_rows: list[int]
    ) -> list[ColumnClass]:
        self._spend(len(item.left) + len(item.right))
        left: dict[int, list[int]] = {}
        right: dict[int, list[int]] = {}
        for i in item.left:
            left.setdefault(_colour(left_rows, self._left[i]), []).append(i)
        for j in item.right:
            right.setdefault(_colour(right_rows, self._right[j]), []).append(j)
        return [
            ColumnClass(tuple(members), tuple(right.get(colour, ())))
            for colour, members in left.items()
        ]

    def _spend(self, columns: int) -> None:
        self._work += columns * len(self._rows)
        if self._work > _WORK_MAX:
            raise Undecided


def _without(item: ColumnClass, i: int, j: int) -> list[ColumnClass]:
    left = tuple(index for index in item.left if index != i)
    right = tuple(index for index in item.right if index != j)
    return [ColumnClass(left, right, item.is_loose)] if left else []


def _colour(rows: list[int], cells: Sequence[Hashable]) -> int:
    hashes = list(map(hash, zip(rows, cells, strict=True)))
    return hash((sum(hashes), sum(map(mul, hashes, hashes))))  # sums of hashes alone are weak


def _colour_rows(groups: list[list[Sequence[Hashable]]], rows: range) -> list[int]:
    if not groups:
        return [0] * len(rows)
    parts: list[list[int]] = []
    for columns in groups:
        # Within a class it is not known which column is which: their cells are a bag.
        hashed = [list(map(hash, zip(column))) for column in columns]
        parts.append(list(map(sum, zip(*hashed, strict=True))) if len(hashed) > 1 else hashed[0])
    return list(map(hash, zip(*parts, strict=True)))
