"""Grounds: what the rows, the question and the SQL offer for a figure to rest on."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal, DecimalException
from functools import cached_property
from itertools import chain
from typing import Any

from dbagenteval.answers.dates import iso_dates
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.figure import EXACT, Period, Reading
from dbagenteval.traces import Rows

__all__ = ["Cells", "as_number", "in_period", "within"]

_PLAIN_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PIECE = re.compile(r"\d+(?:\.\d+)?")
_CODE = re.compile(r"[^\W_]+")
_LARGEST = 10**300
# A percent sign may stand for a value a hundred times smaller, or an exact ratio in a column.
_HUNDRED = Decimal(100)


def as_number(value: object) -> int | float | Decimal | None:
    """Give a cell's number: numbers, and text that is one as databases print decimals."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > 400 or not _PLAIN_NUMBER.fullmatch(text):
            return None
        value = Decimal(text)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value if _is_usual(value) else None


class Cells:
    """The cells of result rows, looked at only as far as a figure asks for it.

    Args:
        rows: Result rows of one execution.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @cached_property
    def _by_type(self) -> dict[type, set[Any]]:
        """Distinct cells by their type; cells that can't be hashed count as their text."""
        found: dict[type, set[Any]] = defaultdict(set)
        for cell in chain.from_iterable(row.values() for row in self.rows):
            try:
                found[cell.__class__].add(cell)
            except TypeError:
                found[str].add(str(cell))
        return found

    @cached_property
    def numbers(self) -> set[Any]:
        """Numeric cells with their signs, and text cells that are numbers as a whole."""
        found: set[Any] = set()
        for kind, cells in self._by_type.items():
            if issubclass(kind, bool) or not issubclass(kind, int | float | Decimal):
                continue
            found |= {cell for cell in cells if _is_usual(cell)}
        return found | {number for text in self.texts if (number := as_number(text)) is not None}

    @cached_property
    def _sizes(self) -> list[Any]:
        return sorted({abs(number) for number in self.numbers})

    @cached_property
    def texts(self) -> set[str]:
        """Cells that are neither numbers nor dates, as text."""
        found: set[str] = set()
        for kind, cells in self._by_type.items():
            if issubclass(kind, str):
                found |= cells
            elif not issubclass(kind, int | float | Decimal | date | time | type(None)):
                found.update(str(cell) for cell in cells)
        return found

    @cached_property
    def days(self) -> set[date]:
        """Days of date and timestamp cells, and of ISO dates in text."""
        found: set[date] = set()
        for kind, cells in self._by_type.items():
            if issubclass(kind, datetime):
                found.update(cell.date() for cell in cells)
            elif issubclass(kind, date):
                found |= cells
        joined = "\n".join(text for text in self.texts if text[:1].isdigit() or len(text) < 200)
        return found.union(iso_dates(joined))

    @cached_property
    def times(self) -> set[tuple[int, int]]:
        """Hours and minutes of timestamp and time cells; midnight is no time."""
        found: set[tuple[int, int]] = set()
        for kind, cells in self._by_type.items():
            if issubclass(kind, datetime | time):
                found.update((cell.hour, cell.minute) for cell in cells)
        for text in self.texts:
            match = re.search(r"[T ](\d{2}):(\d{2})", text) if len(text) < 40 else None
            if match:
                found.add((int(match[1]), int(match[2])))
        return found - {(0, 0)}

    @cached_property
    def _pieces(self) -> list[Decimal]:
        found: set[str] = set()
        for text in self.texts:
            found.update(_PIECE.findall(normal_text(text).replace(",", "")))
        return sorted(Decimal(piece) for piece in found if len(piece) <= 60)

    @cached_property
    def _date_pieces(self) -> list[Decimal]:
        days = {part for day in self.days for part in (day.year, day.month, day.day)}
        times = {part for hour, minute in self.times for part in (hour, minute)}
        return sorted(map(Decimal, days | times))

    @cached_property
    def codes(self) -> set[str]:
        """Text cells and their words, case-folded, letters and digits only."""
        found: set[str] = set()
        for text in self.texts:
            folded = normal_text(text).casefold()
            found.add("".join(_CODE.findall(folded)))
            found.update("".join(_CODE.findall(word)) for word in folded.split())
        return found

    @cached_property
    def text(self) -> str:
        """All text cells in one, case-folded."""
        return "\n".join(sorted(normal_text(text) for text in self.texts)).casefold()

    def number(self, reading: Reading) -> Any:
        """Give a numeric cell that the reading stands for, the sign not looked at; or None."""
        return within(self._sizes, *reading.span())

    def ratio(self, reading: Reading) -> Any:
        """Give a cell that is a hundredth of a percent reading."""
        low, high = reading.span()
        return within(self._sizes, EXACT.divide(low, _HUNDRED), EXACT.divide(high, _HUNDRED))

    def between(self, low: Decimal, high: Decimal) -> Any:
        """Give a numeric cell whose size lies between two bounds, both included."""
        return within(self._sizes, low, high)

    def piece(self, reading: Reading) -> Any:
        """Give digits inside a text cell that are the reading."""
        return within(self._pieces, *reading.span())

    def date_piece(self, reading: Reading) -> Any:
        """Give the year, month, day, hour or minute of a cell that is the reading."""
        return within(self._date_pieces, *reading.span())

    def has_period(self, period: Period) -> bool:
        """Tell whether a date cell lies in the period."""
        if period.year is not None and period.month is not None and period.day is not None:
            return date(period.year, period.month, period.day) in self.days
        return any(in_period(day, period) for day in self.days)

    def has_sign(self, size: Any, sign: str) -> bool:
        """Tell whether a cell of that size has that sign; zero has both."""
        return bool(size == 0 or (-size if sign == "-" else size) in self.numbers)


def in_period(day: date, period: Period) -> bool:
    """Tell whether a day lies in a period."""
    return (
        period.year in (None, day.year)
        and period.month in (None, day.month)
        and period.day in (None, day.day)
        and period.quarter in (None, (day.month + 2) // 3)
    )


def _is_usual(number: Any) -> bool:
    """Tell numbers that an answer can state from NaN, infinities and 10**5000."""
    if isinstance(number, float):
        return math.isfinite(number)
    if isinstance(number, Decimal):
        try:
            return number.is_finite() and abs(number.adjusted()) < 300
        except DecimalException:
            return False
    return bool(-_LARGEST < number < _LARGEST)


def within(sizes: Sequence[Any], low: Decimal, high: Decimal) -> Any:
    """Find a size between two bounds, both included, in a sorted list.

    A float counts as its shortest decimal text, so 2.675 is the end of what prints as 2.67.
    """
    at = bisect_left(sizes, EXACT.subtract(low, EXACT.multiply(abs(low), Decimal("1e-15"))))
    limit = EXACT.add(high, EXACT.multiply(abs(high), Decimal("1e-15")))
    while at < len(sizes) and sizes[at] <= limit:
        size = sizes[at]
        exact = Decimal(repr(size)) if isinstance(size, float) else Decimal(size)
        if low <= exact <= high:
            return size
        at += 1
    return None
