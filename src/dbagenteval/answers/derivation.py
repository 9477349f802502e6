"""Whether a figure that no cell holds is computed from cells: `30 = 60 - 30`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from dbagenteval.answers.columns import exact
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.directions import statistic_near
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.figure import EXACT, Figure, Reading
from dbagenteval.answers.formulas import (
    Candidate,
    Operand,
    columns_of,
    from_column,
    from_pairs,
    from_stated,
)
from dbagenteval.answers.hints import hints_in
from dbagenteval.answers.labels import Labels
from dbagenteval.answers.measures import Measures
from dbagenteval.answers.opposed import Claims
from dbagenteval.answers.options import OPERATIONS
from dbagenteval.answers.places import Place, Places
from dbagenteval.answers.sentences import Sentence, Sentences
from dbagenteval.traces import Rows

__all__ = ["Derivations", "with_derived"]

_HINT_OF = {"change": "difference"}
_STATISTICS = ("sum", "average", "median")
_FEW_NUMBERS = 4
_MOST_OPERANDS = 8
_MOST_FIGURES = 100
_MOST_NEAR = 100  # figures before and after one that may be its operands
_REACH = 400  # characters of a sentence that are looked at on each side
_MOST_ACCIDENTAL = 0.05
_MOST_HINTED = 0.5
_HUNDRED = Decimal(100)


class Derivations:
    """Computes what an answer may have computed, from the cells it names.

    Args:
        results: The rows of each execution, the last one first.
        text: The answer.
        operations: Which of `OPERATIONS` are accepted.

    A computation is taken only if its operands stand in the answer, belong to rows that it
    names, are a whole column, or are the only two or three numbers there are; and only if the
    words around the figure speak of it, or if so precise a hit is unlikely by accident.
    """

    def __init__(
        self, results: Sequence[Rows], text: str, operations: Collection[str] = OPERATIONS
    ) -> None:
        self._text = normal_text(text)
        self._sentences = Sentences(self._text)
        self._operations = operations
        self._columns = columns_of(results)
        self._results = results
        self._labels = [Labels(rows) for rows in results]
        self._places = Places(results)
        self._claims: tuple[int, list[Claims]] = (-1, [])
        measures = [Measures(rows) for rows in results]
        self._tables = list(zip(self._labels, measures, strict=True))

    def explain(self, figure: Figure, fates: Sequence[Fate]) -> Candidate | None:
        """Give the computation that a figure rests on, such as `5 / 47`; None if none is found.

        Args:
            figure: A figure that no cell grounds.
            fates: What became of the figures of the same answer.
        """
        sentence = self._sentences.at(figure.start)
        if sentence is None:
            return None
        start = max(sentence.start, figure.start - _REACH)
        near = self._text[start : min(sentence.end, figure.end + _REACH)]
        hints = hints_in(near)
        if "=" in self._text[max(0, figure.start - 5) : figure.start]:
            hints |= set(OPERATIONS)
        if figure.sign:
            hints |= {"difference"}
        operands = self._operands(figure, fates, sentence, near)
        candidates = [
            one
            for one in self._candidates(operands, fates, near)
            if one.operation in self._operations
        ]
        candidates = self._unopposed(candidates, sentence, figure)
        for numbers in figure.readings:
            if len(numbers) == 1:
                found = _best_hit(numbers[0], candidates, hints)
                if found is not None:
                    return found
        return None

    def _unopposed(
        self, candidates: list[Candidate], sentence: Sentence, figure: Figure
    ) -> list[Candidate]:
        """Leave out what names, direction or statistic word of the sentence contradict."""
        at = figure.start - sentence.start
        after = sentence.text[at + figure.end - figure.start :][:_REACH]
        statistic = statistic_near(sentence.text[max(0, at - _REACH) : at], after)
        claims = self._claims_in(sentence)
        return [
            one
            for one in candidates
            if not (statistic and one.operation in _STATISTICS and one.operation != statistic)
            and all(claim.allows(one) for claim in claims)
        ]

    def _claims_in(self, sentence: Sentence) -> list[Claims]:
        """Give what each result knows of a sentence; the figures of one sentence come together."""
        if self._claims[0] != sentence.start:
            found = [
                Claims(labels, sentence, measures, result)
                for result, (labels, measures) in enumerate(self._tables)
            ]
            self._claims = (sentence.start, found)
        return self._claims[1]

    def _candidates(
        self, operands: list[Operand], fates: Sequence[Fate], near: str
    ) -> Iterator[Candidate]:
        for column in self._columns:
            yield from from_column(column, operands)
        yield from from_pairs(operands)
        yield from from_stated(operands)
        for fate in fates:
            first = fate.figure.readings[0][0] if fate.figure.readings else None
            if first and first.percent and fate.state in ("grounded", "derived"):
                rest = EXACT.divide(EXACT.subtract(_HUNDRED, first.value), _HUNDRED)
                formula = f"100% - {fate.figure.shown}"
                yield Candidate(rest, "difference", formula, is_share=True, is_plain=True)
        yield from self._counts(near)

    def _operands(
        self, figure: Figure, fates: Sequence[Fate], sentence: Sentence, near: str
    ) -> list[Operand]:
        """Collect the numbers that the answer states or names, those of the sentence first."""
        inside: dict[Decimal, Operand] = {}
        outside: dict[Decimal, Operand] = {}
        for fate in fates:
            if fate.state != "grounded" or fate.figure is figure:
                continue
            is_near = sentence.start <= fate.figure.start < sentence.end
            found = inside if is_near else outside
            found.update({operand.value: operand for operand in self._stated(fate)})
        for operand in self._named(near):
            inside.setdefault(operand.value, operand)
        if len(inside) < 2 or len({**outside, **inside}) <= 4:
            inside = {**inside, **{v: o for v, o in outside.items() if v not in inside}}
        if sum(len(column.values) for column in self._columns) <= _FEW_NUMBERS:
            for column in self._columns:
                for row, value in column.by_row.items():
                    place = Place(column.result, row, column.name)
                    inside.setdefault(value, Operand(value, (place,), is_spare=True))
        return list(inside.values())[:_MOST_OPERANDS]

    def _named(self, near: str) -> Iterator[Operand]:
        for result, labels in enumerate(self._labels):
            for row in labels.rows_named_in(near):
                for column in self._columns:
                    value = column.by_row.get(row) if column.result == result else None
                    if value is not None:
                        yield Operand(value, (Place(result, row, column.name),))

    def _stated(self, fate: Fate) -> list[Operand]:
        if fate.basis == "row_count" and fate.figure.readings:
            return [Operand(fate.figure.readings[0][0].value)]
        return [Operand(exact(cell), tuple(self._places.of(cell)[:50])) for cell in fate.cells]

    def _counts(self, near: str) -> Iterator[Candidate]:
        for rows, labels in zip(self._results, self._labels, strict=True):
            for name, distinct in labels.distinct_counts().items():
                if 1 < distinct < len(rows):
                    formula = f"{distinct} distinct values of {name}"
                    yield Candidate(Decimal(distinct), "count", formula)
            for label, count in labels.counts_named_in(near):
                formula = f"{count} rows with {label!r}"
                yield Candidate(Decimal(count), "count", formula, is_plain=True)


def with_derived(
    fates: list[Fate], results: Sequence[Rows], text: str, operations: Collection[str]
) -> list[Fate]:
    """Turn figures that can be computed from the rows to derived; 100 of them at most."""
    open_at = [index for index, fate in enumerate(fates) if _is_open(fate)][:_MOST_FIGURES]
    if not open_at:
        return fates
    derivations = Derivations(results, text, operations)
    found = list(fates)
    for _ in range(2):  # "95% were kept, since 5% were returned": the first rests on the second
        for index in open_at:
            fate = found[index]
            if fate.state == "derived":
                continue
            near = found[max(0, index - _MOST_NEAR) : index + _MOST_NEAR]
            made = derivations.explain(fate.figure, near)
            if made:
                note = f"{fate.figure.shown} = {made.formula}"
                is_part = made.operation == "share" and len(made.subjects) == 1
                found[index] = replace(
                    fate,
                    state="derived",
                    basis=made.formula,
                    missing=(),
                    note=note,
                    rows=made.subjects[0] if is_part else frozenset(),
                )
    return found


def _is_open(fate: Fate) -> bool:
    """Tell figures that a computation could explain: ungrounded ones, and those of weak ground."""
    if fate.figure.kind == "fraction":
        return True
    is_weak = fate.state == "grounded" and fate.basis in ("text", "dates")
    return is_weak or (fate.state == "ungrounded" and fate.figure.kind == "quantity")


def _best_hit(
    reading: Reading, candidates: list[Candidate], hints: frozenset[str]
) -> Candidate | None:
    """Take a hit that the words speak of, or one that is no accident."""
    rivals = [one for one in candidates if _is_rival(one, reading)]
    low, high = reading.span()
    factor = _HUNDRED if reading.percent else Decimal(1)
    hits = [
        one
        for one in rivals
        if low <= abs(EXACT.multiply(one.value, factor) if one.is_share else one.value) <= high
        # A small whole number is about the ratio of some cells too often.
        and (one.operation != "ratio" or "ratio" in hints or one.value == abs(reading.value))
    ]
    if not hits:
        return None
    hinted = [
        one for one in hits if one.is_plain or _HINT_OF.get(one.operation, one.operation) in hints
    ]
    counted = [one for one in hinted if one.is_plain or one.operation == "count"]
    if counted:
        return counted[0]
    accidents = _width(reading, rivals) * len({one.value for one in rivals})
    if hinted and accidents < _MOST_HINTED:
        return hinted[0]
    return hits[0] if accidents < _MOST_ACCIDENTAL else None


def _is_rival(one: Candidate, reading: Reading) -> bool:
    """Tell whether a candidate is of the kind that the figure prints: a share or a quantity."""
    if reading.percent:
        return one.is_share
    return not one.is_share or (one.operation == "share" and abs(reading.value) <= 1)


def _width(reading: Reading, rivals: list[Candidate]) -> float:
    """Give the part of the range of possible values that the figure covers."""
    sizes = [abs(one.value) for one in rivals]
    largest = _HUNDRED if reading.percent else max((*sizes, abs(reading.value), Decimal(1)))
    if not reading.percent and abs(reading.value) <= 1:
        largest = Decimal(1)
    return float(EXACT.divide(EXACT.multiply(reading.half, 2), largest))
