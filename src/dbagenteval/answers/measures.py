"""Measures: the columns of result rows that measure something, and their course in time."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cached_property

from dbagenteval.answers.columns import as_number, exact
from dbagenteval.answers.dates import iso_dates
from dbagenteval.traces import Rows

__all__ = ["Measures"]

_NO_MEASURE = re.compile(
    r"(?:^|_)(?:id|nr|no|num|key|code|zip|postcode|year|month|day|week|quarter|rank|lat|lon|lng"
    r"|phone)$|^id|Id$",
    re.IGNORECASE,
)
_TIME_NAME = re.compile(
    r"date|day|month|week|quarter|year|period|datum|monat|jahr|mois|année|fecha|mes|año",
    re.IGNORECASE,
)
_STAMP = re.compile(r"(?:19|20)\d{2}(?:-(?:Q[1-4]|0\d|1[0-2]|W\d\d))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(
    r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]{0,6})\.?", re.IGNORECASE
)


class Measures:
    """The numeric columns of result rows that measure something; ids and years don't.

    Args:
        rows: Result rows.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._ordered: dict[str, list[Decimal]] = {}

    @cached_property
    def columns(self) -> dict[str, dict[int, Decimal]]:
        """By column its numbers, by index of the row."""
        found: dict[str, dict[int, Decimal]] = {}
        for index, row in enumerate(self.rows):
            for name, cell in row.items():
                number = as_number(cell)
                if number is not None and not _NO_MEASURE.search(name):
                    found.setdefault(name, {})[index] = exact(number)
        return found

    def ordered(self, name: str) -> list[Decimal]:
        """Give the distinct numbers of a column, the largest first."""
        if name not in self._ordered:
            self._ordered[name] = sorted(set(self.columns[name].values()), reverse=True)
        return self._ordered[name]

    @cached_property
    def series(self) -> list[Decimal]:
        """The one measure of rows that go through time, the earliest first; else empty."""
        rows = self.rows
        times = [name for name in rows[0] if _TIME_NAME.search(name)] if rows else []
        found = [values for name, values in self.columns.items() if name not in times]
        if len(rows) < 2 or len(times) != 1 or len(found) != 1 or len(found[0]) != len(rows):
            return []
        stamps = [_moment(row.get(times[0])) for row in rows]
        if "" in stamps:
            return []
        order = sorted(range(len(rows)), key=lambda index: stamps[index])
        return [found[0][index] for index in order]


def _moment(cell: object) -> str:
    """Give a text that sorts by time; empty if the cell is no date, month or year."""
    text = str(cell)
    if iso_dates(text) or _STAMP.fullmatch(text):
        return text
    month = _MONTH_NAME.fullmatch(text.strip())
    return f"{_MONTHS.index(month[1].lower()):02}" if month else ""
