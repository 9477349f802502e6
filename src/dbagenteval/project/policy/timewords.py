"""The stretch of time that a question names, such as `last month` or `Q1 2018`."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["TimeWindow", "find_window"]

_DAY = datetime.timedelta(days=1)
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
_UNITS = "day|week|month|quarter|year"
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
_MONTH = "|".join(sorted((name for name in _MONTHS if name != "may"), key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_DATE = rf"{_YEAR}-\d\d-\d\d"
# "may" is a month only where a date can stand: with a year or day, or after a preposition.
_MAY = (
    r"(?:(?<=in )|(?<=since )|(?<=during )|(?<=last )|(?<=until )|(?<=from )|(?<=of ))may"
    rf"|may(?=,? {_YEAR})|may(?= \d{{1,2}}\b)"
)


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


_Range = tuple["datetime.date | None", "datetime.date | None"]
_ALL_TIME: _Range = (datetime.date.min, datetime.date.max)


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _unit_start(day: datetime.date, unit: str) -> datetime.date:
    if unit == "week":
        return day - datetime.timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return datetime.date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
    return datetime.date(day.year, 1, 1) if unit == "year" else day


def _months_after(day: datetime.date, count: int) -> datetime.date:
    index = day.year * 12 + day.month - 1 + count
    year, month = divmod(index, 12)
    last = (datetime.date(year + (month == 11), (month + 1) % 12 + 1, 1) - _DAY).day
    return datetime.date(year, month + 1, min(day.day, last))


def _shifted(day: datetime.date, unit: str, count: int) -> datetime.date:
    if unit in ("day", "week"):
        return day + datetime.timedelta(days=count * (7 if unit == "week" else 1))
    return _months_after(day, count * {"month": 1, "quarter": 3, "year": 12}[unit])


def _unit(day: datetime.date, unit: str) -> _Range:
    start = _unit_start(day, unit)
    return start, _shifted(start, unit, 1) - _DAY


def _between(match: re.Match[str], today: datetime.date) -> _Range | None:
    first = _point(match.group("a"), today)
    second = _point(match.group("b"), today)
    if first is None or second is None:
        return None
    start, end = first[0], second[1]
    if (
        start is not None
        and end is not None
        and start > end
        and not re.search(_YEAR, match.group("a"))
    ):
        start = start.replace(year=end.year)
    return (start, end) if start is None or end is None or start <= end else (end, start)


def _since(match: re.Match[str], today: datetime.date) -> _Range | None:
    point = _point(match.group("a"), today)
    if point is None or point[0] is None:
        return None
    after = match.group(0).lstrip().startswith("after")
    start = point[1] + _DAY if after and point[1] is not None else point[0]
    return start, today


def _until(match: re.Match[str], today: datetime.date) -> _Range | None:
    point = _point(match.group("a"), today)
    if point is None or point[0] is None:
        return None
    before = match.group(0).lstrip().startswith("before")
    return None, point[0] - _DAY if before else point[1]


def _point(text: str, today: datetime.date) -> _Range | None:
    """Read one named period: a date, month, quarter, year or relative unit."""
    for pattern, read in _POINTS:
        match = re.fullmatch(pattern, text.strip())
        if match is not None:
            return read(match, today)
    return None


def _iso_day(match: re.Match[str], _today: datetime.date) -> _Range | None:
    day = _day(match.group("day"))
    return None if day is None else (day, day)


def _iso_month(match: re.Match[str], _today: datetime.date) -> _Range | None:
    month = int(match.group("month"))
    return (
        _unit(datetime.date(int(match.group("year")), month, 1), "month")
        if 0 < month < 13
        else None
    )


def _named_month(match: re.Match[str], today: datetime.date) -> _Range | None:
    month = _MONTHS[match.group("name")]
    given, number = match.groupdict().get("year"), match.groupdict().get("number")
    # Without a year the latest such month that has begun is meant.
    year = int(given) if given else today.year - (month > today.month)
    if number:
        day = _day(f"{year:04}-{month:02}-{int(number):02}")
        return None if day is None else (day, day)
    return _unit(datetime.date(year, month, 1), "month")


def _quarter(match: re.Match[str], today: datetime.date) -> _Range:
    word = match.group("number")
    number = int(word) if word.isdigit() else _ORDINALS[word]
    given = match.groupdict().get("year")
    year = int(given) if given else today.year - (3 * number - 2 > today.month)
    return _unit(datetime.date(year, 3 * number - 2, 1), "quarter")


def _half(match: re.Match[str], today: datetime.date) -> _Range:
    word = match.group("number")
    number = int(word) if word.isdigit() else {"first": 1, "second": 2}[word]
    year = int(match.group("year") or today.year)
    first = 6 * number - 5
    return datetime.date(year, first, 1), _months_after(datetime.date(year, first, 1), 6) - _DAY


def _year(match: re.Match[str], _today: datetime.date) -> _Range:
    return _unit(datetime.date(int(match.group("year")), 1, 1), "year")


def _relative(match: re.Match[str], today: datetime.date) -> _Range:
    shift = {"this": 0, "current": 0, "next": 1}.get(match.group("which"), -1)
    return _unit(
        _shifted(_unit_start(today, match.group("unit")), match.group("unit"), shift),
        match.group("unit"),
    )


def _last_n(match: re.Match[str], today: datetime.date) -> _Range:
    word = match.group("count")
    count = int(word) if word.isdigit() else _NUMBER_WORDS[word]
    count = min(count, 1000)
    return _shifted(today, match.group("unit"), -count) + _DAY, today


def _to_date(match: re.Match[str], today: datetime.date) -> _Range:
    unit = {"y": "year", "q": "quarter", "m": "month", "w": "week"}[match.group("unit")[0]]
    return _unit_start(today, unit), today


def _today(match: re.Match[str], today: datetime.date) -> _Range:
    day = today - _DAY if "yesterday" in match.group(0) else today
    return day, day


def _all(_match: re.Match[str], _today: datetime.date) -> _Range:
    return _ALL_TIME


_Reader = Callable[["re.Match[str]", datetime.date], "_Range | None"]
_NAME = rf"(?P<name>{_MONTH}|may)"
_YR = rf"(?P<year>{_YEAR})"
_ORDINAL = r"(?P<number>first|1st|second|2nd|third|3rd|fourth|4th|last)"
_DAY_NUMBER = r"(?P<number>\d{1,2})(?:st|nd|rd|th)?"
_COUNTED = r"(?:orders|customers|rows|units|items|dollars|euros|usd|eur|pounds)"
_POINTS: list[tuple[str, _Reader]] = [
    (rf"(?P<day>{_DATE})", _iso_day),
    (rf"{_YR}[-/](?P<month>\d\d)", _iso_month),
    (rf"{_NAME}\.? {_DAY_NUMBER}(?:,? {_YR})?", _named_month),
    (
        rf"{_DAY_NUMBER}(?: of)? {_NAME}\.?(?:,? {_YR})?",
        _named_month,
    ),
    (rf"{_NAME}\.?(?:,? (?:of )?{_YR})?", _named_month),
    (rf"q(?P<number>[1-4])(?:[ /-]?{_YR})?", _quarter),
    (
        rf"(?:the )?{_ORDINAL} quarter(?: of)? {_YR}",
        _quarter,
    ),
    (rf"{_YR}", _year),
    (
        r"(?:the )?(?P<which>this|current|last|past|previous|next) (?P<unit>" + _UNITS + ")",
        _relative,
    ),
    (r"today|yesterday|now", _today),
]
_POINT = (
    rf"(?:the )?(?:{_DATE}|{_YEAR}[-/]\d\d"
    rf"|(?:{_MONTH}|may)\.?(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? {_YEAR})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH}|may)(?: {_YEAR})?"
    rf"|q[1-4](?:[ /-]?{_YEAR})?|{_YEAR}"
    rf"|(?:this|current|last|past|previous) (?:{_UNITS})|today|yesterday|now)\b"
)
_PATTERNS: list[tuple[str, _Reader]] = [
    (
        rf"\b(?:between|from) (?P<a>{_POINT}) (?:and|to|until|till|through) (?P<b>{_POINT})",
        _between,
    ),
    (rf"\b(?:since|after|starting|from) (?P<a>{_POINT})", _since),
    (rf"\b(?:before|until|till|up to) (?P<a>{_POINT})", _until),
    (rf"\b(?P<day>{_DATE})\b", _iso_day),
    (rf"\b{_YR}[-/](?P<month>\d\d)\b", _iso_month),
    (
        rf"\b{_DAY_NUMBER}(?: of)? {_NAME}\b\.?(?:,? {_YR})?\b",
        _named_month,
    ),
    (
        rf"\b{_NAME}\.? {_DAY_NUMBER}\b(?:,? {_YR})?\b",
        _named_month,
    ),
    (rf"\bq(?P<number>[1-4])\b(?:[ /-]?{_YR})?", _quarter),
    (
        rf"\b{_ORDINAL} quarter(?: of)? {_YR}\b",
        _quarter,
    ),
    (rf"\bh(?P<number>[12])(?:[ /-]?{_YR})\b", _half),
    (rf"\b(?P<number>first|second) half(?: of)? {_YR}\b", _half),
    (rf"\b(?P<name>{_MONTH})\b\.?(?:,? (?:of )?{_YR}\b)?", _named_month),
    (rf"(?P<name>{_MAY})\b(?:,? {_YR}\b)?", _named_month),
    (
        r"\b(?:last|past|previous|trailing) (?P<count>\d{1,4}|"
        + "|".join(_NUMBER_WORDS)
        + r") (?P<unit>"
        + _UNITS
        + r")s?\b",
        _last_n,
    ),
    (r"\b(?P<which>this|current|last|past|previous|next) (?P<unit>" + _UNITS + r")\b", _relative),
    (r"\b(?P<unit>year|quarter|month|week)[ -]to[ -]date\b", _to_date),
    (r"\b(?P<unit>[yqm])td\b", _to_date),
    (r"\b(?:today|yesterday)\b", _today),
    (
        r"\b(?:all[ -]time|so far|to date|ever|lifetime|since (?:the )?(?:beginning|start|launch)|"
        r"in total over all years|overall|from the beginning|entire history)\b",
        _all,
    ),
    (
        rf"(?<![\d.,$€£#-])\b{_YR}\b(?![\d.,]*\d|%| {_COUNTED})",
        _year,
    ),
]
