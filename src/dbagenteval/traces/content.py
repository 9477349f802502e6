"""Attribute values as content: JSON that may be cut, masked or hidden in other JSON."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

__all__ = [
    "MISSING",
    "cut_mark",
    "is_broken_json",
    "is_masked",
    "is_partly_masked",
    "loads",
    "plain",
    "text_of",
]

MISSING: Final = object()
"""What `loads` gives for a text that is not JSON; None is a JSON value."""

_HIDDEN = (
    r"(?:(?:content|value|data|sensitive)[ _-])?"
    r"(?:redacted|masked|filtered|scrubbed|hidden|removed|censored|anonymi[sz]ed|pii)\b"
)
# What stands in place of a whole value: OpenInference's mask, the Collector's asterisks or hash,
# Logfire's `[Scrubbed due to 'auth']`, Presidio's `<EMAIL_ADDRESS>`.
_MASK = re.compile(
    rf"_*(?:redacted|masked)_*|[*]{{3,}}|[*x]{{4,}}"
    rf"|[\[<({{]{{1,2}}_*{_HIDDEN}[^\]>)}}\n]{{0,60}}[\]>)}}]{{1,2}}"
    r"|<[a-z]+(?:_[a-z]+)+>"
    r"|(?:(?:sha-?\d+|md5|hash):)?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{128})",
    re.IGNORECASE,
)
# What stands in place of a part; `****1234` and `[REDACTED: see note]` may be the data's own.
_PART_MASK = re.compile(
    r"\[REDACTED(?::[^\]\s]{1,80})?\]|__REDACTED__|<REDACTED>|\[MASKED\]"
    r"|\[Scrubbed due to '[^'\n]*'\]"
    r"|(?<![*\w])[*]{4}(?![*\w])"
    r"|<(?:EMAIL_ADDRESS|PHONE_NUMBER|PERSON|CREDIT_CARD|IP_ADDRESS|LOCATION|US_SSN|IBAN_CODE)>"
)
_CUT_MARK = re.compile(
    r"(?:\.{3}|…)?\s*[\[(<{_]+(?:\w+ )?(?:truncated|cut off)\b[^\n\])>}]{0,40}[\])>}_]+\s*\Z"
    r"|(?:\.{3}|…)\s*truncated\W*\Z",
    re.IGNORECASE,
)
_TRAILS_OFF = re.compile(r"\w(?:\.{3}|…)\Z")
_MIN_TRAILING = 100


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
    return isinstance(value, str) and _MASK.fullmatch(value.strip()) is not None


def is_partly_masked(value: Any) -> bool:
    """True if a redaction took the place of a part of a text (`[REDACTED:email]`, `****`)."""
    return isinstance(value, str) and _PART_MASK.search(value) is not None


def cut_mark(text: str) -> str:
    """Give the mark at the end of a text which says that there was more, or empty text."""
    found = _CUT_MARK.search(text, max(0, len(text) - 120))
    if found is None and len(text) >= _MIN_TRAILING:
        found = _TRAILS_OFF.search(text, len(text) - 4)
    return found.group().strip() if found else ""


def is_broken_json(value: Any) -> bool:
    """True for a text that begins as JSON and does not parse."""
    return (
        isinstance(value, str)
        and value.lstrip()[:2] in ('{"', "[{", '["')
        and loads(value) is MISSING
    )


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
