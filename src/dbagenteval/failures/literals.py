"""Which literals of SQL are data, and which say what a function does."""

from __future__ import annotations

import re

__all__ = ["DATE", "telling"]

DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}.*)?)?", re.DOTALL)
"""A date or a time, as SQL writes it in a text literal."""

_UNITS = "microsecond|millisecond|second|minute|hour|day|dow|doy|week|isoweek|month|quarter|year"
_WORDS = re.compile(rf"({_UNITS})s?|(start|end) of ({_UNITS})|now|localtime|utc", re.IGNORECASE)
_SPAN = re.compile(rf"([-+]?)\d+ ({_UNITS})s?", re.IGNORECASE)
_FORMAT = re.compile(
    r"(?=.*%)(%[A-Za-z-]|[-/:. T])+"
    r"|(?=.*[YMDHIQWymd])(YYYY|YY|MM|MON|Month|MMM|DD|HH24|HH12|HH|MI|SS|Q|WW|IW|yyyy|mm|dd"
    r"|[-/:. T])+"
    r"|\$[.\[].*",
    re.DOTALL,
)
"""Formats of dates, and JSON paths."""

_MAX_CHARS = 200


def telling(text: str) -> str | None:
    """Give a text literal that, as an argument, says what a function does; None for plain data.

    Date parts, formats and paths do; of `-7 days` the number is data.
    """
    if len(text) > _MAX_CHARS:
        return None
    if _WORDS.fullmatch(text):
        return text.lower()
    span = _SPAN.fullmatch(text)
    if span is not None:
        return f"{span[1]}1 {span[2].lower()}s"
    return text if _FORMAT.fullmatch(text) else None
