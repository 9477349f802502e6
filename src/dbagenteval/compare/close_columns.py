"""Columns whose numbers are close to those of another column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal

from dbagenteval.compare.closeness import Closeness
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.numbers import Tolerance
from dbagenteval.compare.options import RowOptions

__all__ = ["closeness_of", "is_close_column"]


def closeness_of(options: RowOptions) -> Closeness:
    """Give the closeness that the options ask for."""
    if options.tolerance is None:
        return Closeness(options.precision, None)
    return Closeness(None, Tolerance.from_mapping(options.tolerance))


def is_close_column(keys: PairKeys, i: int, j: int, options: RowOptions) -> bool:
    """Tell whether the cells of two columns can be paired so that each pair is close.

    In one dimension, pairing both columns in sorted order finds such a pairing if there is one.
    """
    closeness = closeness_of(options)
    context = keys.context(i, j)
    if "json" in context:
        return True  # only whole rows can tell
    if "number" not in context or not closeness.may_apply(context):
        return False
    left, right = keys.left(i, context), keys.right(j, context)
    ours, theirs = keys.order(left, _sorted_numbers), keys.order(right, _sorted_numbers)
    if len(left) != len(right) or len(ours) != len(theirs):
        return False
    actual, expected = keys.actual.columns[j], keys.expected.columns[i]
    for one, other in zip(ours, theirs, strict=True):
        if not closeness.cells(expected[one], actual[other], left[one], right[other]):
            return False
    return len(ours) == len(left) or _others(left) == _others(right)


def _sorted_numbers(cells: Sequence[Hashable]) -> list[int]:
    numbers = [(cell, place) for place, cell in enumerate(cells) if _is_number(cell)]
    return [place for _, place in sorted(numbers, key=lambda item: item[0])]  # type: ignore[arg-type, return-value]


def _is_number(cell: Hashable) -> bool:
    return isinstance(cell, (int, float, Decimal))


def _others(cells: Sequence[Hashable]) -> Counter[Hashable]:
    """Count the cells that are no numbers; both columns must have the same ones."""
    return Counter(cell for cell in cells if not _is_number(cell))
