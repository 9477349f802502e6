"""What earlier scorings said of the traces of a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dbagenteval.harvest.candidates import Failure
from dbagenteval.scorecard import FAIL
from dbagenteval.traces import Trace

__all__ = ["KeptVerdict", "KeptVerdicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVerdict:
    """The newest verdict that was kept of one question.

    Args:
        verdict: `PASS`, `FAIL`, `SKIP` or `ERROR`.
        has_case: It was scored against a case, not by rules alone.
        failure: What it failed by, None if it did not.
        broken: All checks that failed.
    """

    verdict: str
    has_case: bool
    failure: Failure | None = None
    broken: frozenset[str] = frozenset()


class KeptVerdicts:
    """Verdicts by trace and time of the question; small also for a million of them.

    Args:
        cards: As `store.scorecards.kept_cards` gives them.
    """

    def __init__(self, cards: Iterable[Mapping[str, Any]]) -> None:
        self._known: dict[tuple[str, int], KeptVerdict] = {}
        without_failure: dict[tuple[str, bool], KeptVerdict] = {}
        for card in cards:
            verdict, has_case = card["verdict"], bool(card.get("case_id"))
            turn = (card.get("trace_id", ""), card.get("start_ns", 0))
            if verdict == "FAIL":
                self._known[turn] = _failed(card, has_case=has_case)
            else:
                plain = KeptVerdict(verdict=verdict, has_case=has_case)
                self._known[turn] = without_failure.setdefault((verdict, has_case), plain)

    def of(self, trace: Trace) -> KeptVerdict | None:
        """Give the verdict of a trace, or None if none was kept."""
        trace_id = trace.trace_id
        return self._known.get((trace_id, trace.meta.get("start_ns") or 0))


def _failed(card: Mapping[str, Any], *, has_case: bool) -> KeptVerdict:
    failed = [result for result in card.get("results") or () if result.get("status") == FAIL]
    check = card.get("check", "")
    first: Mapping[str, Any] = next(
        (result for result in failed if result.get("check") == check), {}
    )
    failure = Failure(
        stage=card.get("stage", ""),
        check=check,
        reason=first.get("reason") or "",
        detail=first.get("detail") or "",
    )
    broken = frozenset(str(result.get("check")) for result in failed)
    return KeptVerdict(verdict="FAIL", has_case=has_case, failure=failure, broken=broken)
