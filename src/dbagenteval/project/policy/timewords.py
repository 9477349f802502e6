"""The stretch of time that a question names, such as `last month` or `Q1 2018`."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from dbagenteval.project.policy.calendardays import DAY, DayRange, months_after, shifted, unit_start
from dbagenteval.project.policy.timepoints import (
    DATE,
    DAY_NUMBER,
    MONTH,
    NAME,
    ORDINAL,
    POINT,
    UNITS,
    YEAR,
    YEAR_GROUP,
    Reader,
    read_day,
    read_iso_month,
    read_named_month,
    read_point,
    read_quarter,
    read_relative,
    read_today,
    read_year,
)

__all__ = ["TimeWindow", "find_window"]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A stretch of days, both ends included; None is open.

    Args:
        start: First day, or None if the question names no beginning.
        end: Last day, or None.
        words: What the question says.
    """

    start: datetime.date | None
    end: datetime.date | None
    words: str


def find_window(
    question: str, today: datetime.date, data_start: datetime.date | None = None
) -> TimeWindow | None:
    """Find the stretch of time that a question is about.

    Args:
        question: English text.
        today: The date it is asked on.
        data_start: First day there is data for; what "all time" begins with.

    Returns:
        The window of the first pattern that fits, the more exact ones before; None if the
        question names no time. A window may be open at an end (`since March`: its end is today).
    """
    text = re.sub(r"\s+", " ", question.casefold())
    for pattern, read in _PATTERNS:
        match = re.search(pattern, text)
        if match is None:
            continue
        found = read(match, today)
        if found is None:
            continue
        start, end = found
        if (start, end) == _ALL_TIME:
            start, end = data_start, today
        return TimeWindow(start, end, match.group(0).strip())
    return None


_ALL_TIME: DayRange = (datetime.date.min, datetime.date.max)


def _between(match: re.Match[str], today: datetime.date) -> DayRange | None:
    first = read_point(match.group("a"), today)
    second = read_point(match.group("b"), today)
    if first is None or second is None:
        return None
    start, end = first[0], second[1]
    if (
        start is not None
        and end is not None
        and start > end
        and not re.search(YEAR, match.group("a"))
    ):
        start = start.replace(year=end.year)
    return (start, end) if start is None or end is None or start <= end else (end, start)


def _since(match: re.Match[str], today: datetime.date) -> DayRange | None:
    point = read_point(match.group("a"), today)
    if point is None or point[0] is None:
        return None
    after = match.group(0).lstrip().startswith("after")
    start = point[1] + DAY if after and point[1] is not None else point[0]
    return start, today


def _until(match: re.Match[str], today: datetime.date) -> DayRange | None:
    point = read_point(match.group("a"), today)
    if point is None or point[0] is None:
        return None
    before = match.group(0).lstrip().startswith("before")
    return None, point[0] - DAY if before else point[1]


def _half(match: re.Match[str], today: datetime.date) -> DayRange:
    word = match.group("number")
    number = int(word) if word.isdigit() else {"first": 1, "second": 2}[word]
    year = int(match.group("year") or today.year)
    first = 6 * number - 5
    return datetime.date(year, first, 1), months_after(datetime.date(year, first, 1), 6) - DAY


def _last_n(match: re.Match[str], today: datetime.date) -> DayRange:
    word = match.group("count")
    count = int(word) if word.isdigit() else _NUMBER_WORDS[word]
    count = min(count, 1000)
    return shifted(today, match.group("unit"), -count) + DAY, today


def _to_date(match: re.Match[str], today: datetime.date) -> DayRange:
    unit = {"y": "year", "q": "quarter", "m": "month", "w": "week"}[match.group("unit")[0]]
    return unit_start(today, unit), today


def _all(_match: re.Match[str], _today: datetime.date) -> DayRange:
    return _ALL_TIME


_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        1,
    )
}

# "may" is a month only where a date can stand: with a year or day, or after a preposition.
_MAY = (
    r"(?:(?<=in )|(?<=since )|(?<=during )|(?<=last )|(?<=until )|(?<=from )|(?<=of ))may"
    rf"|may(?=,? {YEAR})|may(?= \d{{1,2}}\b)"
)

_COUNTED = r"(?:orders|customers|rows|units|items|dollars|euros|usd|eur|pounds)"

_PATTERNS: list[tuple[str, Reader]] = [
    (
        rf"\b(?:between|from) (?P<a>{POINT}) (?:and|to|until|till|through) (?P<b>{POINT})",
        _between,
    ),
    (rf"\b(?:since|after|starting|from) (?P<a>{POINT})", _since),
    (rf"\b(?:before|until|till|up to) (?P<a>{POINT})", _until),
    (rf"\b(?P<day>{DATE})\b", read_day),
    (rf"\b{YEAR_GROUP}[-/](?P<month>\d\d)\b", read_iso_month),
    (
        rf"\b{DAY_NUMBER}(?: of)? {NAME}\b\.?(?:,? {YEAR_GROUP})?\b",
        read_named_month,
    ),
    (
        rf"\b{NAME}\.? {DAY_NUMBER}\b(?:,? {YEAR_GROUP})?\b",
        read_named_month,
    ),
    (rf"\bq(?P<number>[1-4])\b(?:[ /-]?{YEAR_GROUP})?", read_quarter),
    (
        rf"\b{ORDINAL} quarter(?: of)? {YEAR_GROUP}\b",
        read_quarter,
    ),
    (rf"\bh(?P<number>[12])(?:[ /-]?{YEAR_GROUP})\b", _half),
    (rf"\b(?P<number>first|second) half(?: of)? {YEAR_GROUP}\b", _half),
    (rf"\b(?P<name>{MONTH})\b\.?(?:,? (?:of )?{YEAR_GROUP}\b)?", read_named_month),
    (rf"(?P<name>{_MAY})\b(?:,? {YEAR_GROUP}\b)?", read_named_month),
    (
        r"\b(?:last|past|previous|trailing) (?P<count>\d{1,4}|"
        + "|".join(_NUMBER_WORDS)
        + r") (?P<unit>"
        + UNITS
        + r")s?\b",
        _last_n,
    ),
    (
        r"\b(?P<which>this|current|last|past|previous|next) (?P<unit>" + UNITS + r")\b",
        read_relative,
    ),
    (r"\b(?P<unit>year|quarter|month|week)[ -]to[ -]date\b", _to_date),
    (r"\b(?P<unit>[yqm])td\b", _to_date),
    (r"\b(?:today|yesterday)\b", read_today),
    (
        r"\b(?:all[ -]time|so far|to date|ever|lifetime|since (?:the )?(?:beginning|start|launch)|"
        r"in total over all years|overall|from the beginning|entire history)\b",
        _all,
    ),
    (
        rf"(?<![\d.,$€£#-])\b{YEAR_GROUP}\b(?![\d.,]*\d|%| {_COUNTED})",
        read_year,
    ),
]
