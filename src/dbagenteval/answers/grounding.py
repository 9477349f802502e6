"""What becomes of each figure of an answer: in the rows, elsewhere, nowhere, or no claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from dbagenteval.answers.columns import exact, within
from dbagenteval.answers.context import fate_of_code, fate_of_date, fate_of_time
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.figure import EXACT, Figure, Reading
from dbagenteval.answers.grounds import Cells
from dbagenteval.answers.options import SOURCES
from dbagenteval.answers.reader import read_figures
from dbagenteval.traces import Rows

__all__ = ["Grounds", "fates_of"]

_RANK = {"rows": 0, "row_count": 1, "question": 2, "text": 3, "dates": 4, "sql": 5}
_PIECE = re.compile(r"\d+(?:\.\d+)?")
_FAR = Decimal("0.1")
_NO_CLAIM = {
    "ordinal": "a rank",
    "marker": "a list number",
    "link": "part of a link",
    "sql": "quoted SQL",
}


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """What the figures of an answer may rest on.

    Args:
        results: The rows of each execution that counts, the last one first.
        question: The question; its numbers are no claims of the answer.
        sql: Texts of the statements that were run.
        sources: Which of `SOURCES` count.
        signs: True if `-500` needs a cell below zero.
        rounding: Largest relative distance between a figure and what it rounds; None allows
            whatever its printed digits allow.
    """

    results: Sequence[Rows]
    question: str = ""
    sql: Sequence[str] = ()
    sources: Sequence[str] = SOURCES
    signs: bool = False
    rounding: float | None = None

    @cached_property
    def cells(self) -> list[Cells]:
        """The cells of each result, the last one first."""
        return [Cells(rows) for rows in self.results]

    @cached_property
    def asked(self) -> list[Decimal]:
        """Sizes of all numbers in the question, dates and codes taken apart."""
        text = normal_text(self.question)
        found = {
            abs(reading.value)
            for figure in read_figures(self.question)
            for numbers in figure.readings
            for reading in numbers
        }
        pieces = (*_PIECE.findall(text.replace(",", "")), *_PIECE.findall(text))
        return sorted(found | {Decimal(piece) for piece in pieces if len(piece) <= 60})


def fates_of(figures: Sequence[Figure], grounds: Grounds) -> list[Fate]:
    """Decide for each figure of an answer what it rests on."""
    dates = [figure for figure in figures if figure.periods]
    beside = {
        figure.start: dates[max(0, at - 1) : at] + dates[at + 1 : at + 2]
        for at, figure in enumerate(dates)
    }
    return [_fate(figure, beside.get(figure.start, []), grounds) for figure in figures]


def _fate(figure: Figure, beside: Sequence[Figure], grounds: Grounds) -> Fate:
    if figure.kind in _NO_CLAIM:
        return Fate(figure=figure, state="ignored", basis=_NO_CLAIM[figure.kind])
    if figure.kind == "fraction":
        return Fate(figure=figure, state="ignored", basis="a fraction in words")
    if figure.kind in ("code", "phone", "version"):
        return fate_of_code(figure, grounds)
    if figure.kind == "time":
        return fate_of_time(figure, grounds)
    if figure.readings:
        fate = _best(figure, grounds)
        if fate.state == "grounded" or figure.kind == "quantity":
            return fate
    return fate_of_date(figure, beside, grounds)


def _best(figure: Figure, grounds: Grounds) -> Fate:
    """Take the alternative that rests on the strongest ground."""
    best: Fate | None = None
    for numbers in figure.readings:
        parts = [_part(figure, reading, grounds) for reading in numbers]
        fate = _together(figure, numbers, parts)
        if best is None or _weight(fate) < _weight(best):
            best = fate
    return best or Fate(figure=figure, state="ignored", basis="no number")


def _weight(fate: Fate) -> tuple[float, int]:
    """Order alternatives: grounded ones by their ground, then those that are so in part."""
    if fate.state == "grounded":
        return 0.0, _RANK.get(fate.basis, 9)
    return fate.share_missing, 0


def _together(figure: Figure, numbers: Sequence[Reading], parts: list[Fate]) -> Fate:
    if len(parts) == 1:
        return parts[0]
    missing = tuple(
        f"{abs(reading.value):f}"
        for reading, part in zip(numbers, parts, strict=True)
        if part.state != "grounded"
    )
    if missing:
        share = len(missing) / len(parts)
        return Fate(figure=figure, state="ungrounded", missing=missing, share_missing=share)
    weakest = max(parts, key=lambda part: _RANK.get(part.basis, 9))
    return replace(weakest, cells=tuple(cell for part in parts for cell in part.cells))


def _part(figure: Figure, reading: Reading, grounds: Grounds) -> Fate:
    if "rows" in grounds.sources:
        doubts: list[str] = []
        for index, cells in enumerate(grounds.cells):
            fate = _in_rows(figure, reading, cells, grounds, doubts)
            if fate is not None:
                note = f"{figure.shown!r} is in the rows of an earlier query" if index else ""
                return replace(fate, note=fate.note or note, result=index)
        if doubts:
            return _nowhere(figure, doubts[0])
    return _elsewhere(figure, reading, grounds)


def _in_rows(
    figure: Figure, reading: Reading, cells: Cells, grounds: Grounds, doubts: list[str]
) -> Fate | None:
    size = cells.number(reading)
    note = ""
    if size is not None and reading.percent:
        doubt = cells.share_doubt(size)
        if doubt.is_certain and cells.ratio(reading) is None:
            doubts.append(f"{figure.shown!r}: {doubt.text}")
            size = None
        note = f"{figure.shown!r}: {doubt.text}" if doubt.text else ""
    if reading.percent and (size is None or note):
        ratio = cells.ratio(reading)
        if ratio is not None:
            return Fate(figure=figure, state="grounded", basis="rows", cells=(ratio,))
    if size is None and figure.bound not in ("", "of many"):
        return _as_bound(figure, reading, cells)
    if size is None:
        return None
    return _judged(figure, reading, size, cells, grounds, note)


def _judged(
    figure: Figure, reading: Reading, size: Any, cells: Cells, grounds: Grounds, note: str
) -> Fate | None:
    far = _distance(reading.value, exact(size))
    if grounds.rounding is not None and far > Decimal(repr(grounds.rounding)):
        return None
    if figure.sign and not cells.has_sign(size, figure.sign):
        if grounds.signs:
            return None
        cell = "-" + str(size) if figure.sign == "+" else str(size)
        note = f"{figure.sign}{figure.shown} rests on {cell}: the sign is not compared"
    elif far > _FAR:
        note = f"{figure.shown!r} stands for {size}, {far:.0%} off"
    return Fate(figure=figure, state="grounded", basis="rows", note=note, cells=(size,))


def _distance(printed: Decimal, cell: Decimal) -> Decimal:
    gap = abs(EXACT.subtract(abs(printed), cell))
    return EXACT.divide(gap, cell) if cell else Decimal(bool(gap))


def _as_bound(figure: Figure, reading: Reading, cells: Cells) -> Fate | None:
    size = abs(reading.value)
    unit = _round_unit(reading)
    if figure.bound == "about":
        slack = max(reading.half, min(EXACT.divide(unit, 2), EXACT.multiply(size, Decimal("0.1"))))
        low, high = EXACT.subtract(size, slack), EXACT.add(size, slack)
    elif figure.bound == "over":
        low, high = size, EXACT.add(size, EXACT.multiply(unit, Decimal("0.999999999")))
    else:
        low, high = EXACT.subtract(size, EXACT.multiply(unit, Decimal("0.999999999"))), size
    cell = cells.between(low, high)
    if cell is None:
        return None
    note = f"'{figure.bound} {figure.shown}' stands for {cell}"
    return Fate(figure=figure, state="grounded", basis="rows", note=note, cells=(cell,))


def _round_unit(reading: Reading) -> Decimal:
    """Give the place that a round number is rounded to: 1,000 to thousands, 250 to fifties."""
    printed = EXACT.multiply(reading.half, 2)
    size = abs(reading.value)
    if not size:
        return printed
    unit = printed
    while not EXACT.remainder(size, EXACT.multiply(unit, 10)):
        unit = EXACT.multiply(unit, 10)
    five = EXACT.multiply(unit, 5)
    return unit if EXACT.remainder(size, five) else five


def _elsewhere(figure: Figure, reading: Reading, grounds: Grounds) -> Fate:
    low, high = reading.span()
    sources = grounds.sources
    if "row_count" in sources:
        for rows in grounds.results:
            if low <= len(rows) <= high:
                return _weak(figure, "row_count", "")
            if figure.bound == "of many" and 0 < reading.value <= len(rows):
                note = f"{figure.shown!r} is taken for some of the {len(rows)} rows"
                return _weak(figure, "row_count", note)
    if "question" in sources and within(grounds.asked, low, high) is not None:
        note = f"{figure.shown!r} comes from the question" if figure.kind == "quantity" else ""
        return _weak(figure, "question", note)
    for cells in grounds.cells:
        if "text" in sources and cells.piece(reading) is not None:
            return _weak(figure, "text", f"{figure.shown!r} is only part of a text cell")
        if "dates" in sources and cells.date_piece(reading) is not None:
            return _weak(figure, "dates", f"{figure.shown!r} is only part of a date or time cell")
    return _nowhere(figure)


def _weak(figure: Figure, basis: str, note: str) -> Fate:
    return Fate(figure=figure, state="grounded", basis=basis, note=note)


def _nowhere(figure: Figure, note: str = "") -> Fate:
    return Fate(figure=figure, state="ungrounded", missing=(figure.shown,), note=note)
