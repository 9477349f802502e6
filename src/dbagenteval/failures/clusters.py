"""Clusters: failures that have a cause in common, and questions that no case asks."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dbagenteval.failures.outcome import Outcome
from dbagenteval.failures.questions import nearest, words_of
from dbagenteval.failures.wording import edit_words
from dbagenteval.scorecard import EXPECTATIONS

__all__ = ["WEEK", "Cluster", "Clusters"]

_DAY_NS = 86_400 * 10**9
WEEK = 7
"""Days."""
_MAX_GROUPS = 50_000
"""Groups held while outcomes come in; beyond twice that the smallest are let go."""

_MAX_EXAMPLES = 3
_MINOR = ("order", "column_order", "rounding")
"""What makes no cluster of its own where something else differs too."""

_OF_THE_CASE = EXPECTATIONS | {"no_error"}
"""Checks that an edit explains; what breaks a rule is told by the rule."""

_TELL_NOTHING = ("same", "rewritten", "unreadable")
_Failure = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
_Question = str | frozenset[str]
_Key = TypeVar("_Key")


@dataclass(slots=True)
class Cluster:
    """Outcomes that are alike.

    Args:
        stage: The stage to blame.
        check: The check that failed; empty in a cluster of questions.
        reason: Its reason code, or its detail without values.
        tables: What the SQL reads, where no edit tells which tables matter.
        edit: What all of them have between the agent's SQL and the reference.
        structure: Of the SQL of the first.
        count: Outcomes in it.
        failed: Those that failed or could not be evaluated.
        days: Outcomes for each day since 1970-01-01 (UTC); those without a time are in none.
        questions: Some of the questions asked.
        case_ids: Some of the cases.
        trace_ids: Some of the traces.
    """

    stage: str = ""
    check: str = ""
    reason: str = ""
    tables: tuple[str, ...] = ()
    edit: tuple[str, ...] = ()
    structure: str = ""
    count: int = 0
    failed: int = 0
    days: Counter[int] = field(default_factory=Counter)
    questions: list[str] = field(default_factory=list)
    case_ids: list[str] = field(default_factory=list)
    trace_ids: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What they have in common, in words."""
        if not self.check:
            return self.questions[0] if self.questions else ""
        if self.edit:
            return edit_words(self.edit)
        words = f"{self.check}: {self.reason}" if self.reason else self.check
        tables = ", ".join(self.tables)
        if not tables:
            return words
        return f"{words[:-1]}{tables}" if words.endswith(" on …") else f"{words} ({tables})"

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
        self.count += 1
        self.failed += outcome.verdict in ("FAIL", "ERROR")
        if outcome.start_ns:
            self.days[outcome.start_ns // _DAY_NS] += 1
        _keep(self.questions, [outcome.question])
        _keep(self.case_ids, [outcome.case_id])
        _keep(self.trace_ids, [outcome.trace_id])

    def take(self, other: Cluster) -> None:
        """Count another cluster's outcomes as this one's."""
        self.count += other.count
        self.failed += other.failed
        self.days.update(other.days)
        _keep(self.questions, other.questions)
        _keep(self.case_ids, other.case_ids)
        _keep(self.trace_ids, other.trace_ids)

    def in_week(self, last_day: int) -> int:
        """Count those of the 7 days that end with a day."""
        return sum(self.days[day] for day in range(last_day - WEEK + 1, last_day + 1))

    def to_dict(self) -> dict[str, Any]:
        """Give it JSON-ready, its days as ISO dates."""
        return {
            "name": self.name,
            "count": self.count,
            "failed": self.failed,
            "stage": self.stage,
            "check": self.check,
            "reason": self.reason,
            "tables": list(self.tables),
            "edit": list(self.edit),
            "structure": self.structure,
            "days": {_iso(day): count for day, count in sorted(self.days.items())},
            "questions": list(self.questions),
            "cases": list(self.case_ids),
            "traces": list(self.trace_ids),
        }


def _keep(examples: list[str], values: Iterable[str]) -> None:
    for value in values:
        if len(examples) < _MAX_EXAMPLES and value and value not in examples:
            examples.append(value)


def _iso(day: int) -> str:
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


class Clusters:
    """Groups outcomes as they come; what it holds is bounded.

    Failures are grouped by stage, check, reason, tables and edit; an edit tells which tables
    matter. Outcomes without a case are also grouped by what was asked for: by the structure of
    their SQL, then by the text of the question.
    """

    def __init__(self) -> None:
        self.total = 0
        """Outcomes added."""

        self.dropped = 0
        """Outcomes in groups that were let go because there were too many."""

        self.last_day = 0
        self.first_day = 0
        self._failures: dict[_Failure, Cluster] = {}
        self._questions: dict[_Question, Cluster] = {}

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.total += 1
        day = outcome.start_ns // _DAY_NS
        if day:
            self.last_day = max(self.last_day, day)
            self.first_day = min(self.first_day or day, day)
        if outcome.verdict in ("FAIL", "ERROR"):
            self._add_failure(outcome)
        if not outcome.case_id:
            self._add_question(outcome)

    def failures(self) -> list[Cluster]:
        """Give the clusters of failures, largest first."""
        return _by_size(self._failures.values())

    def questions(self) -> list[Cluster]:
        """Give the clusters of questions without a case: those that failed most, then by size."""
        groups = _by_size(self._questions.values())
        first = nearest(
            [words_of(group.name) for group in groups], [group.tables for group in groups]
        )
        merged: dict[int, Cluster] = {}
        for index, group in enumerate(groups):
            if first[index] == index:
                merged[index] = Cluster(structure=group.structure, tables=group.tables)
            merged[first[index]].take(group)
        return sorted(merged.values(), key=lambda each: (-each.failed, -each.count, each.name))

    def to_dict(self) -> dict[str, Any]:
        """Give all clusters JSON-ready."""
        return {
            "total": self.total,
            "dropped": self.dropped,
            "failures": [cluster.to_dict() for cluster in self.failures()],
            "questions": [cluster.to_dict() for cluster in self.questions()],
        }

    def _add_failure(self, outcome: Outcome) -> None:
        edit = _telling(outcome.edit) if outcome.check in _OF_THE_CASE else ()
        tables = () if edit else outcome.tables
        key = (outcome.stage, outcome.check, outcome.reason, tables, edit)
        cluster = self._failures.get(key)
        if cluster is None:
            self._make_room(self._failures)
            cluster = self._failures[key] = Cluster(*key, structure=outcome.structure)
        cluster.add(outcome)

    def _add_question(self, outcome: Outcome) -> None:
        key = outcome.structure or words_of(outcome.question)
        cluster = self._questions.get(key)
        if cluster is None:
            self._make_room(self._questions)
            cluster = self._questions[key] = Cluster(
                tables=outcome.tables, structure=outcome.structure
            )
        cluster.add(outcome)

    def _make_room(self, groups: dict[_Key, Cluster]) -> None:
        if len(groups) < 2 * _MAX_GROUPS:
            return
        for key in sorted(groups, key=lambda key: groups[key].count)[:-_MAX_GROUPS]:
            self.dropped += groups.pop(key).count


def _telling(edit: tuple[str, ...]) -> tuple[str, ...]:
    """Give what of an edit makes a cluster."""
    if len(edit) == 1 and edit[0] in _TELL_NOTHING:
        return ()
    return tuple(code for code in edit if code not in _MINOR) or edit


def _by_size(clusters: Iterable[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=lambda each: (-each.count, each.name))
