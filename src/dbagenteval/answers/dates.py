"""Dates, months, quarters and years in a text, told apart from quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from dbagenteval.answers.figure import Figure, Period
from dbagenteval.answers.language import Writing
from dbagenteval.answers.notation import plain_reading

__all__ = ["find_dates", "iso_dates"]

_ISO = re.compile(
    r"(?<![\w.])(\d{4})([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?!\d)"
    r"(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_NUMERIC = re.compile(r"(?<![\w.,/-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_CJK = re.compile(r"(\d{2,4})\s?[年년]\s?(?:(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日일])?)?")
_CJK_DAY = re.compile(r"(?<!\d)(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日일])?")
_QUARTER = re.compile(
    r"(?<!\w)(?:([QHTqh])([1-4])|([1-4])(?:Q|T(?=[\s/-]?['\u2019]?\d{2})))"
    r"(?:[\s/-]{0,2}(?:of |FY ?)?['\u2019]?(\d{4}|\d{2}))?(?![\w%])"
    r"|(?<!\w)(\d{4})[- ]?Q([1-4])(?!\w)"
)
_FISCAL = re.compile(r"(?<!\w)(?:FY|CY|GJ)\s?['\u2019]?(\d{4}|\d{2})(?:[-/]\d{2,4})?(?!\w)")
_WEEK = re.compile(
    r"(?<!\w)(?:KW|week|weeks|semaine|semana|woche|W)\s?(\d{1,2})(?!\w|[.,]\d)", re.IGNORECASE
)
_PAST = re.compile(
    r"(?<!\w)(?:last|past|previous|next|trailing|rolling|letzten|vergangenen|derniers|últimos"
    r"|ultimi)\s\d{1,4}\s"
    r"(?:days|weeks|months|quarters|years|hours|tage|wochen|monate|jahre|jours|mois|ans|días"
    r"|meses|años"
    r"|giorni|mesi|anni|dias|anos)(?!\w)",
    re.IGNORECASE,
)
_SEASON = re.compile(r"(?<![\w.,-])((?:19|20)\d{2})([-–/])(\d{2}|(?:19|20)\d{2})(?![\w-]|[.,]\d)")
_YEAR = re.compile(r"(?<![\w.,$€£¥-])(?:19|20)\d{2}(?![\w%-]|[.,]\d)")
_YEAR_ALWAYS = re.compile(
    r"(?:\b(?:in|since|during|year|years|calendar|im jahr|jahr|jahre|seit|en|année|depuis|año|desde"
    r"|anno|nel|dal|ano|em|jaar|sinds|w roku|roku|rok|år|yıl|fiscal|full-year)\s"
    r"|[(\[（]|\b(?:в|с)\s|[\"'*]{1,2})$",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(
    r"(?:\b(?:for|of|from|to|until|through|by|and|vs\.?|versus|before|after|than|für|von|bis"
    r"|und|gegen"
    r"|de|du|à|et|y|e|per|til|early|late|mid|end|calendar)\s|[-–|/]\s?)$",
    re.IGNORECASE,
)
_YEAR_AFTER = re.compile(
    r"\s*(?:$|[^\w\s]|\n|(?:was|were|is|are|had|has|have|and|to|with|by|until|through|compared|vs"
    r"|war|waren|bis|und|lag|betrug|était|à|et|fue|y|e|a|the|we|there|年|년|г)(?!\w))",
    re.IGNORECASE,
)


def find_dates(text: str, writing: Writing) -> Iterator[Figure]:
    """Find dates, months with a year or day, quarters, weeks and years.

    A bare `2024` is a year where the words around it say so, and keeps its reading as a number.
    """
    for match in _ISO.finditer(text):
        year, _, month, day = match.group(1, 2, 3, 4)
        yield from _dated(match, [(int(year), int(month), int(day))])
    for match in _NUMERIC.finditer(text):
        first, _, second, year = match.groups()
        full = _full_year(int(year), len(year))
        orders = [(full, int(second), int(first)), (full, int(first), int(second))]
        yield from _dated(match, orders[:1] if match[2] == "." else orders)
    yield from _with_month_names(text, writing)
    for match in _CJK.finditer(text):
        year = _full_year(int(match[1]), len(match[1]))
        period = Period(year, int(match[2] or 0) or None, int(match[3] or 0) or None)
        yield _figure(match, "date" if match[2] else "year", (period,))
    for match in _CJK_DAY.finditer(text):
        period = Period(None, int(match[1]), int(match[2] or 0) or None)
        yield _figure(match, "date", (period,))
    yield from _quarters(text)
    for match in (*_WEEK.finditer(text), *_PAST.finditer(text)):
        yield _figure(match, "date", ())
    for match in _FISCAL.finditer(text):
        period = Period(_full_year(int(match[1]), len(match[1])))
        yield _figure(match, "year", (period,))
    yield from _years(text)


def iso_dates(text: str) -> list[date]:
    """Give the valid ISO dates in a text: the contents of a cell, or SQL."""
    found = []
    for match in _ISO.finditer(text):
        day = _date(int(match[1]), int(match[3]), int(match[4]))
        if day is not None:
            found.append(day)
    return found


def _quarters(text: str) -> Iterator[Figure]:
    for match in _QUARTER.finditer(text):
        number = match[2] or match[3] or match[6]
        printed = match[4] or match[5] or ""
        year = _full_year(int(printed), len(printed)) if printed else None
        is_half = (match[1] or "").upper() == "H"
        period = Period(year) if is_half else Period(year, quarter=int(number))
        yield _figure(match, "date", (period,))


def _years(text: str) -> Iterator[Figure]:
    for match in _SEASON.finditer(text):
        first, second = int(match[1]), _full_year(int(match[3]), len(match[3]))
        if (first < second <= first + 30 and len(match[3]) == 4) or second == first + 1:
            yield _figure(match, "year", (Period(first), Period(second)))
    for match in _YEAR.finditer(text):
        before = text[max(0, match.start() - 16) : match.start()]
        after = text[match.end() : match.end() + 16]
        is_year = _YEAR_ALWAYS.search(before) or (
            (_YEAR_BEFORE.search(before) or not before.strip()) and _YEAR_AFTER.match(after)
        )
        if is_year:
            yield _figure(match, "year", (Period(int(match[0])),), number=match[0])


def _with_month_names(text: str, writing: Writing) -> Iterator[Figure]:
    pattern, months = _month_pattern(writing.languages)
    for match in pattern.finditer(text):
        named = match.groupdict()
        name = named["month1"] or named["month2"] or named["month3"]
        month = months[name.rstrip(".").casefold()]
        day = int(named["day1"] or named["day2"] or 0) or None
        printed = named["year1"] or named["year2"] or named["year3"] or ""
        year = _full_year(int(printed), len(printed)) if printed else None
        if day is not None and _date(year or 2024, month, day) is None:
            continue
        yield _figure(match, "date", (Period(year, month, day),))


@lru_cache(maxsize=64)
def _month_pattern(languages: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    months = _month_names(languages)
    names = "|".join(re.escape(name) for name in sorted(months, key=len, reverse=True))
    of, year = (
        r"\s(?:de\s|of\s|di\s|del\s)?",
        r"['\u2019]?(?P<year{}>(?:19|20)\d{{2}}|(?<=['\u2019])\d{{2}})(?!\w)",
    )
    day = r"(?P<day{}>(?:0?[1-9]|[12]\d|3[01]))(?:st|nd|rd|th|er|º|\.)?"
    pattern = (
        rf"(?<![\w.,]){day.format(1)}(?:{of}|-)(?P<month1>{names})\b\.?(?:(?:,|,?{of}"
        rf"|-){year.format(1)})?"
        rf"|(?<!\w)(?P<month2>{names})\b\.?\s{day.format(2)}(?![\d%]"
        rf"|[.,]\d)(?:,?\s{year.format(2)})?"
        rf"|(?<!\w)(?P<month3>{names})\b\.?(?:,?{of}|-){year.format(3)}"
    )
    return re.compile(pattern, re.IGNORECASE), months


def _month_names(languages: tuple[str, ...]) -> dict[str, int]:
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - loaded when first needed

    found = {"sept": 9}
    for language in dict.fromkeys(("en", *languages)):
        try:
            months = Locale.parse(language).months
        except (UnknownLocaleError, ValueError):
            continue
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    if (name[0].isalpha() and name.isascii()) or name.isalpha():
                        found.setdefault(name.rstrip(".").casefold(), int(number))
    return found


def _dated(match: re.Match[str], parts: list[tuple[int, int, int]]) -> Iterator[Figure]:
    days = [part for part in parts if _date(*part) is not None]
    if days:
        periods = tuple(Period(year, month, day) for year, month, day in days)
        yield _figure(match, "date", tuple(dict.fromkeys(periods)))


def _figure(
    match: re.Match[str], kind: str, periods: tuple[Period, ...], *, number: str = ""
) -> Figure:
    readings = ((plain_reading(number),),) if number else ()
    return Figure(
        text=match[0].strip(),
        start=match.start(),
        end=match.end(),
        kind=kind,
        periods=periods,
        readings=readings,
    )


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _full_year(year: int, digits: int) -> int:
    if digits > 2:
        return year
    return 2000 + year if year < 70 else 1900 + year
