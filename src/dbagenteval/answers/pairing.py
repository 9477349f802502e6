"""Whether the numbers of an answer stand at the names that the rows have them at."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dbagenteval.answers.columns import as_number
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.figure import Figure
from dbagenteval.answers.labels import Labels, Mention
from dbagenteval.answers.places import MOST_ROWS, Places
from dbagenteval.answers.sentences import Sentence, sentences_of
from dbagenteval.traces import Rows

__all__ = ["misplaced"]

_GAP = re.compile(
    r"\s?(?:[^\W\d_]+\s)?(?:more|less|fewer|higher|lower|above|below|mehr|weniger|de plus"
    r"|de moins|más|menos"
    r"|in più|in meno|a mais|a menos|meer|minder)(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Number:
    """A figure that cells of labelled rows ground, and the rows of those cells."""

    figure: Figure
    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Name:
    """One or more labels that stand together, such as a region and a product, and their rows."""

    text: str
    column: str
    start: int
    rows: frozenset[int]


def misplaced(text: str, fates: Sequence[Fate], results: Sequence[Rows]) -> list[str]:
    """Find numbers that stand at one name in the answer and at another in the rows.

    Args:
        text: The answer.
        fates: What became of its figures.
        results: The rows of each execution, the last one first; names are looked for in the
            first 20,000 rows of each.

    Returns:
        One sentence for each conflict. A sentence of the answer is in conflict only if no
        natural way to read it (name before number, number before name, both lists in one
        order) agrees with the rows.
    """
    text = normal_text(text)
    found: list[str] = []
    for index, rows in enumerate(results):
        labels = Labels(rows)
        if len(rows) > 1 and labels.is_whole:
            found += _Pairing(text, fates, labels, index).conflicts()
    return list(dict.fromkeys(found))


class _Pairing:
    """Names and numbers of one result in an answer."""

    def __init__(self, text: str, fates: Sequence[Fate], labels: Labels, result: int) -> None:
        self._text = text
        self._labels = labels
        self._mentions = labels.mentions(text)
        places = Places([labels.rows[:MOST_ROWS]])
        covered = [(mention.start, mention.end) for mention in self._mentions]
        self._numbers: list[_Number] = []
        at = 0
        for fate in fates:
            while at < len(covered) and covered[at][1] <= fate.figure.start:
                at += 1
            is_name = at < len(covered) and covered[at][0] <= fate.figure.start
            if fate.state == "grounded" and fate.basis == "rows" and fate.result == result:
                rows = frozenset(
                    place.row
                    for cell in fate.cells
                    for place in places.within(*_around(fate, cell))
                )
                # "10 more than Bo" compares; it is no number of a row.
                is_gap = _GAP.match(text, fate.figure.end)
                if rows and not is_name and not is_gap:
                    self._numbers.append(_Number(fate.figure, rows))
            elif fate.rows and not is_name:
                rows = frozenset(row for of, row in fate.rows if of == result)
                if rows:
                    self._numbers.append(_Number(fate.figure, rows))

    def conflicts(self) -> list[str]:
        """Go through the sentences; a name in a heading goes for the items below it."""
        if not self._mentions or not self._numbers:
            return []
        found: list[str] = []
        heading: list[_Name] = []
        header: Sentence | None = None
        m = n = 0
        for sentence in sentences_of(self._text):
            names, m = self._names_until(m, sentence.end)
            numbers, n = self._numbers_until(n, sentence.end)
            if not sentence.is_table_row:
                header = None
            elif header is None:
                header, heading = sentence, names
                continue
            if names and numbers:
                found += _check(names, numbers, self)
            elif numbers and header is not None and heading:
                found += self._check_pivot(header, heading, sentence, numbers)
            elif numbers and sentence.is_item and len(heading) == 1:
                found += _check(heading, numbers, self)
            if names and not numbers:
                heading = names
            elif not sentence.is_item and not sentence.is_table_row:
                heading = []
        return found

    def _names_until(self, at: int, end: int) -> tuple[list[_Name], int]:
        start = at
        while at < len(self._mentions) and self._mentions[at].start < end:
            at += 1
        return _names(self._mentions[start:at], self._text), at

    def _numbers_until(self, at: int, end: int) -> tuple[list[_Number], int]:
        start = at
        while at < len(self._numbers) and self._numbers[at].figure.start < end:
            at += 1
        return self._numbers[start:at], at

    def _check_pivot(
        self, header: Sentence, names: list[_Name], row: Sentence, numbers: list[_Number]
    ) -> list[str]:
        """Check a table whose columns are headed by names."""
        by_column = {header.text[: name.start - header.start].count("|"): name for name in names}
        found = []
        for number in numbers:
            column = row.text[: number.figure.start - row.start].count("|")
            name = by_column.get(column)
            if name and not name.rows & number.rows:
                found.append(self.told(name, number))
        return found

    def told(self, name: _Name, number: _Number) -> str:
        """Say that a number stands at the wrong name."""
        others = self._labels.labels_at(min(number.rows))
        of = f"at {others[0]!r}" if others else "in another row"
        return f"{number.figure.shown} stands at {name.text!r}, and the rows have it {of}"

    def has_numbers(self, name: _Name) -> bool:
        """Tell whether the rows of a name have a number at all."""
        return any(
            as_number(cell) is not None
            for row in list(name.rows)[:50]
            for cell in self._labels.rows[row].values()
        )


def _around(fate: Fate, cell: object) -> tuple[Decimal, Decimal]:
    """Give the span of sizes that the figure prints; a share's cell is taken as it is."""
    size = as_number(cell)
    exact = Decimal(repr(size)) if isinstance(size, float) else Decimal(size or 0)
    for numbers in fate.figure.readings:
        for reading in numbers:
            low, high = reading.span()
            if low <= exact <= high:
                return low, high
    return exact, exact


