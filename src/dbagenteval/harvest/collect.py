"""Which of the scored traces may become cases, and which show how it is done right."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from dbagenteval.harvest.candidates import Failure, candidate_of, failure_of
from dbagenteval.harvest.groups import Groups
from dbagenteval.harvest.kept import KeptVerdicts
from dbagenteval.harvest.proposal import PassedTraces
from dbagenteval.scorecard import FAIL, Scorecard
from dbagenteval.suite.match import Match
from dbagenteval.traces import Trace

__all__ = ["Collected", "Selection", "collect"]

_OPEN_SESSIONS = 10_000
_QUESTIONS_BEFORE = 5


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
        self, trace: Trace, failure: Failure | None, broken: Collection[str], *, matched: bool
    ) -> bool:
        """Say whether a trace is asked for.

        Args:
            trace: The trace.
            failure: What it failed by.
            broken: All checks that it failed.
            matched: It has a case.
        """
        if self.trace is not None:
            start = self.trace.lower()
            return any(name.startswith(start) for name in trace.meta.get("trace_ids") or ())
        if self.rule is not None:
            return self.rule in broken
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
        without_question: How many have no question, most often for want of captured content.
    """

    groups: Groups = field(default_factory=Groups)
    passed: PassedTraces = field(default_factory=PassedTraces)
    covered: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    selected: int = 0
    without_question: int = 0


def collect(
    scored: Iterable[tuple[Match, Scorecard]], selection: Selection, kept: KeptVerdicts
) -> Collected:
    """Go through scored traces once, in order of time.

    Args:
        scored: Traces with the case that asks the same, if there is one, and their cards.
        selection: What is asked for.
        kept: Verdicts of earlier scorings, whose cases know more than rules alone.
    """
    collected = Collected()
    sessions = _Sessions()
    for match, card in scored:
        trace = match.trace
        collected.traces += 1
        before = sessions.before(trace)
        if not trace.question.strip():
            collected.without_question += 1
            continue
        known = kept.of(trace) if match.case is None else None
        failure = failure_of(trace, card)
        broken = {result.check for result in card.results if result.status == FAIL}
        if known is not None:
            failure, broken = known.failure or failure, broken | known.broken
        matched = match.case is not None or (known is not None and known.has_case)
        verdict = card.verdict if known is None else known.verdict
        if failure is None and matched and verdict == "PASS":
            collected.passed.add(candidate_of(trace, None))
        if not selection.takes(trace, failure, broken, matched=matched):
            continue
        collected.selected += 1
        if match.case is not None:
            collected.covered[match.case.key] += 1
        else:
            collected.groups.add(candidate_of(trace, failure, before))
    return collected


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
