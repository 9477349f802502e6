"""Whether a computation goes with what its sentence says: of whom, and which way it goes."""

from __future__ import annotations

from functools import cached_property

from dbagenteval.answers.directions import direction_word, relation_in
from dbagenteval.answers.formulas import Candidate
from dbagenteval.answers.labels import Labels
from dbagenteval.answers.measures import Measures
from dbagenteval.answers.sentences import Sentence

__all__ = ["Claims"]


class Claims:
    """The names and the direction of a sentence, as far as one result knows them.

    Args:
        labels: The labels of the result.
        sentence: The sentence of the figure.
        measures: The measures of the result.
        result: Its index.
    """

    def __init__(self, labels: Labels, sentence: Sentence, measures: Measures, result: int) -> None:
        self._mentions = labels.mentions(sentence.text)
        self._measures = measures
        self._result = result
        self._named = {next(iter(one.rows)) for one in self._mentions if len(one.rows) == 1}
        self._relation = relation_in(sentence.text, 0, self._mentions)
        self._direction = direction_word(sentence.text)[0]

    def allows(self, candidate: Candidate) -> bool:
        """Tell whether the sentence does not contradict a computation."""
        if not self._is_of_named(candidate):
            return False
        if candidate.operation not in ("difference", "change"):
            return True
        if self._relation is not None:
            sign = self._relation.sign
            return self._holds is not False and self._goes(candidate, sign, in_time=False)
        return self._goes(candidate, self._direction, in_time=True)

    @cached_property
    def _holds(self) -> bool | None:
        return self._relation.holds(self._measures) if self._relation else None

    def _is_of_named(self, candidate: Candidate) -> bool:
        """A share of Beta is none of Alpha, nor is the gap of others that of Alpha and Beta."""
        mine = [
            {row for result, row in cells if result == self._result} for cells in candidate.subjects
        ]
        hits = [bool(rows & self._named) for rows in mine if rows]
        if not hits or not self._named:
            return True
        return any(hits) if len(self._named) == 1 else all(hits)

    def _goes(self, candidate: Candidate, sign: int, *, in_time: bool) -> bool:
        if not sign or candidate.course is None:
            return True
        before, after = candidate.course
        ways = [(before, after)]
        if candidate.operation == "difference":
            ways.append((after, before))
        ways = [(first, last) for first, last in ways if (last - first) * sign > 0]
        series = self._measures.series if in_time else []
        if before not in series or after not in series:
            return bool(ways)
        last_at = {value: index for index, value in enumerate(series)}
        return any(series.index(first) < last_at[last] for first, last in ways)
