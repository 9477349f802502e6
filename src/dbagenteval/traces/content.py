"""Attribute values as content: JSON that may be cut, masked or hidden in other JSON."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

__all__ = ["MISSING", "is_masked", "is_partly_masked", "loads", "plain", "text_of"]

MISSING: Final = object()
"""What `loads` gives for a text that is not JSON; None is a JSON value."""

# OpenInference's mask, and what common redaction processors put in place of a value.
_MASKS = frozenset(
    {
        "__REDACTED__",
        "[REDACTED]",
        "<REDACTED>",
        "REDACTED",
        "***",
        "****",
        "[FILTERED]",
        "<MASKED>",
    }
)
_NAMED_MASK = re.compile(r"\[REDACTED:[^\]\s]{1,80}\]")


def loads(text: str) -> Any:
    """Decode JSON, Python's NaN and Infinity included; `MISSING` if it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # What Python writes and orjson refuses: NaN, Infinity, half of a surrogate pair.
        if "NaN" not in text and "Infinity" not in text and "\\ud" not in text.lower():
            return MISSING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def plain(value: Any) -> Any:
    """Decode a text that holds a JSON object, list or string; give anything else as it is.

    A text that is JSON twice over is decoded twice.
    """
    for _ in range(3):
        if not isinstance(value, str):
            return value
        head = value.lstrip()[:1]
        if head not in ("{", "[", '"'):
            return value
        decoded = loads(value)
        if decoded is MISSING:
            return value
        value = decoded
    return value


def is_masked(value: Any) -> bool:
    """True if a redaction took the value's place."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return text.upper() in _MASKS or _NAMED_MASK.fullmatch(text) is not None


def is_partly_masked(value: Any) -> bool:
    """True if our own redaction took the place of a part of a text (`[REDACTED:email]`)."""
    return isinstance(value, str) and _NAMED_MASK.search(value) is not None


def text_of(value: Any) -> str:
    """Give a value as text: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, orjson.JSONEncodeError):
        return str(value)
