"""Keys of the columns of two results, made once for each kind of counterpart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import mul
from typing import Any

from dbagenteval.compare.cells import Reading
from dbagenteval.compare.numbers import round_keys
from dbagenteval.compare.sides import Side

__all__ = ["Context", "PairKeys"]

Context = frozenset[str]
"""Kinds of cells that occur in the columns that are compared with each other."""


class PairKeys:
    """Keys of the columns of an expected and an actual result.

    Args:
        expected: The correct result.
        actual: The agent's result.
        precision: Decimal places, or None for exact numbers.
        text_numbers: `equal` reads text as numbers even if both columns are text.
    """

    def __init__(
        self, expected: Side, actual: Side, precision: int | None, text_numbers: str = "typed"
    ) -> None:
        self.expected = expected
        self.actual = actual
        self.precision = precision
        self._extra = frozenset(("number",)) if text_numbers == "equal" else frozenset()
        self._keys: dict[tuple[int, int, Context], list[Hashable]] = {}
        self._orders: dict[int, list[int]] = {}
        self._signatures: dict[tuple[int, int, Context], tuple[int, int, int]] = {}

    def context(self, i: int, j: int) -> Context:
        """Give the kinds in expected column `i` and actual column `j`."""
        return self.expected.kinds[i] | self.actual.kinds[j] | self._extra

    def left(self, i: int, context: Context) -> list[Hashable]:
        """Give the keys of expected column `i`."""
        return self._column(0, self.expected, i, context)

    def right(self, j: int, context: Context) -> list[Hashable]:
        """Give the keys of actual column `j`."""
        return self._column(1, self.actual, j, context)

    def same_bag(self, i: int, j: int) -> bool:
        """Tell whether two columns may hold the same keys; never False if they do."""
        context = self.context(i, j)
        return self._signature(0, i, context) == self._signature(1, j, context)

    def order(
        self, keys: list[Hashable], sort: Callable[[Sequence[Hashable]], list[int]]
    ) -> list[int]:
        """Give the places of a column of keys in sorted order, sorted once."""
        name = id(keys)  # the columns live as long as this object
        if name not in self._orders:
            self._orders[name] = sort(keys)
        return self._orders[name]

    def same_sequence_on_right(self, j: int, k: int, context: Context) -> bool:
        """Tell whether two actual columns hold the same keys row by row."""
        return self.right(j, context) == self.right(k, context)

    def rows(self, pairs: Sequence[tuple[int, int]]) -> tuple[list[Any], list[Any]]:
        """Give both results as rows of keys over paired columns."""
        contexts = [self.context(i, j) for i, j in pairs]
        left = [self.left(i, context) for (i, _), context in zip(pairs, contexts, strict=True)]
        right = [self.right(j, context) for (_, j), context in zip(pairs, contexts, strict=True)]
        return list(zip(*left, strict=True)), list(zip(*right, strict=True))

    def _column(self, side: int, result: Side, index: int, context: Context) -> list[Hashable]:
        name = (side, index, self._relevant(result, index, context))
        if name not in self._keys:
            self._keys[name] = _keys(
                result.columns[index], result.kinds[index], Reading(context, self.precision)
            )
        return self._keys[name]

    @staticmethod
    def _relevant(result: Side, index: int, context: Context) -> Context:
        """Drop a context that does not matter: only text is read by it."""
        return context if "text" in result.kinds[index] else frozenset()

    def _signature(self, side: int, index: int, context: Context) -> tuple[int, int, int]:
        result = self.expected if side == 0 else self.actual
        name = (side, index, self._relevant(result, index, context))
        if name not in self._signatures:
            keys = self.left(index, context) if side == 0 else self.right(index, context)
            # Hashes of small numbers are nearly linear, so their squares are added up too; -1
            # has the hash of -2, so it is counted.
            hashes = list(map(hash, zip(keys)))
            squares = sum(map(mul, hashes, hashes))
            self._signatures[name] = (sum(hashes), squares, keys.count(-1))
        return self._signatures[name]


def _keys(column: list[Any], kinds: frozenset[str], reading: Reading) -> list[Hashable]:
    if kinds == {"number"}:
        types = set(map(type, column))
        if types <= {int, type(None)}:
            return column
        if types <= {float, type(None)} and reading.precision is not None:
            return list(round_keys(column, reading.precision))
    key = reading.key
    if kinds & {"json", "bytes", "other"}:
        return [key(value) for value in column]
    try:
        distinct = set(column)
    except TypeError:  # a signalling NaN
        return [key(value) for value in column]
    if 2 * len(distinct) > len(column):
        return [key(value) for value in column]
    known = {value: key(value) for value in distinct}
    return [known[value] for value in column]
