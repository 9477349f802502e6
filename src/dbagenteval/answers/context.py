"""What becomes of dates, times and codes: context, unless the rows hold some to contradict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from dbagenteval.answers.dates import iso_dates
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.figure import Figure, Period
from dbagenteval.answers.grounds import in_period, shape_of

if TYPE_CHECKING:
    from dbagenteval.answers.grounding import Grounds

__all__ = ["fate_of_code", "fate_of_date", "fate_of_time"]

_CODE = re.compile(r"[^\W_]+")
_CLOCK = re.compile(
    r"(\d{1,2})(?::(\d{2}))?.*?(?:([ap])\.?m)?\.?(?:\s?\w+)?$", re.IGNORECASE | re.DOTALL
)
_BETWEEN = 24  # characters between the two ends of a period


def fate_of_date(figure: Figure, beside: Sequence[Figure], grounds: Grounds) -> Fate:
    """Compare a date with the dates of the rows, the question and the SQL.

    Args:
        figure: A date or year.
        beside: The dates before and after it in the answer.
        grounds: What it may rest on.

    Rows without dates can't contradict one: it is context then. So is a period whose two ends
    are named and that holds all dates of the rows.
    """
    asked = normal_text(grounds.question).casefold()
    for cells in grounds.cells:
        if any(cells.has_period(period) for period in figure.periods):
            return Fate(figure=figure, state="grounded", basis="rows")
        if cells.holds_text(figure.text):
            return Fate(figure=figure, state="grounded", basis="text")
    if "question" in grounds.sources and figure.text.casefold() in asked:
        return Fate(figure=figure, state="grounded", basis="question")
    if "sql" in grounds.sources and _in_sql(figure, grounds):
        return Fate(figure=figure, state="grounded", basis="sql")
    spans = [cells.day_span for cells in grounds.cells if cells.day_span]
    if not spans or not figure.periods or figure.periods[0] == Period():
        return Fate(figure=figure, state="ignored", basis="a date, and the rows hold none")
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    if _spans_all(figure, beside, first, last):
        return Fate(figure=figure, state="ignored", basis="a period around the dates of the rows")
    return Fate(
        figure=figure,
        state="ungrounded",
        missing=(figure.shown,),
        note=f"the rows hold other dates, such as {first.isoformat()}",
    )


def _in_sql(figure: Figure, grounds: Grounds) -> bool:
    text = "\n".join(grounds.sql)
    days = iso_dates(text)
    for period in figure.periods:
        if any(in_period(day, period) for day in days):
            return True
        only_year = period.year is not None and period.month is None and period.quarter is None
        if only_year and re.search(rf"(?<!\d){period.year}(?!\d)", text):
            return True
    return False


def _spans_all(figure: Figure, beside: Sequence[Figure], earliest: date, latest: date) -> bool:
    """Tell whether a date is an end of a period that holds all dates of the rows."""
    for other in beside:
        first, second = sorted((figure, other), key=lambda one: one.start)
        start, end = _first_day(first.periods[0]), _first_day(second.periods[0])
        if second.start - first.end > _BETWEEN or start is None or end is None:
            continue
        if start <= earliest and (latest <= end or end.year > latest.year):
            return True
    return False


def _first_day(period: Period) -> date | None:
    if period.year is None:
        return None
    try:
        return date(period.year, period.month or 1, period.day or 1)
    except ValueError:
        return None


def fate_of_time(figure: Figure, grounds: Grounds) -> Fate:
    """Compare a time of day with the times of the rows."""
    moment = _clock(figure.text)
    asked = normal_text(grounds.question).casefold()
    times = set().union(*(cells.times for cells in grounds.cells)) if grounds.cells else set()
    if moment in times or figure.text.casefold() in asked:
        return Fate(
            figure=figure, state="grounded", basis="rows" if moment in times else "question"
        )
    if moment is None or not times:
        return Fate(figure=figure, state="ignored", basis="a time, and the rows hold none")
    hour, minute = min(times)
    return Fate(
        figure=figure,
        state="ungrounded",
        missing=(figure.shown,),
        note=f"the rows hold other times, such as {hour:02}:{minute:02}",
    )


def _clock(text: str) -> tuple[int, int] | None:
    match = _CLOCK.match(text)
    if match is None or "/" in text or "h" in text.casefold().replace("uhr", ""):
        return None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] and hour < 12 and match[3].lower() == "p":
        hour += 12
    if match[3] and hour == 12 and match[3].lower() == "a":
        hour = 0
    return hour, minute


def fate_of_code(figure: Figure, grounds: Grounds) -> Fate:
    """Compare a code, phone number or version with those of the rows.

    It is a claim only if the rows hold one of the same shape: `ORD-18` beside `ORD-17`.
    """
    key = "".join(_CODE.findall(figure.text.casefold()))
    asked = "".join(_CODE.findall(normal_text(grounds.question).casefold()))
    if any(cells.has_code(key) for cells in grounds.cells):
        return Fate(figure=figure, state="grounded", basis="rows")
    if "question" in grounds.sources and key in asked:
        return Fate(figure=figure, state="grounded", basis="question")
    shape = shape_of(figure.text)
    other = next((cells.shapes[shape] for cells in grounds.cells if shape in cells.shapes), "")
    if other:
        note = f"the rows hold other codes, such as {other}"
        return Fate(figure=figure, state="ungrounded", missing=(figure.shown,), note=note)
    kind = {"code": "a code", "phone": "a phone number", "version": "a version"}[figure.kind]
    return Fate(
        figure=figure,
        state="ignored",
        basis=f"{kind}, and the rows hold none",
        note=f"{figure.shown!r} is taken for {kind} and not checked",
    )
