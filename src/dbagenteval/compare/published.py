"""The names of the published comparison: `canonical`, `rows_match`, `match_any`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from dbagenteval.compare.cells import plain
from dbagenteval.compare.nested import nested_key
from dbagenteval.compare.numbers import round_half_up
from dbagenteval.compare.rowsets import RowOptions, compare_rows

__all__ = ["DEFAULT_PRECISION", "canonical", "match_any", "rows_match"]

DEFAULT_PRECISION = 2
"""Decimal places that numbers are compared at unless the case says otherwise."""

_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)


def canonical(value: Any, precision: int = DEFAULT_PRECISION) -> str:
    """Give the text that equal single values share.

    Rows are compared by `compare_rows`, which knows the columns; this is for values that stand
    alone. None is empty text, booleans are `1` and `0`, numbers and text that is a plain number
    are rounded half up, other text is stripped. Case counts.
    """
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float, Decimal)):
        return _number_text(value, precision)
    text = _text(value).strip()
    return _number_text(Decimal(text), precision) if _PLAIN_NUMBER.fullmatch(text) else text


def _text(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):  # an array with an integer too long to print, or too deep
        return str(nested_key(value, lambda leaf: hex(leaf) if isinstance(leaf, int) else leaf))


def _number_text(value: float | Decimal, precision: int) -> str:
    number = round_half_up(value, precision)
    if isinstance(number, int):
        try:
            return str(number)
        except ValueError:  # more digits than Python prints
            return hex(number)
    if not number.is_finite():
        return "nan" if number.is_nan() else "inf" if number > 0 else "-inf"
    if number.adjusted() > 4000 or -number.adjusted() > 4000:
        return str(number)
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def rows_match(
    expected: Sequence[Mapping[str, Any]],
    actual: Sequence[Mapping[str, Any]],
    ordered: bool = False,
    precision: int = DEFAULT_PRECISION,
) -> bool:
    """Tell whether the actual rows are the expected ones; `compare_rows` says why not."""
    options = RowOptions(ordered=ordered, precision=precision)
    return compare_rows(expected, actual, options).equal


def match_any(
    accepted: Sequence[Sequence[Mapping[str, Any]]],
    actual: Sequence[Mapping[str, Any]],
    ordered: bool = False,
    precision: int = DEFAULT_PRECISION,
) -> int | None:
    """Give the index of the first accepted answer that the rows match, or None."""
    for index, expected in enumerate(accepted):
        if rows_match(expected, actual, ordered, precision):
            return index
    return None
