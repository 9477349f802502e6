"""Cells: what result rows offer for a figure to rest on."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from dbagenteval.answers.columns import NumberColumn, as_number, columns_by_kind, within
from dbagenteval.answers.dates import iso_dates
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.figure import EXACT, Period, Reading
from dbagenteval.answers.shares import ShareDoubt, share_doubt
from dbagenteval.traces import Rows

__all__ = ["Cells", "in_period", "shape_of"]

_NUMBER_LINE = re.compile(r"\n *(-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?) *(?=\n)")
_PIECE = re.compile(r"\d+(?:\.\d+)?")
_CLOCK_IN_TEXT = re.compile(r"\d[T ](\d{2}):(\d{2})")
_CODE = re.compile(r"[^\W_]+")
_WORD_WITH_DIGIT = re.compile(r"[^\s,;()|\"']*\d[^\s,;()|\"']*")
_LINE_STARTS = ("\n", "\n-", "\n ")
_HUNDRED = Decimal(100)
_LONGEST_PIECE = 60
_LONGEST_WHOLE = Decimal(10) ** _LONGEST_PIECE
_FEW_WHOLE = 3
_MOST_SEARCHES = 100
_LARGE_TEXT = 100_000
_MOST_TEXTS = 20_000
"""Text cells that are looked through for codes of one shape."""


class Cells:
    """The cells of result rows, looked at only as far as a figure asks for it.

    Args:
        rows: Result rows of one execution.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._text_searches = 0
        self._found_texts: dict[str, bool] = {}
        self._doubts: dict[Any, ShareDoubt] = {}

    @cached_property
    def _by_kind(self) -> dict[str, list[Any]]:
        return columns_by_kind(self.rows)

    @cached_property
    def _numbers(self) -> list[NumberColumn]:
        return [NumberColumn(numbers) for numbers in self._by_kind["number"]]

    @cached_property
    def _number_texts(self) -> list[NumberColumn]:
        """Columns of text cells that are numbers as a whole: decimals as some drivers give them."""
        columns = [
            [n for text in _NUMBER_LINE.findall(lines) if (n := as_number(text)) is not None]
            for lines in self._lines
        ]
        return [NumberColumn(numbers) for numbers in columns if numbers]

    @cached_property
    def _has_exponents(self) -> bool:
        return any(sign in self._digits_text for sign in ("E+", "e+", "E-", "e-"))

    def _may_hold(self, low: Decimal, high: Decimal, leads: tuple[str, ...] = ("",)) -> bool:
        """Tell whether the text cells hold the whole part of a number between two bounds.

        Finding a text in a text is far faster than taking all numbers out of it.
        """
        self._text_searches += 1
        if self._text_searches > _MOST_SEARCHES:
            return True  # an index of the numbers pays now
        whole = _whole_numbers(low, high)
        text = self._digits_text
        return not whole or any(lead + number in text for number in whole for lead in leads)

    def holds_text(self, text: str) -> bool:
        """Tell whether the text cells hold a text, such as a date in words; case is ignored."""
        text = text.casefold()
        if text not in self._found_texts:
            # Large results are searched for so many texts only.
            is_spent = len(self._found_texts) >= _MOST_SEARCHES and len(self.text) > _LARGE_TEXT
            self._found_texts[text] = not is_spent and text in self.text
        return self._found_texts[text]

    @cached_property
    def _lines(self) -> list[str]:
        """Text columns, a line for each cell."""
        return ["\n" + normal_text("\n".join(cells)) + "\n" for cells in self._by_kind["text"]]

    @cached_property
    def texts(self) -> list[str]:
        """Distinct text cells, of 20,000 cells of each column at most."""
        columns = self._by_kind["text"]
        return sorted({text for column in columns for text in column[:_MOST_TEXTS]})

    @cached_property
    def text(self) -> str:
        """All text cells in one, case-folded."""
        return "".join(self._lines).casefold()

    @cached_property
    def days(self) -> set[date]:
        """Days of date and timestamp cells, and of ISO dates in text."""
        found = {
            cell.date() if isinstance(cell, datetime) else cell
            for column in self._by_kind["day"]
            for cell in column
        }
        return found.union(*(iso_dates(lines) for lines in self._lines))

    @cached_property
    def times(self) -> set[tuple[int, int]]:
        """Hours and minutes of timestamp and time cells; midnight is no time."""
        clocks = [cell for column in self._by_kind["day"] for cell in column]
        clocks = [cell for cell in clocks if isinstance(cell, datetime)]
        clocks += [cell for column in self._by_kind["time"] for cell in column]
        found = {(cell.hour, cell.minute) for cell in clocks}
        for lines in self._lines:
            found.update((int(hour), int(minute)) for hour, minute in _CLOCK_IN_TEXT.findall(lines))
        return found - {(0, 0)}

    @cached_property
    def _digits_text(self) -> str:
        return "".join(self._lines).replace(",", "")

    @cached_property
    def _pieces(self) -> list[Decimal]:
        found = set(_PIECE.findall(self._digits_text))
        return sorted(Decimal(piece) for piece in found if len(piece) <= _LONGEST_PIECE)

    @cached_property
    def _date_pieces(self) -> list[Decimal]:
        """Parts of dates and times that are cells of such a type."""
        cells = [
            cell for kind in ("day", "time") for column in self._by_kind[kind] for cell in column
        ]
        parts = ("year", "month", "day", "hour", "minute")
        found = {getattr(cell, part, 0) for cell in set(cells) for part in parts}
        return sorted(map(Decimal, found))

    @cached_property
    def codes(self) -> set[str]:
        """Text cells and their words, case-folded, letters and digits only."""
        words = self.text.replace("\n", " \n").split(" ")
        cells = self.text.split("\n")
        return {"".join(_CODE.findall(one)) for one in (*words, *cells)}

    def number(self, reading: Reading) -> Any:
        """Give the size of a numeric cell that the reading stands for, or None."""
        return self.between(*reading.span())

    def ratio(self, reading: Reading) -> Any:
        """Give the size of a cell that is a hundredth of a percent reading, or None."""
        low, high = reading.span()
        return self.between(EXACT.divide(low, _HUNDRED), EXACT.divide(high, _HUNDRED))

    def between(self, low: Decimal, high: Decimal) -> Any:
        """Give the size of a numeric cell between two bounds, both included, or None."""
        size = _found(self._numbers, low, high)
        if size is not None:
            return size
        may_be_text = low < 1 or self._may_hold(low, high, _LINE_STARTS) or self._has_exponents
        return _found(self._number_texts, low, high) if may_be_text else None

    def piece(self, reading: Reading) -> Decimal | None:
        """Give digits inside a text cell that are the reading, or None."""
        low, high = reading.span()
        if not self._may_hold(low, high):
            return None
        found: Decimal | None = within(self._pieces, low, high)
        return found

    def date_piece(self, reading: Reading) -> Decimal | None:
        """Give the year, month, day, hour or minute of a cell that is the reading, or None."""
        found: Decimal | None = within(self._date_pieces, *reading.span())
        return found

    @cached_property
    def _periods(self) -> set[Period]:
        """Every period that a day of the rows lies in."""
        found: set[Period] = set()
        for day in self.days:
            year, month, quarter = day.year, day.month, (day.month + 2) // 3
            found |= {
                Period(year),
                Period(year, month),
                Period(year, month, day.day),
                Period(None, month),
                Period(None, month, day.day),
                Period(year, quarter=quarter),
                Period(None, quarter=quarter),
            }
        return found

    @cached_property
    def day_span(self) -> tuple[date, date] | None:
        """The first and the last day of the rows, None if they hold no date."""
        return (min(self.days), max(self.days)) if self.days else None

    def has_period(self, period: Period) -> bool:
        """Tell whether a date cell lies in the period."""
        return period in self._periods

    @cached_property
    def shapes(self) -> dict[str, str]:
        """Shapes of the codes in text cells, such as a-9, with an example of each."""
        words = (
            word
            for text in self.texts
            if len(text) < 200
            for word in _WORD_WITH_DIGIT.findall(text)
        )
        return {shape_of(word): word for word in words}

    def has_code(self, key: str) -> bool:
        """Tell whether a text cell or a word of one is a code, given by letters and digits."""
        digits = max(re.findall(r"\d+", key), key=len, default="")
        return self.holds_text(digits) and key in self.codes

    def share_doubt(self, size: Any) -> ShareDoubt:
        """Say whether a cell of that size can be a percentage."""
        if size not in self._doubts:
            self._doubts[size] = share_doubt(self.rows, size)
        return self._doubts[size]

    def has_sign(self, size: Any, sign: str) -> bool:
        """Tell whether a cell of that size has that sign; zero has both."""
        wanted = -size if sign == "-" else size
        columns = (*self._numbers, *self._number_texts)
        return size == 0 or any(wanted in column.numbers for column in columns)


def _whole_numbers(low: Decimal, high: Decimal) -> list[str]:
    """Give the whole parts that a number between the bounds has; none if they are many."""
    if high >= _LONGEST_WHOLE or high - low > _FEW_WHOLE:
        return []
    return [str(number) for number in range(max(int(low), 0), int(high) + 1)]


def _found(columns: list[NumberColumn], low: Decimal, high: Decimal) -> Any:
    sizes = (column.find(low, high) for column in columns)
    return next((size for size in sizes if size is not None), None)


def shape_of(code: str) -> str:
    """Give a code with each number as 9 and each word as a."""
    code = re.sub(r"\d+", "9", code.strip(".,:;!?#").casefold())
    return re.sub(r"[^\W\d_]+", "a", code)


def in_period(day: date, period: Period) -> bool:
    """Tell whether a day lies in a period."""
    return (
        period.year in (None, day.year)
        and period.month in (None, day.month)
        and period.day in (None, day.day)
        and period.quarter in (None, (day.month + 2) // 3)
    )
