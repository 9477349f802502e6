"""Values written as Python reprs, read without ever running them."""

from __future__ import annotations

import ast
import datetime
import decimal
import re
import uuid
import zoneinfo
from typing import Any

import orjson

from dbagenteval.traces.content import MISSING

__all__ = ["literal_value", "read_literal"]

_MAX_CHARS = 4_000_000
_BRACKETS = str.maketrans("()", "[]")
_LONG_NUMBER = re.compile(r"\d[\d.]{16,}")
_LAST_COMMA = re.compile(r",\s*\]")
_WORD = re.compile(r"[^\W\d]")
_CONSTANTS = {"None": "null", "True": "true", "False": "false"}
_CONSTANT = re.compile(r"\b(?:None|True|False)\b")
_KNOWN_WORD = re.compile(r"\b(?:null|true|false)\b|(?<=\d)e(?=[-+\d])")
# A zone that this machine doesn't know is a KeyError; a bad zone name can be an OSError.
_UNREADABLE = (
    *(SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError, TypeError),
    *(KeyError, OSError),
)
_NAMES = {"nan": float("nan"), "inf": float("inf"), "NaN": float("nan"), "NaT": None, "null": None}
_UTC = ("datetime.timezone.utc", "timezone.utc", "datetime.UTC")
_NAMES |= {"true": True, "false": False}


def read_literal(text: str) -> Any:
    """Read a repr of plain values, Decimal, dates, times and UUIDs; `MISSING` if it is another.

    The text is parsed, never evaluated: only the forms below are known.
    """
    if len(text) > _MAX_CHARS:
        return MISSING
    text = text.strip()
    if text.startswith("["):
        value = _as_json(text)
        if value is not MISSING:
            return value
    try:
        return literal_value(ast.parse(text, mode="eval").body)
    except _UNREADABLE:
        return MISSING


def literal_value(node: ast.expr) -> Any:
    """Give the value of an expression that is a plain literal; `MISSING` for any other."""
    try:
        return _value(node)
    except _UNREADABLE:
        return MISSING


def _as_json(text: str) -> Any:
    """Read a list of plain tuples or dicts as JSON, ten times faster than through `ast`.

    Without a double quote or backslash in the text, each string stands in single quotes and holds
    none itself, so that quotes and brackets can be told apart from content. Tuples become lists.
    """
    if '"' in text or "\\" in text or _LONG_NUMBER.search(text):
        return MISSING
    parts = text.split("'")
    for index in range(0, len(parts), 2):
        outside = parts[index].translate(_BRACKETS)
        if not outside.isascii() or _WORD.search(outside):
            outside = _CONSTANT.sub(lambda found: _CONSTANTS[found.group()], outside)
            if _WORD.search(_KNOWN_WORD.sub("", outside)):
                return MISSING
        parts[index] = _LAST_COMMA.sub("]", outside)
    try:
        return orjson.loads('"'.join(parts))
    except orjson.JSONDecodeError:
        return MISSING


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        # A `**mapping` has no key and is no repr.
        pairs = zip(node.keys, node.values)  # noqa: B905 - ast gives as many keys as values
        return {_value(_present(key)): _value(value) for key, value in pairs}
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand)
        if isinstance(number, (int, float, decimal.Decimal)):
            return -number
    if isinstance(node, ast.Call):
        return _made(node)
    if isinstance(node, ast.Attribute) and ast.unparse(node) in _UTC:
        return datetime.timezone.utc
    raise ValueError("not a plain value")


def _present(key: ast.expr | None) -> ast.expr:
    if key is None:
        raise ValueError("not a plain value")
    return key


def _made(call: ast.Call) -> Any:
    """Make the value of a constructor call, as in `Decimal('1.10')`."""
    name = ast.unparse(call.func)
    name = name.removeprefix("datetime.").removeprefix("decimal.").removeprefix("uuid.")
    arguments = [_value(item) for item in call.args]
    named = {item.arg: _value(item.value) for item in call.keywords if item.arg}
    if name == "Decimal":
        return decimal.Decimal(*arguments)
    if name == "UUID":
        return str(uuid.UUID(*arguments))
    if name in ("np.float64", "np.float32", "np.int64", "np.int32", "np.str_", "np.bool_"):
        return arguments[0]
    makers: dict[str, Any] = {
        "date": datetime.date,
        "datetime": datetime.datetime,
        "time": datetime.time,
        "timedelta": datetime.timedelta,
        "timezone": datetime.timezone,
        "zoneinfo.ZoneInfo": zoneinfo.ZoneInfo,
        "ZoneInfo": zoneinfo.ZoneInfo,
        "Timestamp": datetime.datetime.fromisoformat,
    }
    if name in makers:
        return makers[name](*arguments, **named)
    raise ValueError(f"unknown constructor {name}")
