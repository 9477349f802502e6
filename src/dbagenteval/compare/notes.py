"""What a pass rests on that the forgiving defaults hide."""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

from dbagenteval.compare.cells import Reading
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.names import contradicts
from dbagenteval.compare.numbers import close
from dbagenteval.compare.options import RowOptions
from dbagenteval.compare.outcome import Outcome

__all__ = ["BOTH_EMPTY", "pass_notes"]

BOTH_EMPTY = "both results empty"
_NAMES_SHOWN = 3
_NOTES_MAX = 4
_CELLS_MAX = 20_000
"""Differing cells of a column that are looked at for what they hide."""


def pass_notes(
    keys: PairKeys, outcome: Outcome, options: RowOptions, *, is_in_order: bool | None = None
) -> tuple[str, ...]:
    """Say in words what made the rows equal beyond being the same.

    Args:
        keys: The keys of both results.
        outcome: How they correspond.
        options: How they were compared.
        is_in_order: Whether the order is the same, if that is known already.
    """
    notes = [*_cell_notes(keys, outcome, options), *_name_notes(keys, outcome, options)]
    if outcome.ties:
        notes.append(f"rows that tie on {', '.join(outcome.ties)} are in another order")
    matching = outcome.matching
    if is_in_order is None and matching:
        is_in_order = all(one == other for one, other in matching.pairs)
    if options.reference_is_ordered and not options.ordered and not is_in_order:
        notes.append("order not checked though the reference has ORDER BY")
    return tuple(notes)


def _name_notes(keys: PairKeys, outcome: Outcome, options: RowOptions) -> list[str]:
    if options.positional:
        is_moved = any(i != j for i, j in outcome.alignment.pairs.items())
        return ["matched by value, columns in another order"] if is_moved else []
    names, others = keys.expected.names, keys.actual.names
    pairs = [
        (names[i], others[j])
        for i, j in outcome.alignment.pairs.items()
        if i in outcome.alignment.by_value
    ]
    if len(names) == len(others) == 1:
        return [
            f"the column is named {other}, expected {name}"
            for name, other in pairs
            if contradicts(name, other)
        ]
    if not pairs:
        return []
    shown = ", ".join(f"{name} = {other}" for name, other in pairs[:_NAMES_SHOWN])
    more = ", …" if len(pairs) > _NAMES_SHOWN else ""
    return [f"matched by value, names differ ({shown}{more})"]


def _cell_notes(keys: PairKeys, outcome: Outcome, options: RowOptions) -> list[str]:
    notes: dict[str, str] = {}
    pairs = outcome.matching.pairs if outcome.matching else []
    for i, j in outcome.alignment.pairs.items():
        context = keys.context(i, j)
        ours, theirs = keys.expected.columns[i], keys.actual.columns[j]
        exact = Reading(context, None)
        looked_at = 0
        for one, other in pairs:
            left, right = ours[one], theirs[other]
            if left is right or _is_same(left, right):
                continue
            looked_at += 1
            hidden = _hidden(left, right, exact, options)
            if hidden and hidden not in notes:
                notes[hidden] = f"{hidden} ({_shown(left)} against {_shown(right)})"
            if looked_at > _CELLS_MAX or (hidden and context == {"number"}):
                break
    return list(notes.values())[:_NOTES_MAX]


def _is_same(left: Any, right: Any) -> bool:
    try:
        return type(left) is type(right) and bool(left == right)
    except ArithmeticError:  # a signalling NaN
        return False


def _hidden(left: Any, right: Any, exact: Reading, options: RowOptions) -> str:
    """Name the leniency that makes two different cells equal, or give empty text."""
    are_floats = isinstance(left, float) and isinstance(right, float)
    if are_floats and math.isclose(left, right, rel_tol=1e-9):
        return ""
    one, other = exact.key(left), exact.key(right)
    if one is None and other is None:
        return _hidden_empty(left, right)
    if one != other and not _is_noise(one, other):
        if options.tolerance is not None:
            return "equal only within the tolerance"
        places = options.precision
        return f"equal only after rounding to {places} place{'' if places == 1 else 's'}"
    are_texts = isinstance(left, str) and isinstance(right, str)
    if are_texts and not options.trim_char_padding and left.strip() == right.strip():
        return "equal only without the blanks around text"
    return ""


def _hidden_empty(left: Any, right: Any) -> str:
    texts = isinstance(left, str), isinstance(right, str)
    if left is None or right is None:
        return "null equals empty text" if any(texts) else "null equals NaN"
    return ""


def _is_noise(one: Hashable, other: Hashable) -> bool:
    if isinstance(one, (int, float, Decimal)) and isinstance(other, (int, float, Decimal)):
        return close(_loose(one), _loose(other), 0)
    return False


def _loose(number: float | Decimal) -> float | Decimal:
    return number if isinstance(number, int) else float(number)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = "a huge number"
    return text if len(text) <= 40 else text[:39] + "…"
