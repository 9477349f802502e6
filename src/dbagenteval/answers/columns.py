"""Result rows as columns, by the kind of their cells, so that C loops can search them."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import Any

from dbagenteval.answers.figure import EXACT
from dbagenteval.traces import Rows

__all__ = ["NumberColumn", "as_number", "columns_by_kind", "exact", "within"]

_PLAIN_NUMBER = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_LARGEST = 10**300
_SCANS = 2
"""A column is sorted when it is searched the third time; a sort costs as much as eight scans."""
_SLACK = Decimal("1e-15")


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


def exact(number: Any) -> Decimal:
    """Give a number as a decimal; a float as its shortest text, so that 2.675 is 2.675."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def within(sizes: Any, low: Decimal, high: Decimal) -> Any:
    """Find a number between two bounds, both included, in a sorted list; None if there is none."""
    at = bisect_left(sizes, EXACT.subtract(low, EXACT.multiply(abs(low), _SLACK)))
    limit = EXACT.add(high, EXACT.multiply(abs(high), _SLACK))
    while at < len(sizes) and sizes[at] <= limit:
        if low <= exact(sizes[at]) <= high:
            return sizes[at]
        at += 1
    return None


def columns_by_kind(rows: Rows) -> dict[str, list[Any]]:
    """Sort cells by what they are.

    Returns:
        `number`: lists of numbers, one for each column that has some; `text`: lists of texts;
        `day`: dates and timestamps; `time`: times of day. Null and booleans are left out.
    """
    found: dict[str, list[Any]] = {"number": [], "text": [], "day": [], "time": []}
    for cells in _columns(rows):
        kinds = set(map(type, cells))
        for kind, of_kind in _apart(cells, kinds):
            found[kind].append(of_kind)
    return found


class NumberColumn:
    """The numbers of a column.

    Args:
        numbers: Finite numbers with their signs.
    """

    def __init__(self, numbers: list[Any]) -> None:
        self.numbers = numbers
        self._is_decimal = isinstance(numbers[0], Decimal)
        self._scans = 0

    @cached_property
    def _sizes(self) -> list[Any]:
        return sorted(map(abs, self.numbers) if self._has_negative else self.numbers)

    @cached_property
    def _has_negative(self) -> bool:
        return bool(min(self.numbers) < 0)

    def find(self, low: Decimal, high: Decimal) -> Any:
        """Give the size of a number whose size lies between two bounds; None if there is none."""
        if self._scans >= _SCANS:
            return within(self._sizes, low, high)
        self._scans += 1
        for size in self._near(low, high):
            if low <= exact(size) <= high:
                return size
        return None

    def _near(self, low: Decimal, high: Decimal) -> list[Any]:
        bottom: Any = EXACT.subtract(low, EXACT.multiply(abs(low), _SLACK))
        top: Any = EXACT.add(high, EXACT.multiply(abs(high), _SLACK))
        if not self._is_decimal:
            # Floats compare with floats several times faster.
            bottom, top = _as_float(bottom, -math.inf), _as_float(top, math.inf)
        if self._has_negative:
            return [abs(number) for number in self.numbers if bottom <= abs(number) <= top]
        return [number for number in self.numbers if bottom <= number <= top]


def _columns(rows: Rows) -> Iterator[list[Any]]:
    if not rows:
        return
    names = list(rows[0])
    if sum(map(len, rows)) == len(names) * len(rows):
        try:
            for name in names:
                yield list(map(itemgetter(name), rows))
        except KeyError:
            pass
        else:
            return
        # Columns that came through are seen twice, which does no harm.
    union = dict.fromkeys(name for row in rows for name in row)
    for name in union:
        yield [row.get(name) for row in rows]


def _apart(cells: list[Any], kinds: set[type]) -> Iterator[tuple[str, list[Any]]]:
    for kind in kinds:
        mine = cells if len(kinds) == 1 else [cell for cell in cells if type(cell) is kind]
        if kind is type(None) or issubclass(kind, bool):
            continue
        if issubclass(kind, int | float | Decimal):
            usual = mine if _all_usual(mine) else [cell for cell in mine if _is_usual(cell)]
            if usual:
                yield "number", usual
        elif issubclass(kind, date):
            yield "day", mine
        elif issubclass(kind, time):
            yield "time", mine
        elif issubclass(kind, str):
            yield "text", mine
        else:
            yield "text", list(map(str, mine))


def _all_usual(numbers: list[Any]) -> bool:
    """Check the usual case at once: the sum of finite numbers is finite, that of NaN is not."""
    if isinstance(numbers[0], Decimal):
        return False
    try:
        return math.isfinite(math.fsum(numbers))
    except (OverflowError, ValueError):
        return False


def _is_usual(number: Any) -> bool:
    """Tell numbers that an answer can state from NaN, infinities and 10**5000."""
    if isinstance(number, float):
        return math.isfinite(number)
    if isinstance(number, Decimal):
        return number.is_finite() and abs(number.adjusted()) < 300
    return bool(-_LARGEST < number < _LARGEST)


def _as_float(bound: Decimal, otherwise: float) -> float:
    try:
        return float(bound)
    except OverflowError:
        return otherwise
