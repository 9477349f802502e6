"""Result rows as JSON text, as exact as JSON allows, within a number of bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson

from dbagenteval.instrument.row_settings import REDACTED, RowSettings

__all__ = ["Cells", "RowsText", "Unreadable", "cells_of"]

Cells = Sequence[Any]


class Unreadable(Exception):
    """A row is of a form whose cells can't be told."""


def cells_of(row: Any, columns: Sequence[str]) -> Cells:
    """Give the cells of a row by position, whatever the program's row factory made of it.

    Raises:
        Unreadable: It can't be told which cell is of which column.
    """
    if isinstance(row, tuple):
        return row
    if isinstance(row, Mapping):
        if len(row) == len(columns) and all(name in row for name in columns):
            return [row[name] for name in columns]
    elif (hasattr(row, "keys") and hasattr(row, "__getitem__")) or isinstance(
        row, list
    ):  # sqlite3.Row, SQLAlchemy's Row
        return tuple(row)
    elif len(columns) == 1 and (row is None or isinstance(row, (str, bytes, int, float, Decimal))):
        return (row,)
    else:
        known = getattr(row, "__dict__", {})
        if len(set(columns)) == len(columns) and all(name in known for name in columns):
            return [known[name] for name in columns]
    raise Unreadable(f"rows are {type(row).__name__} objects")


class RowsText:
    """`{"columns": […], "rows": [[…]]}` of one result, written as its rows come.

    Numbers stay numbers (a Decimal with all its digits, an integer of any size), dates and times
    are ISO 8601, bytes are hex digits, and floats that JSON doesn't know are "NaN", "Infinity" and
    "-Infinity". Other objects are their `str`.

    Args:
        columns: Column names in order.
        settings: What is hidden, and how long the text may be.
    """

    __slots__ = (
        "_head",
        "_left",
        "_parts",
        "columns",
        "count",
        "has_hidden",
        "is_full",
        "settings",
    )

    def __init__(self, columns: Sequence[str], settings: RowSettings) -> None:
        self.columns = columns
        self.settings = settings
        self._head = b'{"columns":' + _encode(list(columns)) + b',"rows":['
        self._left = settings.max_bytes - len(self._head) - len(b"]}")
        self._parts: list[bytes] = []
        self.count = 0
        self.is_full = self._left < 0 or settings.max_rows < 1
        self.has_hidden = False

    def add(self, rows: Sequence[Cells]) -> None:
        """Write rows, as many as rows and bytes allow.

        Raises:
            Exception: Whatever the hook that hides values raised.
        """
        rows = rows[: self.settings.max_rows - self.count]
        if self.settings.hides:
            rows = [self._hidden(row) for row in rows]
        if not rows or self.is_full:
            return
        encoded = _encode(rows)[1:-1]
        if len(encoded) < self._left:
            self._put(encoded, len(rows))
        else:
            for row in rows:
                encoded = _encode(row)
                if len(encoded) >= self._left:
                    self.is_full = True
                    return
                self._put(encoded, 1)
        self.is_full = self.count >= self.settings.max_rows

    def text(self) -> str:
        """Give the JSON text."""
        return (self._head + b",".join(self._parts) + b"]}").decode()

    def _put(self, encoded: bytes, count: int) -> None:
        self._parts.append(encoded)
        self._left -= len(encoded) + 1
        self.count += count

    def _hidden(self, row: Cells) -> Cells:
        seen = [self._seen(column, cell) for column, cell in zip(self.columns, row)]  # noqa: B905 of one length
        self.has_hidden = self.has_hidden or any(
            new is not old and new != old
            for new, old in zip(seen, row)  # noqa: B905 of one length
        )
        return seen

    def _seen(self, column: str, value: Any) -> Any:
        settings = self.settings
        if settings.redact_columns is not None and settings.redact_columns.search(column):
            return REDACTED
        if settings.hook is not None:
            value = settings.hook(column, value)
        if settings.redact is not None and value is not None and settings.redact.search(str(value)):
            return REDACTED
        return value


def _encode(value: Any) -> bytes:
    try:
        encoded = _dumps(value)
    except (TypeError, ValueError, RecursionError):  # big integers, lone surrogates
        return _encode_slowly(value)
    # orjson writes NaN and infinities as null, which would read as NULL.
    return _encode_slowly(value) if b"null" in encoded and _has_non_finite(value) else encoded


def _dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=_plain)
    except TypeError:  # keys that are no texts: asked for at once, they would cost all others half
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value)) if value.is_finite() else str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, (set, frozenset)):
        return list(value)
    return str(value)


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(_has_non_finite(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_non_finite(item) for item in value)
    return False


def _encode_slowly(value: Any) -> bytes:
    """Write what orjson can't, cell by cell, in the form it gives otherwise."""
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(_encode_slowly, value)) + b"]"
    if isinstance(value, Mapping):
        items = (_text(str(key)) + b":" + _encode_slowly(item) for key, item in value.items())
        return b"{" + b",".join(items) + b"}"
    if isinstance(value, float) and not math.isfinite(value):
        return b'"NaN"' if math.isnan(value) else (b'"Infinity"' if value > 0 else b'"-Infinity"')
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value)).encode()
    if isinstance(value, str):
        return _text(value)
    try:
        return orjson.dumps(value, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _text(str(value))


def _text(value: str) -> bytes:
    return json.dumps(str(value)).encode()  # escapes surrogates, which UTF-8 can't hold
