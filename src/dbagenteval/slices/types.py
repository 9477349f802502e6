"""Which SQL type holds some cells on every database, and how cells are written."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

__all__ = ["column_type", "literal"]

_INT32 = 2**31
_MAX_DIGITS = 38

_Choice = Callable[[list[Any]], "str | None"]
"""Gives a type, or None if it does not hold the cells."""


def column_type(kind: str, cells: Iterable[Any]) -> str:
    """Choose the type that holds these cells as they are; SQLite's columns may hold anything."""
    values = [cell for cell in cells if cell is not None]
    for choice in _CHOICES.get(kind, ()):
        type_ = choice(values)
        if type_ is not None:
            return type_
    return "TEXT"


def _integer(values: list[Any]) -> str | None:
    if not all(isinstance(value, int) for value in values):
        return None
    if all(-_INT32 <= value < _INT32 for value in values):
        return "INTEGER"
    is_bigint = all(-(2**63) <= value < 2**63 for value in values)
    return "BIGINT" if is_bigint else f"NUMERIC({_MAX_DIGITS}, 0)"


def _number(values: list[Any]) -> str | None:
    """Choose the scale from the values: databases differ in what NUMERIC alone means."""
    if not all(_is_number(value) and _is_finite(value) for value in values):
        return None
    decimals = [Decimal(str(value)).as_tuple() for value in values]
    scale = max((-int(each.exponent) for each in decimals), default=0)
    digits = max((len(each.digits) + int(each.exponent) for each in decimals), default=0) + scale
    if max(digits, scale) > _MAX_DIGITS:
        return None
    return f"NUMERIC({18 if max(digits, scale) <= 18 else _MAX_DIGITS}, {max(scale, 2)})"


def _float(values: list[Any]) -> str | None:
    return "DOUBLE PRECISION" if all(_is_number(value) for value in values) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and value == value  # noqa: PLR0124 not NaN


def _is_finite(value: float | Decimal) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _boolean(values: list[Any]) -> str | None:
    return "BOOLEAN" if all(value in (0, 1) for value in values) else None


def _written(name: str, form: str) -> _Choice:
    """Give a choice that takes texts of one form."""
    pattern = re.compile(form, re.IGNORECASE)
    return lambda values: name if all(pattern.fullmatch(_text(each)) for each in values) else None


def _json(values: list[Any]) -> str | None:
    try:
        for value in values:
            json.loads(_text(value))
    except ValueError:
        return None
    return "JSON"


_CLOCK = r"\d\d:\d\d(:\d\d(\.\d+)?)?"
_DATE = r"\d{4}-\d\d-\d\d"
_NEVER = r"|-?infinity"
"""A time without end, which PostgreSQL and DuckDB have."""
_ZONE = r"(Z|[+-]\d\d(:?\d\d)?)"
_CHOICES: dict[str, tuple[_Choice, ...]] = {
    "integer": (_integer, _float),
    "number": (_number, _float),
    "float": (_float,),
    "boolean": (_boolean, _integer),
    "date": (
        _written("DATE", f"{_DATE}{_NEVER}"),
        _written("TIMESTAMP", f"{_DATE}([ T]{_CLOCK})?{_NEVER}"),
        _integer,
        _float,
    ),
    "timestamp": (_written("TIMESTAMP", f"{_DATE}([ T]{_CLOCK})?{_NEVER}"), _integer, _float),
    "timestamptz": (_written("TIMESTAMPTZ", f"{_DATE}[ T]{_CLOCK}{_ZONE}?{_NEVER}"),),
    "time": (_written("TIME", _CLOCK),),
    "uuid": (_written("UUID", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),),
    "json": (_json,),
}


def literal(cell: Any, type_: str) -> str:
    """Write a cell of a column of that type as SQL."""
    if cell is None:
        return "NULL"
    if type_ == "BOOLEAN":
        return "TRUE" if cell else "FALSE"
    if type_ != "TEXT" and isinstance(cell, (int, float, Decimal)):
        text = format(cell, "f") if isinstance(cell, Decimal) else repr(+cell)  # +True is 1
        return text if _is_finite(cell) else f"'{text}'"
    return "'" + _text(cell).replace("'", "''") + "'"


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.replace("\0", "")  # PostgreSQL's text can't hold it
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return bytes(cell).hex()
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, (list, dict, tuple)):
        return json.dumps(cell, default=str, ensure_ascii=False)
    return str(cell)
