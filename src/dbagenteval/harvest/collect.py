"""Which of the scored traces may become cases, and which show how it is done right."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from dbagenteval.harvest.candidates import Failure, candidate_of, failure_of
from dbagenteval.harvest.groups import Groups
from dbagenteval.harvest.proposal import PassedTraces
from dbagenteval.scorecard import FAIL, Scorecard
from dbagenteval.suite.match import Match
from dbagenteval.traces import Trace

__all__ = ["Collected", "Selection", "Verdict", "collect"]

_OPEN_SESSIONS = 10_000
_QUESTIONS_BEFORE = 5


class Verdict(Protocol):
    """What an earlier scoring said of a trace."""

    @property
    def verdict(self) -> str:
        """`PASS`, `FAIL`, `SKIP` or `ERROR`."""

    @property
    def case_id(self) -> str:
        """The case that it was scored against, empty if there was none."""

    @property
    def failure(self) -> Failure | None:
        """What it failed by."""


Kept = Callable[[str], "Verdict | None"]
"""Gives the newest verdict that was kept of a trace id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is harvested; without any of them all that failed or matched no case.

    Args:
        failed: Only what failed.
        unmatched: Only what matched no case.
        rule: Only what broke this rule.
        trace: Only this trace, whatever became of it; its id or how it starts.
    """

    failed: bool = False
    unmatched: bool = False
    rule: str | None = None
    trace: str | None = None

    def takes(
        self, trace: Trace, card: Scorecard, failure: Failure | None, *, matched: bool
    ) -> bool:
        """Say whether a trace is asked for."""
        if self.trace is not None:
            return any(name.startswith(self.trace) for name in trace.meta.get("trace_ids") or ())
        if self.rule is not None:
            broken = {result.check for result in card.results if result.status == FAIL}
            return self.rule in broken or (failure is not None and failure.check == self.rule)
        if self.failed or self.unmatched:
            return (self.failed and failure is not None) or (self.unmatched and not matched)
        return failure is not None or not matched


@dataclass(slots=True)
class Collected:
    """What the traces of a store give.

    Args:
        groups: Near-duplicates of what was asked for and no case asks.
        passed: Traces that passed.
        covered: How many traces that were asked for have a case, by its key.
        traces: How many traces there are.
        selected: How many of them were asked for.
        unreadable: How many have no question.
    """

    groups: Groups = field(default_factory=Groups)
    passed: PassedTraces = field(default_factory=PassedTraces)
    covered: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    selected: int = 0
    unreadable: int = 0


def collect(
    scored: Iterable[tuple[Match, Scorecard]], selection: Selection, kept: Kept
) -> Collected:
    """Go through scored traces once, in order of time.

    Args:
        scored: Traces with the case that asks the same, if there is one, and their cards.
        selection: What is asked for.
        kept: Verdicts of earlier scorings: their cases know more than the rules alone.
    """
    collected = Collected()
    sessions = _Sessions()
    for match, card in scored:
        trace = match.trace
        collected.traces += 1
        before = sessions.before(trace)
        if not trace.question.strip():
            collected.unreadable += 1
            continue
        known = _known(trace, kept) if match.case is None else None
        failure = failure_of(trace, card)
        if failure is None and known is not None:
            failure = known.failure
        verdict = card.verdict if known is None or match.case is not None else known.verdict
        matched = match.case is not None or (known is not None and bool(known.case_id))
        if failure is None and matched and verdict == "PASS":
            collected.passed.add(candidate_of(trace, None))
        if not selection.takes(trace, card, failure, matched=matched):
            continue
        collected.selected += 1
        if match.case is not None:
            collected.covered[match.case.key] += 1
        else:
            collected.groups.add(candidate_of(trace, failure, before))
    return collected


def _known(trace: Trace, kept: Kept) -> Verdict | None:
    verdicts = (kept(trace_id) for trace_id in trace.meta.get("trace_ids") or ())
    return next((verdict for verdict in verdicts if verdict is not None), None)


class _Sessions:
    """The last questions of the sessions that are open."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, deque[str]] = OrderedDict()

    def before(self, trace: Trace) -> tuple[str, ...]:
        """Give what was asked before in the session of a trace, and remember its question."""
        session = str(trace.meta.get("session_id") or "")
        if not session:
            return ()
        asked = self._asked.setdefault(session, deque(maxlen=_QUESTIONS_BEFORE))
        self._asked.move_to_end(session)
        if len(self._asked) > _OPEN_SESSIONS:
            self._asked.popitem(last=False)
        before = tuple(question for question in asked if question != trace.question)
        asked.append(trace.question)
        return before
