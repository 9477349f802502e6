"""One named period of time: a day, month, quarter or year, as a pattern and as its days."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from dbagenteval.project.policy.calendardays import (
    DAY,
    DayRange,
    iso_date,
    shifted,
    unit_of,
    unit_start,
)

__all__ = [
    "DATE",
    "DAY_NUMBER",
    "MONTH",
    "NAME",
    "ORDINAL",
    "POINT",
    "UNITS",
    "YEAR",
    "YEAR_GROUP",
    "Reader",
    "read_day",
    "read_iso_month",
    "read_named_month",
    "read_point",
    "read_quarter",
    "read_relative",
    "read_today",
    "read_year",
]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        1,
    )
    for name in names
}

UNITS = "day|week|month|quarter|year"

_ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 4,
}

MONTH = "|".join(sorted((name for name in _MONTHS if name != "may"), key=len, reverse=True))
YEAR = r"(?:19|20)\d\d"
DATE = rf"{YEAR}-\d\d-\d\d"
NAME = rf"(?P<name>{MONTH}|may)"
YEAR_GROUP = rf"(?P<year>{YEAR})"
ORDINAL = r"(?P<number>first|1st|second|2nd|third|3rd|fourth|4th|last)"
DAY_NUMBER = r"(?P<number>\d{1,2})(?:st|nd|rd|th)?"
Reader = Callable[["re.Match[str]", datetime.date], "DayRange | None"]


def read_point(text: str, today: datetime.date) -> DayRange | None:
    """Read one named period: a date, month, quarter, year or relative unit."""
    for pattern, read in _POINTS:
        match = re.fullmatch(pattern, text.strip())
        if match is not None:
            return read(match, today)
    return None


def read_day(match: re.Match[str], _today: datetime.date) -> DayRange | None:
    """Read `2024-01-31`."""
    day = iso_date(match.group("day"))
    return None if day is None else (day, day)


def read_iso_month(match: re.Match[str], _today: datetime.date) -> DayRange | None:
    """Read `2024-01`."""
    month = int(match.group("month"))
    return (
        unit_of(datetime.date(int(match.group("year")), month, 1), "month")
        if 0 < month < 13
        else None
    )


def read_named_month(match: re.Match[str], today: datetime.date) -> DayRange | None:
    """Read `March`, `March 2024` or `March 5, 2024`."""
    month = _MONTHS[match.group("name")]
    given, number = match.groupdict().get("year"), match.groupdict().get("number")
    # Without a year the latest such month that has begun is meant.
    year = int(given) if given else today.year - (month > today.month)
    if number:
        day = iso_date(f"{year:04}-{month:02}-{int(number):02}")
        return None if day is None else (day, day)
    return unit_of(datetime.date(year, month, 1), "month")


def read_quarter(match: re.Match[str], today: datetime.date) -> DayRange:
    """Read `Q1 2024` or `first quarter of 2024`."""
    word = match.group("number")
    number = int(word) if word.isdigit() else _ORDINALS[word]
    given = match.groupdict().get("year")
    year = int(given) if given else today.year - (3 * number - 2 > today.month)
    return unit_of(datetime.date(year, 3 * number - 2, 1), "quarter")


def read_year(match: re.Match[str], _today: datetime.date) -> DayRange:
    """Read `2024`."""
    return unit_of(datetime.date(int(match.group("year")), 1, 1), "year")


def read_relative(match: re.Match[str], today: datetime.date) -> DayRange:
    """Read `this month`, `last quarter` or `next year`."""
    shift = {"this": 0, "current": 0, "next": 1}.get(match.group("which"), -1)
    return unit_of(
        shifted(unit_start(today, match.group("unit")), match.group("unit"), shift),
        match.group("unit"),
    )


def read_today(match: re.Match[str], today: datetime.date) -> DayRange:
    """Read `today`, `now` or `yesterday`."""
    day = today - DAY if "yesterday" in match.group(0) else today
    return day, day


_POINTS: list[tuple[str, Reader]] = [
    (rf"(?P<day>{DATE})", read_day),
    (rf"{YEAR_GROUP}[-/](?P<month>\d\d)", read_iso_month),
    (rf"{NAME}\.? {DAY_NUMBER}(?:,? {YEAR_GROUP})?", read_named_month),
    (
        rf"{DAY_NUMBER}(?: of)? {NAME}\.?(?:,? {YEAR_GROUP})?",
        read_named_month,
    ),
    (rf"{NAME}\.?(?:,? (?:of )?{YEAR_GROUP})?", read_named_month),
    (rf"q(?P<number>[1-4])(?:[ /-]?{YEAR_GROUP})?", read_quarter),
    (
        rf"(?:the )?{ORDINAL} quarter(?: of)? {YEAR_GROUP}",
        read_quarter,
    ),
    (rf"{YEAR_GROUP}", read_year),
    (
        r"(?:the )?(?P<which>this|current|last|past|previous|next) (?P<unit>" + UNITS + ")",
        read_relative,
    ),
    (r"today|yesterday|now", read_today),
]

POINT = (
    rf"(?:the )?(?:{DATE}|{YEAR}[-/]\d\d"
    rf"|(?:{MONTH}|may)\.?(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? {YEAR})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTH}|may)(?: {YEAR})?"
    rf"|q[1-4](?:[ /-]?{YEAR})?|{YEAR}"
    rf"|(?:this|current|last|past|previous) (?:{UNITS})|today|yesterday|now)\b"
)
