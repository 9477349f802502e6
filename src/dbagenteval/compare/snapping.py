"""Let a column of nearly equal numbers take the keys of the column it is close to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal

from dbagenteval.compare.closeness import Closeness
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.numbers import Tolerance
from dbagenteval.compare.options import RowOptions

__all__ = ["closeness_of", "snap"]


def closeness_of(options: RowOptions) -> Closeness:
    """Give the closeness that the options ask for."""
    if options.tolerance is None:
        return Closeness(options.precision, None)
    return Closeness(None, Tolerance.from_mapping(options.tolerance))


def snap(keys: PairKeys, i: int, j: int, options: RowOptions) -> Sequence[Hashable] | None:
    """Give the keys of actual column `j` with each replaced by the close one of column `i`.

    In one dimension, pairing both columns in sorted order finds a pairing of close values if
    there is any.

    Returns:
        One key per row, or None if the columns are not close.
    """
    closeness = closeness_of(options)
    context = keys.context(i, j)
    if "number" not in context or not closeness.may_apply(context):
        return None
    left, right = keys.left(i, context), keys.right(j, context)
    if len(left) != len(right):
        return None
    ours, theirs = _sorted_numbers(left), _sorted_numbers(right)
    if len(ours) != len(theirs) or len(ours) < len(left) - _other_count(left, right):
        return None
    actual, expected = keys.actual.columns[j], keys.expected.columns[i]
    found = list(right)
    for one, other in zip(ours, theirs, strict=True):
        if not closeness.cells(expected[one], actual[other], left[one], right[other]):
            return None
        found[other] = left[one]
    return found


def _sorted_numbers(cells: Sequence[Hashable]) -> list[int]:
    numbers = [(cell, place) for place, cell in enumerate(cells) if _is_number(cell)]
    return [place for _, place in sorted(numbers, key=lambda item: item[0])]  # type: ignore[arg-type, return-value]


def _is_number(cell: Hashable) -> bool:
    return isinstance(cell, (int, float, Decimal))


def _other_count(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Count the cells that are no numbers; both columns must have the same ones."""
    ours = sorted(hash(cell) for cell in left if not _is_number(cell))
    theirs = sorted(hash(cell) for cell in right if not _is_number(cell))
    return len(ours) if ours == theirs else -1
