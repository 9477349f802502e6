"""Dates, times and durations as comparable keys, and their ISO 8601 text.

A date is its midnight. An aware time is its instant in UTC. A naive and an aware time have keys
of different kinds, so they never agree. All keys count nanoseconds.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

__all__ = ["TimeKey", "duration_key", "read_clock", "read_timestamp", "stamp_key", "time_key"]

TimeKey = tuple[str, int]
"""Kind (`naive`, `aware` or `clock`) and nanoseconds."""

_DAY_NS = 86_400_000_000_000
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r" ?(Z|UTC|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?",
    re.ASCII,
)
_CLOCK = re.compile(
    r"(?:(-?\d+) days?,? )?(-?)(\d{1,3}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII
)


def stamp_key(value: date | datetime) -> TimeKey:
    """Give the key of a date or a timestamp."""
    ns = value.toordinal() * _DAY_NS
    if not isinstance(value, datetime):
        return ("naive", ns)
    ns += _clock_ns(value.hour, value.minute, value.second, value.microsecond * 1000)
    nanosecond = getattr(value, "nanosecond", 0)  # pandas
    ns += nanosecond if isinstance(nanosecond, int) else 0
    offset = value.utcoffset()
    return ("naive", ns) if offset is None else ("aware", ns - _duration_ns(offset))


def time_key(value: time) -> TimeKey:
    """Give the key of a time of day; one with an offset is moved to UTC."""
    ns = _clock_ns(value.hour, value.minute, value.second, value.microsecond * 1000)
    offset = value.utcoffset()
    return ("clock", ns) if offset is None else ("aware clock", (ns - _duration_ns(offset)))


def duration_key(value: timedelta) -> TimeKey:
    """Give the key of a duration; MySQL gives its TIME columns as durations."""
    return ("clock", _duration_ns(value))


def _duration_ns(value: timedelta) -> int:
    return (value.days * 86_400 + value.seconds) * 1_000_000_000 + value.microseconds * 1000


def _clock_ns(hour: int, minute: int, second: int, ns: int) -> int:
    return ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + ns


def read_timestamp(text: str) -> TimeKey | None:
    """Read an ISO 8601 date or timestamp (`T` or a blank, with or without offset), or None."""
    if len(text) < 10 or text[4] != "-" or text[7] != "-":
        return None
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        ordinal = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    clock = (int(hour or 0), int(minute or 0), int(second or 0))
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        return None
    ns = ordinal * _DAY_NS + _clock_ns(*clock, int((fraction or "0").ljust(9, "0")))
    if zone is None:
        return ("naive", ns)
    return ("aware", ns - _offset_ns(zone))


def _offset_ns(zone: str) -> int:
    if zone in ("Z", "UTC"):
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    ns = _clock_ns(int(digits[:2]), int(digits[2:4]), int(digits[4:6]), 0)
    return -ns if zone[0] == "-" else ns


def read_clock(text: str) -> TimeKey | None:
    """Read a time of day or a duration such as `10:30`, `1:02:03.5` or `2 days, 1:00:00`."""
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    days, sign, hour, minute, second, fraction = found.groups()
    if int(minute) > 59 or int(second or 0) > 59:
        return None
    ns = _clock_ns(int(hour), int(minute), int(second or 0), int((fraction or "0").ljust(9, "0")))
    return ("clock", int(days or 0) * _DAY_NS + (-ns if sign else ns))
