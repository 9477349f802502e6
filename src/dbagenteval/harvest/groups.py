"""Near-duplicates: the same question asked again, or put in other words to the same SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbagenteval.harvest.candidates import Candidate

__all__ = ["Group", "Groups", "are_alike"]

_FAILED_ALIKE = 0.6
"""What failed by SQL of one structure is most likely one mistake; the words of a template, without
what fills it, are not enough."""

_ALIKE = 0.8
_COMPARED_AT_MOST = 200
"""Groups of one structure that a question is compared with; an agent that writes the same SQL to
thousands of questions must not make the work quadratic."""


@dataclass(slots=True)
class Group:
    """Candidates that become one case.

    Args:
        first: The earliest of them, which stands for all.
        count: How many there are.
    """

    first: Candidate
    count: int = 0


class Groups:
    """Takes candidates one by one, in order of time; keeps one of each group.

    Grouped is what asks the same question, and what led to SQL of the same structure with a
    question of mostly the same words. SQL alone makes no group: an agent may answer many
    questions with one wrong query.
    """

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._by_question: dict[str, Group] = {}
        self._by_structure: dict[str, list[Group]] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups)

    def add(self, candidate: Candidate) -> None:
        """Count a candidate to its group, or let it begin one."""
        group = self._by_question.get(candidate.key) or self._alike(candidate)
        if group is None:
            group = Group(candidate)
            self._groups.append(group)
            self._by_structure.setdefault(candidate.structure, []).append(group)
        self._by_question.setdefault(candidate.key, group)
        group.count += 1

    def _alike(self, candidate: Candidate) -> Group | None:
        known = self._by_structure.get(candidate.structure, ())[:_COMPARED_AT_MOST]
        for group in known:
            both_failed = None not in (candidate.failure, group.first.failure)
            least = _FAILED_ALIKE if both_failed and candidate.structure else _ALIKE
            if _likeness(candidate.words, group.first.words) >= least:
                return group
        return None


def are_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Say by their words whether two questions ask the same, but for numbers and a word or two."""
    return _likeness(words, others) >= _ALIKE


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words | others) if words and others else 0.0
