"""Match two results under the options: which columns and which rows correspond."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from dbagenteval.compare.alignment import Alignment, align
from dbagenteval.compare.close_columns import closeness_of
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.matching import Matching, match_rows
from dbagenteval.compare.options import RowOptions
from dbagenteval.compare.order import sort_columns
from dbagenteval.compare.sides import Side

__all__ = ["Outcome", "match_over", "match_rest", "match_results", "pair_keys"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far two results correspond.

    Args:
        alignment: Which columns correspond.
        matching: Which rows correspond over these columns; None without complete alignment.
        ties: Names of the columns on which rows tie that stand in another order.
        is_out_of_order: The rows are the right ones in another order.
    """

    alignment: Alignment
    matching: Matching | None = None
    ties: tuple[str, ...] = ()
    is_out_of_order: bool = False

    @property
    def rows_agree(self) -> bool:
        """True if every row has its partner, whatever the order."""
        found = self.matching
        return not self.alignment.reason and bool(found and not found.missing and not found.extra)


class _Rows:
    """Rows of keys over paired columns, and which of them are close."""

    def __init__(self, keys: PairKeys, pairs: dict[int, int], options: RowOptions) -> None:
        columns = list(pairs.items())
        self.left, self.right = keys.rows(columns)
        self.closeness = closeness_of(options)
        self.fuzzy = [
            place
            for place, pair in enumerate(columns)
            if self.closeness.may_apply(keys.context(*pair))
        ]
        self._ours = {place: keys.expected.columns[columns[place][0]] for place in self.fuzzy}
        self._theirs = {place: keys.actual.columns[columns[place][1]] for place in self.fuzzy}

    def close(self, one: int, other: int) -> bool:
        """Tell whether an expected and an actual row agree, cell by cell."""
        cells = zip(self.left[one], self.right[other], strict=True)
        return all(
            a == b or (place in self._ours and self._close_cells(place, one, other, a, b))
            for place, (a, b) in enumerate(cells)
        )

    def _close_cells(self, place: int, one: int, other: int, a: Hashable, b: Hashable) -> bool:
        left, right = self._ours[place][one], self._theirs[place][other]
        return self.closeness.cells(left, right, a, b)


def match_over(keys: PairKeys, pairs: dict[int, int], options: RowOptions) -> Matching:
    """Pair up the rows over given columns, whatever their order."""
    rows = _Rows(keys, pairs, options)
    is_wide = options.tolerance is not None
    reach = rows.closeness.reach
    return match_rows(rows.left, rows.right, rows.fuzzy, rows.close, reach, is_wide=is_wide)


def _match_in_order(keys: PairKeys, pairs: dict[int, int], options: RowOptions) -> Matching:
    rows = _Rows(keys, pairs, options)
    ours, theirs = len(rows.left), len(rows.right)
    together = [
        row
        for row in range(min(ours, theirs))
        if rows.left[row] == rows.right[row] or rows.close(row, row)
    ]
    apart = sorted(set(range(max(ours, theirs))) - set(together))
    return Matching(
        [(row, row) for row in together],
        [row for row in apart if row < ours],
        [row for row in apart if row < theirs],
    )


def match_rest(
    keys: PairKeys, pairs: dict[int, int], by_value: frozenset[int], options: RowOptions
) -> Outcome:
    """Match what is left of two results whose columns are paired already."""
    match = _match_in_order if options.ordered else match_over
    return Outcome(alignment=Alignment(pairs, by_value), matching=match(keys, pairs, options))


def pair_keys(expected: Side, actual: Side, options: RowOptions) -> PairKeys:
    """Give the keys of two results under the options."""
    precision = options.precision if options.tolerance is None else None
    return PairKeys(expected, actual, precision, options.text_numbers)


def match_results(keys: PairKeys, options: RowOptions) -> Outcome:
    """Find the columns and the rows that correspond."""
    if options.ordered:
        outcome = _match(keys, options)
        if outcome.rows_agree:
            return outcome
    outcome = _match(keys, replace(options, ordered=False))
    if not options.ordered or not outcome.rows_agree:
        return outcome
    ties = _tied(keys, outcome, options)
    return replace(outcome, ties=ties, is_out_of_order=not ties)


def _match(keys: PairKeys, options: RowOptions) -> Outcome:
    match = _match_in_order if options.ordered else match_over
    found: list[Matching] = []

    def rows_agree(pairs: dict[int, int]) -> bool:
        found[:] = [match(keys, pairs, options)]
        return not found[0].missing and not found[0].extra

    alignment = align(keys, options, rows_agree)
    if alignment.reason:
        return Outcome(alignment=alignment)
    if not found:
        rows_agree(alignment.pairs)
    return Outcome(alignment=alignment, matching=found[0])


def _tied(keys: PairKeys, outcome: Outcome, options: RowOptions) -> tuple[str, ...]:
    """Name the sort columns if rows only change places with rows that tie on them."""
    columns = list(outcome.alignment.pairs.items())
    left, right = keys.rows(columns)
    names = [keys.expected.names[i] for i, _ in columns]
    places = (
        [names.index(name) for name in options.order_columns if name in names]
        if options.order_columns
        else sort_columns(list(zip(*left, strict=True)))
    )
    if not places or len(places) < len(options.order_columns):
        return ()
    if _at(left, places) != _at(right, places):
        return ()
    return tuple(names[place] for place in places)


def _at(rows: Sequence[tuple[object, ...]], places: Sequence[int]) -> list[tuple[object, ...]]:
    return [tuple(row[place] for place in places) for row in rows]
