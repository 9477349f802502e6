"""Decide which actual column stands for which expected column."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from dbagenteval.compare.close_columns import is_close_column
from dbagenteval.compare.keys import Context, PairKeys
from dbagenteval.compare.names import affinity, contradicts, is_row_number, named_pairs
from dbagenteval.compare.options import RowOptions
from dbagenteval.compare.refinement import ColumnClass, Refinement, Undecided

__all__ = ["Alignment", "align"]

_SWAP_GAIN = 0.3
"""Names speak against a pairing if exchanging two columns makes them fit better by this."""
_CLEAR_GAIN = 0.5
"""Likewise for a column that is used in no pair, where the values may agree by chance."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which columns correspond.

    Args:
        pairs: Expected index to actual index; complete if `reason` is empty.
        by_value: The expected indices that were paired by their values.
        reason: Code of why there is no pairing, or empty.
        column: Name of the expected column that has no partner, if one can be named.
    """

    pairs: dict[int, int]
    by_value: frozenset[int] = frozenset()
    reason: str = ""
    column: str = ""


class _Search:
    """One search for the columns that names leave open."""

    def __init__(
        self,
        keys: PairKeys,
        options: RowOptions,
        named: dict[int, int],
        rows_agree: Callable[[dict[int, int]], bool],
    ) -> None:
        self.keys = keys
        self.options = options
        self.named = named
        self.rows_agree = rows_agree
        self.was_contradicted = False
        self.names = keys.expected.names
        self.others = keys.actual.names

    def allowed(self, i: int, j: int) -> bool:
        """Tell whether the names let column `j` stand for column `i`."""
        if self.options.positional or (len(self.names) == len(self.others) == 1):
            return True
        name, other = self.names[i], self.others[j]
        is_counter = is_row_number(other) and not is_row_number(name)
        return not (is_counter and len(self.others) > 1) and not contradicts(name, other)

    def affinity(self, i: int, j: int) -> float:
        """Say how much the names of two columns have in common."""
        if self.options.positional:
            return 1.0 if i == j else 0.0
        return affinity(self.names[i], self.others[j], self.names)

    def prefer(self, i: int, partners: Sequence[int]) -> list[int]:
        """Order the partners of column `i`, best name first; contradicted ones are left out."""
        fitting = [j for j in partners if self.allowed(i, j)]
        self.was_contradicted |= len(fitting) < len(partners)
        return sorted(fitting, key=lambda j: (-self.affinity(i, j), j != i, j))

    def accept(self, pairing: dict[int, int]) -> bool:
        """Decide on a complete pairing."""
        pairs = {**self.named, **pairing}
        if not self.rows_agree(pairs):
            return False
        if all(self.allowed(i, j) for i, j in pairing.items()) and not self._is_swapped(pairing):
            return True
        self.was_contradicted = True
        return False

    def _is_swapped(self, pairing: dict[int, int]) -> bool:
        """Tell whether the names fit better the other way round than the values do."""
        if self.options.positional:
            return False
        kinds, other_kinds = self.keys.expected.kinds, self.keys.actual.kinds
        free = {j: None for j in range(len(self.others)) if j not in self.named.values()}
        user = {**free, **{j: i for i, j in pairing.items()}}
        for i, j in pairing.items():
            for k, owner in user.items():
                gain = self.affinity(i, k) - self.affinity(i, j)
                if k == j or gain <= 0 or not (kinds[i] & other_kinds[k]):
                    continue
                if self.keys.same_sequence_on_right(j, k, self.keys.context(i, j)):
                    continue
                if owner is None:
                    if gain >= _CLEAR_GAIN and self.is_chance(i):
                        return True
                elif self.affinity(owner, j) + gain > self.affinity(owner, k) + _SWAP_GAIN:
                    return True
        return False

    def is_chance(self, i: int) -> bool:
        """Tell whether a column holds so little that another may hold the same by chance."""
        values = {
            value for value in self.keys.left(i, self.keys.expected.kinds[i]) if value is not None
        }
        return len(values) < 3 and all(
            isinstance(value, (bool, int, float)) and abs(value) < 10_000 for value in values
        )


def align(
    keys: PairKeys, options: RowOptions, rows_agree: Callable[[dict[int, int]], bool]
) -> Alignment:
    """Pair every expected column with an actual one: by name first, the rest by value.

    Args:
        keys: The keys of both results.
        options: How to compare.
        rows_agree: Compares the rows over a complete pairing.
    """
    expected, actual = keys.expected, keys.actual
    named = {} if options.positional else named_pairs(expected.names, actual.names)
    if options.positional and options.columns == "by_name":
        named = {i: i for i in range(min(len(expected.names), len(actual.names)))}
    unnamed = [i for i in range(len(expected.names)) if i not in named]
    free = [j for j in range(len(actual.names)) if j not in set(named.values())]
    if unnamed and (options.columns == "by_name" or len(unnamed) > len(free)):
        return Alignment(named, reason="missing_column", column=expected.names[unnamed[0]])
    if not unnamed:
        return Alignment(named)
    search = _Search(keys, options, named, rows_agree)
    try:
        pairing, column = _by_value(search, unnamed, free)
    except Undecided:
        return Alignment(named, reason="columns_undecided")
    if pairing is None:
        reason = "names_contradict" if search.was_contradicted else "different_values"
        return Alignment(named, reason=reason, column=column)
    return Alignment({**named, **pairing}, frozenset(unnamed))


def _by_value(
    search: _Search, unnamed: list[int], free: list[int]
) -> tuple[dict[int, int] | None, str]:
    keys = search.keys
    fits = {i: [j for j in free if keys.same_bag(i, j)] for i in unnamed}
    loose: set[int] = set()
    for i in unnamed:
        if not fits[i] or search.options.tolerance is not None:
            close = [j for j in free if is_close_column(keys, i, j, search.options)]
            loose.update(close)
            fits[i] = sorted({*fits[i], *close})
        if not fits[i]:
            return None, keys.expected.names[i]
    left: list[Sequence[Hashable]] = [()] * len(keys.expected.names)
    right: list[Sequence[Hashable]] = [()] * len(keys.actual.names)
    classes = [ColumnClass((i,), (j,)) for i, j in search.named.items()]
    contexts: dict[tuple[int, ...], Context] = {
        (i,): keys.context(i, j) for i, j in search.named.items()
    }
    for found in _components(fits):
        members = replace(found, is_loose=any(j in loose for j in found.right))
        classes.append(members)
        contexts[members.left] = _context(keys, members)
    for item in classes:
        context = contexts[item.left]
        for i in item.left:
            left[i] = keys.left(i, context)
        for j in item.right:
            right[j] = keys.right(j, context)
    refinement = Refinement(
        left,
        right,
        search.prefer,
        lambda pairing: search.accept(_only(pairing, unnamed)),
        ordered=search.options.ordered,
    )
    pairing = refinement.search(classes)
    return (None if pairing is None else _only(pairing, unnamed)), ""


def _only(pairing: dict[int, int], unnamed: Sequence[int]) -> dict[int, int]:
    return {i: pairing[i] for i in unnamed}


def _context(keys: PairKeys, members: ColumnClass) -> Context:
    kinds: Context = frozenset()
    for i in members.left:
        kinds |= keys.context(i, members.right[0])
    for j in members.right:
        kinds |= keys.context(members.left[0], j)
    return kinds


def _components(fits: dict[int, list[int]]) -> list[ColumnClass]:
    """Group the columns that may stand for each other, directly or through others."""
    groups: list[tuple[set[int], set[int]]] = []
    for i, partners in fits.items():
        left, right = {i}, set(partners)
        apart = []
        for group in groups:
            if group[1] & right:
                left |= group[0]
                right |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (left, right)]
    return [ColumnClass(tuple(sorted(left)), tuple(sorted(right))) for left, right in groups]
