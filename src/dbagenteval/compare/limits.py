"""A LIMIT that cuts through ties: every choice among the tied rows is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from dbagenteval.compare.cells import Reading
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.names import named_pairs
from dbagenteval.compare.options import RowOptions
from dbagenteval.compare.order import sort_columns
from dbagenteval.compare.sides import Side

__all__ = ["agree_up_to_ties"]

Row = tuple[Hashable, ...]


def agree_up_to_ties(
    expected: Side, actual: Side, unlimited: Side, options: RowOptions
) -> tuple[str, ...]:
    """See whether the actual rows are another right choice among the rows that tie at the cut.

    Args:
        expected: The reference's rows.
        actual: The agent's rows.
        unlimited: The reference's rows without its LIMIT, in its order.
        options: How to compare.

    Returns:
        Names of the columns the rows tie on; empty if they are no such choice.
    """
    pairs = _pairs(unlimited, actual, options)
    if expected.names != unlimited.names or len(pairs) < len(unlimited.names):
        return ()
    precision = options.precision if options.tolerance is None else None
    keys = PairKeys(unlimited, actual, precision, options.text_numbers)
    columns = sorted(pairs.items())
    everything, given = keys.rows(columns)
    wanted = _rows(expected, keys, columns)
    places = _sort_places(unlimited, everything, options)
    if not places or not _is_right_choice(wanted, given, everything, places):
        return ()
    if options.ordered and _at(wanted, places) != _at(given, places):
        return ()
    return tuple(unlimited.names[place] for place in places)


def _pairs(unlimited: Side, actual: Side, options: RowOptions) -> dict[int, int]:
    """Pair columns by name, the last open ones by place if their number agrees."""
    pairs = {} if options.positional else named_pairs(unlimited.names, actual.names)
    unnamed = [i for i in range(len(unlimited.names)) if i not in pairs]
    free = [j for j in range(len(actual.names)) if j not in set(pairs.values())]
    if options.columns == "by_name" and not options.positional:
        return pairs
    if len(unnamed) == len(free):
        pairs.update(zip(unnamed, free, strict=True))
    return pairs


def _rows(side: Side, keys: PairKeys, columns: Sequence[tuple[int, int]]) -> list[Row]:
    cells: list[list[Any]] = []
    for i, j in columns:
        reading = Reading(keys.context(i, j), keys.precision)
        cells.append([reading.key(value) for value in side.columns[i]])
    return list(zip(*cells, strict=True))


def _sort_places(unlimited: Side, rows: list[Row], options: RowOptions) -> list[int]:
    names = unlimited.names
    if options.order_columns:
        known = [names.index(name) for name in options.order_columns if name in names]
        return known if len(known) == len(options.order_columns) else []
    return sort_columns(list(zip(*rows, strict=True)))


def _at(rows: Sequence[Row], places: Sequence[int]) -> list[Row]:
    return [tuple(row[place] for place in places) for row in rows]


def _is_right_choice(
    wanted: list[Row], given: list[Row], everything: list[Row], places: list[int]
) -> bool:
    whole = Counter(_at(everything, places))
    cut = Counter(_at(wanted, places))
    if Counter(_at(given, places)) != cut:
        return False
    is_cut = {group for group, count in cut.items() if count < whole[group]}

    def kept(rows: list[Row]) -> Counter[Row]:
        groups = _at(rows, places)
        return Counter(row for row, group in zip(rows, groups, strict=True) if group not in is_cut)

    return kept(wanted) == kept(given) and not Counter(given) - Counter(everything)
