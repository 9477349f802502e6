"""Days of the calendar: the first of a week or month, so many months after."""

from __future__ import annotations

import datetime

__all__ = ["DAY", "DayRange", "iso_date", "months_after", "shifted", "unit_of", "unit_start"]

DAY = datetime.timedelta(days=1)
DayRange = tuple["datetime.date | None", "datetime.date | None"]


def iso_date(text: str) -> datetime.date | None:
    """Read `2024-01-31`; None if there is no such day."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def unit_start(day: datetime.date, unit: str) -> datetime.date:
    """Give the first day of the day, week (Monday), month, quarter or year that a day is in."""
    if unit == "week":
        return day - datetime.timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return datetime.date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
    return datetime.date(day.year, 1, 1) if unit == "year" else day


def months_after(day: datetime.date, count: int) -> datetime.date:
    """Give the same day so many months later, or the last of that month if it is shorter."""
    index = day.year * 12 + day.month - 1 + count
    year, month = divmod(index, 12)
    last = (datetime.date(year + (month == 11), (month + 1) % 12 + 1, 1) - DAY).day
    return datetime.date(year, month + 1, min(day.day, last))


def shifted(day: datetime.date, unit: str, count: int) -> datetime.date:
    """Move a day by so many days, weeks, months, quarters or years."""
    if unit in ("day", "week"):
        return day + datetime.timedelta(days=count * (7 if unit == "week" else 1))
    return months_after(day, count * {"month": 1, "quarter": 3, "year": 12}[unit])


def unit_of(day: datetime.date, unit: str) -> DayRange:
    """Give the first and last day of the unit that a day is in."""
    start = unit_start(day, unit)
    return start, shifted(start, unit, 1) - DAY