def _names(mentions: Sequence[Mention], text: str) -> list[_Name]:
    """Join labels of different columns that stand together and share a row."""
    found: list[_Name] = []
    end = -1
    for mention in mentions:
        name = _Name(mention.label, mention.column, mention.start, mention.rows)
        if found and mention.start < end:  # one text in two columns
            found[-1] = _Name(name.text, name.column, name.start, found[-1].rows | name.rows)
            continue
        together = found and found[-1].column != name.column and found[-1].rows & name.rows
        if together and not any(sign.isdigit() for sign in text[end : mention.start]):
            both = f"{found[-1].text} {name.text}"
            found[-1] = _Name(both, name.column, found[-1].start, found[-1].rows & name.rows)
        else:
            found.append(name)
        end = mention.end
    return found


def _check(names: list[_Name], numbers: list[_Number], pairing: _Pairing) -> list[str]:
    names = [name for name in names if pairing.has_numbers(name)]
    if not names:
        return []
    best: list[tuple[_Name, _Number]] | None = None
    for pairs in _ways(names, numbers):
        wrong = [(name, number) for name, number in pairs if not name.rows & number.rows]
        if not wrong:
            return []
        if best is None or len(wrong) < len(best):
            best = wrong
    return [pairing.told(name, number) for name, number in best or ()]


def _ways(names: list[_Name], numbers: list[_Number]) -> list[list[tuple[_Name, _Number]]]:
    """Give the natural ways to tie the numbers of a sentence to its names."""
    first_name, last_name = names[0].start, names[-1].start
    first_number, last_number = numbers[0].figure.start, numbers[-1].figure.start
    starts = [name.start for name in names]
    after_name = [
        (names[bisect_left(starts, number.figure.start) - 1], number)
        for number in numbers
        if number.figure.start > first_name
    ]
    before_name = [
        (names[bisect_left(starts, number.figure.start)], number)
        for number in numbers
        if number.figure.start < last_name
    ]
    ways = []
    is_apart = last_name < first_number or last_number < first_name
    if is_apart and len(names) > 1:
        # "Ann and Bo sold 30 and 20": one for each, or the figures of one name of several.
        if len(names) == len(numbers):
            return [list(zip(names, numbers, strict=True))]
        return []
    if first_name < first_number:
        ways.append(after_name)
    if first_number < first_name:
        ways.append(before_name)
        if last_name < last_number:
            ways.append(after_name)
    return ways
