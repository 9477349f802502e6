"""Cells: which kind a value is of, and the key that equal values share.

What equals what is a table in docs/comparison.md. A key is hashable; two cells of one pair of
columns are equal when their keys are. Text is read as another kind only if the other kind is in
the two columns (`context`), so "1.10" equals 1.1 in a column of numbers and not "1.1" in a
column of text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from dbagenteval.compare.nested import nested_key, read_json
from dbagenteval.compare.numbers import exact_number, read_number, round_key
from dbagenteval.compare.times import (
    duration_key,
    read_clock,
    read_timestamp,
    stamp_key,
    time_key,
)

__all__ = ["Reading", "kind_of", "kinds_of", "plain"]

_KIND_OF_TYPE: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "number",
    float: "number",
    Decimal: "number",
    str: "text",
    date: "stamp",
    datetime: "stamp",
    time: "clock",
    timedelta: "clock",
    bytes: "bytes",
    bytearray: "bytes",
    memoryview: "bytes",
    UUID: "uuid",
    dict: "json",
    list: "json",
    tuple: "json",
    set: "json",
    frozenset: "json",
}
_KIND_OF_BASE: tuple[tuple[Any, str], ...] = (
    (bool, "bool"),
    ((int, float, Decimal), "number"),
    (str, "text"),
    (date, "stamp"),
    ((time, timedelta), "clock"),
    ((bytes, bytearray, memoryview), "bytes"),
    (UUID, "uuid"),
    ((Mapping, list, tuple, set, frozenset), "json"),
)
_TRUTHS = {"true": True, "t": True, "false": False, "f": False}


def kind_of(value: object) -> str:
    """Name the kind of a value that `plain` gave; `other` if it is none of ours."""
    kind = _KIND_OF_TYPE.get(type(value))
    if kind:
        return kind
    return next((kind for base, kind in _KIND_OF_BASE if isinstance(value, base)), "other")


def kinds_of(values: Iterable[object]) -> frozenset[str]:
    """Name the kinds among values, without null."""
    kinds = set()
    for cls in set(map(type, values)):
        kind = _KIND_OF_TYPE.get(cls)
        if kind is None:
            kind = next((kind for base, kind in _KIND_OF_BASE if _is_class(cls, base)), "other")
        kinds.add(kind)
    return frozenset(kinds - {"null"})


def _is_class(cls: type, base: Any) -> bool:
    return issubclass(cls, base)


def plain(value: Any) -> Any:
    """Turn a numpy, pandas or pyarrow scalar into a Python value; others stay as they are."""
    if type(value) in _KIND_OF_TYPE:
        return value
    if hasattr(value, "as_py"):
        try:
            return value.as_py()
        except ValueError:  # finer than a microsecond
            return value.cast("string").as_py()
    name = type(value).__name__
    if name in ("NaTType", "NAType"):
        return None
    if name in ("datetime64", "timedelta64"):
        text = str(value)
        return None if text == "NaT" else text if name == "datetime64" else value.item()
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return value.tolist()
    return value


@dataclass(frozen=True, slots=True)
class Reading:
    """How the cells of one pair of columns are read.

    Args:
        context: Kinds that occur in the two columns.
        precision: Decimal places that numbers are rounded to, or None for exact numbers.
    """

    context: Collection[str]
    precision: int | None = 2

    def key(self, value: Any) -> Hashable:
        """Give the key of a cell; None is the empty value."""
        kind = kind_of(value)
        if kind == "null":
            return None
        if kind == "text":
            return self._text_key(value)
        if kind == "number":
            return self._number_key(value)
        if kind == "bool":
            return bool(value)
        return self._other_key(kind, value)

    def _number_key(self, value: Any) -> Hashable:
        if self.precision is not None:
            return round_key(value, self.precision)
        number = exact_number(value)
        return None if isinstance(number, Decimal) and number.is_nan() else number

    def _text_key(self, value: str) -> Hashable:
        text = value.strip()
        if not text:
            return None
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if len(self.context) > 1 or "text" not in self.context:
            key = self._typed_text_key(text)
            if key is not _UNREAD:
                return key
        return _evident_key(text, self)

    def _typed_text_key(self, text: str) -> Hashable:
        if "number" in self.context or "bool" in self.context:
            number = read_number(text)
            if number is not None:
                return self._number_key(number)
        if "bool" in self.context and text.lower() in _TRUTHS:
            return _TRUTHS[text.lower()]
        if "clock" in self.context:
            clock = read_clock(text)
            if clock is not None:
                return clock
        if "bytes" in self.context:
            return ("bytes", _bytes_of_text(text))
        if "uuid" in self.context:
            return _uuid_key(text) or _UNREAD
        return _UNREAD

    def _other_key(self, kind: str, value: Any) -> Hashable:
        if kind == "stamp":
            is_missing = type(value).__name__ == "NaTType"
            return None if is_missing else stamp_key(value)
        if kind == "clock":
            return duration_key(value) if isinstance(value, timedelta) else time_key(value)
        if kind == "bytes":
            return ("bytes", bytes(value))
        if kind == "uuid":
            return ("uuid", value.int)
        if kind == "json":
            return nested_key(value, self._leaf_key)
        return ("other", type(value).__name__, str(value))

    def _leaf_key(self, value: Any) -> Hashable:
        value = plain(value)
        kind = kind_of(value)
        if kind == "text":
            return _evident_key(unicodedata.normalize("NFC", value), self, is_leaf=True)
        if kind == "null":
            return None
        key = self.key(value)
        return ("bool", key) if kind == "bool" else ("NaN",) if key is None else key


class _Unread:
    """Marks text that is not of the kind asked for."""


_UNREAD = _Unread()


def _evident_key(text: str, reading: Reading, *, is_leaf: bool = False) -> Hashable:
    """Read text whose form leaves no doubt: ISO timestamps, UUIDs, JSON objects and arrays."""
    if len(text) >= 10 and text[4] == "-" and text[7] == "-":
        return read_timestamp(text) or text
    if len(text) == 36 and text[8] == "-":
        return _uuid_key(text) or text
    if text[:1] in ("{", "[") and not is_leaf:
        value = read_json(text)
        if value is not None:
            return reading.key(value)
    return text


def _uuid_key(text: str) -> tuple[str, int] | None:
    digits = text.strip("{}").replace("-", "")
    if len(digits) != 32 or not digits.isascii() or not digits.isalnum():
        return None
    try:
        return ("uuid", int(digits, 16))
    except ValueError:
        return None


def _bytes_of_text(text: str) -> bytes:
    r"""Read hex with its mark (`\x…`, `0x…`); other text is its UTF-8 bytes."""
    if text[:2] in ("\\x", "0x", "0X"):
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            pass
    return text.encode("utf-8", "surrogatepass")
