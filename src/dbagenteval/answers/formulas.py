"""The computations that an answer may have made: candidates for a derived figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations

from dbagenteval.answers.columns import as_number, exact
from dbagenteval.answers.figure import EXACT
from dbagenteval.answers.options import OPERATIONS
from dbagenteval.answers.places import Place
from dbagenteval.traces import Rows

__all__ = [
    "Candidate",
    "Column",
    "Operand",
    "columns_of",
    "from_column",
    "from_pairs",
    "from_stated",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One computed value.

    Args:
        value: The value; a share as a ratio, so that 0.106 is 10.6 percent.
        operation: One of `OPERATIONS`.
        formula: How it comes about, for a person.
        is_share: True if it is printed as a percentage or a ratio.
        is_plain: True if its operands say enough, so that no word need speak of it.
        subjects: For each operand the cells' results and rows, as far as they are known.
        course: Of a change or difference, the number before and that after; None if unknown.
    """

    value: Decimal
    operation: str
    formula: str
    is_share: bool = False
    is_plain: bool = False
    subjects: tuple[frozenset[tuple[int, int]], ...] = ()
    course: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """A number that the answer states or names, and the cells that hold it.

    Args:
        value: The number.
        places: The cells.
        is_spare: True if it is taken only because there are so few numbers.
    """

    value: Decimal
    places: tuple[Place, ...] = ()
    is_spare: bool = False

    @property
    def rows(self) -> frozenset[tuple[int, int]]:
        """The result and row of each cell that holds it."""
        return frozenset((place.result, place.row) for place in self.places)

    def goes_with(self, other: Operand) -> bool:
        """Tell whether a computation of both makes sense: one column, one row, or two queries."""
        if not self.places or not other.places:
            return True
        columns = {(place.result, place.column) for place in self.places}
        rows = {(place.result, place.row) for place in self.places}
        return any(
            (place.result, place.column) in columns
            or (place.result, place.row) in rows
            or all(place.result != mine.result for mine in self.places)
            for place in other.places
        )


@dataclass(frozen=True)
class Column:
    """The numbers of a column of one result, by row."""

    name: str
    result: int
    by_row: dict[int, Decimal]

    @cached_property
    def values(self) -> list[Decimal]:
        """The numbers in row order; rows without one left out."""
        return list(self.by_row.values())

    @cached_property
    def total(self) -> Decimal:
        """Their sum."""
        return sum(self.values, Decimal())

    @cached_property
    def distinct(self) -> frozenset[Decimal]:
        """Their distinct values."""
        return frozenset(self.values)

    @cached_property
    def aggregates(self) -> list[Candidate]:
        """What is computed from the whole column."""
        if len(self.values) < 2:
            return []
        mean = EXACT.divide(self.total, len(self.values))
        found = [
            Candidate(self.total, "sum", f"{_listed(self.values, ' + ')} (all of {self.name})"),
            Candidate(mean, "average", f"average of {self.name}"),
            Candidate(_median(self.values), "median", f"median of {self.name}"),
        ]
        ends = {(self.values[0], self.values[-1]), (min(self.values), max(self.values))}
        for one, two in sorted(ends):
            found += from_pair(one, two, ("difference", "change"))
        return found


def columns_of(results: Sequence[Rows]) -> list[Column]:
    """Give the numeric columns of all results."""
    found: dict[tuple[int, str], dict[int, Decimal]] = {}
    for result, rows in enumerate(results):
        for index, row in enumerate(rows):
            for name, cell in row.items():
                number = as_number(cell)
                if number is not None:
                    found.setdefault((result, name), {})[index] = exact(number)
    return [Column(name, result, by_row) for (result, name), by_row in found.items()]


def from_pairs(operands: Sequence[Operand]) -> Iterator[Candidate]:
    """Compute sums, differences, shares, ratios, averages and changes of two operands."""
    for one, two in combinations(operands, 2):
        if one.goes_with(two):
            subjects = (one.rows, two.rows)
            for candidate in from_pair(one.value, two.value, OPERATIONS):
                yield replace(candidate, subjects=subjects)


def from_pair(one: Decimal, two: Decimal, operations: Sequence[str]) -> list[Candidate]:
    """Compute two numbers with each other."""
    large, small = max(one, two), min(one, two)
    gap = EXACT.subtract(large, small)
    found = [Candidate(gap, "difference", f"{_show(large)} - {_show(small)}", course=(one, two))]
    found += [_sum([one, two]), _average([one, two])]
    for top, bottom in ((one, two), (two, one)):
        if not bottom:
            continue
        quotient = EXACT.divide(top, bottom)
        formula = f"{_show(top)} / {_show(bottom)}"
        change = EXACT.divide(EXACT.subtract(top, bottom), abs(bottom))
        found += [
            Candidate(quotient, "share", formula, is_share=True),
            Candidate(quotient, "ratio", formula),
            Candidate(
                change,
                "change",
                f"({_show(top)} - {_show(bottom)}) / {_show(bottom)}",
                is_share=True,
                course=(bottom, top),
            ),
        ]
    return [one for one in found if one.operation in operations]


def from_stated(operands: Sequence[Operand]) -> list[Candidate]:
    """Compute the sum and the average of three or more operands of one column."""
    by_column: dict[tuple[int, str], list[Decimal]] = {}
    for operand in operands:
        for key in {(place.result, place.column) for place in operand.places}:
            by_column.setdefault(key, []).append(operand.value)
    several = [values for values in by_column.values() if len(values) > 2]
    return [make(values) for values in several for make in (_sum, _average)]


def from_column(column: Column, operands: Sequence[Operand]) -> list[Candidate]:
    """Compute a column's aggregates, and the shares that operands have in its sum."""
    found = list(column.aggregates)
    parts = [operand for operand in operands if operand.value in column.distinct]
    if not found or not column.total:
        return found
    wholes: list[tuple[Decimal, tuple[frozenset[tuple[int, int]], ...]]]
    wholes = [(part.value, (part.rows,)) for part in parts]
    parts = [part for part in parts if not part.is_spare]
    if 1 < len(parts) < len(column.distinct):
        together = sum((part.value for part in parts), Decimal())
        wholes.append((together, tuple(part.rows for part in parts)))
    for value, subjects in wholes:
        formula = f"{_show(value)} / {_show(column.total)} (all of {column.name})"
        share = EXACT.divide(value, column.total)
        found.append(Candidate(share, "share", formula, is_share=True, subjects=subjects))
    return found


def _sum(values: Sequence[Decimal]) -> Candidate:
    return Candidate(sum(values, Decimal()), "sum", _listed(values, " + "))


def _average(values: Sequence[Decimal]) -> Candidate:
    mean = EXACT.divide(sum(values, Decimal()), len(values))
    return Candidate(mean, "average", f"average of {_listed(values, ', ')}")


def _median(values: Sequence[Decimal]) -> Decimal:
    ordered, middle = sorted(values), len(values) // 2
    if len(values) % 2:
        return ordered[middle]
    return EXACT.divide(EXACT.add(ordered[middle - 1], ordered[middle]), 2)


def _show(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _listed(values: Sequence[Decimal], between: str) -> str:
    shown = [_show(value) for value in values[:4]]
    return between.join(shown) + (f"{between}…" if len(values) > 4 else "")
