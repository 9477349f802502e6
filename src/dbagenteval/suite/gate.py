"""Does a scoring of stored traces pass? Nothing that was left out passes in silence."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbagenteval.checks.evidence import NOT_OBSERVED
from dbagenteval.scorecard import SKIP, Scorecard
from dbagenteval.tally import Tally

__all__ = ["Gate", "Score"]

_NAMED_AT_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a scoring may leave out and still pass.

    Args:
        allow_unmatched: Traces that match no case are fine.
        allow_missing: Cases without a trace are fine.
        allow_skipped: Checks without evidence (rows not captured, cut, masked) are fine.
        allow_drafts: Cases that nobody has accepted yet are fine.
    """

    allow_unmatched: bool = False
    allow_missing: bool = False
    allow_skipped: bool = False
    allow_drafts: bool = False


@dataclass(slots=True)
class Score:
    """The counts of a scoring; its size doesn't grow with the number of traces.

    Args:
        cards: Verdicts of the matched traces.
        unmatched: Verdicts by rules alone of the traces that match no case.
        missing: Keys of the cases without a trace, in file order; drafts are not among them.
        drafts: Keys of the cases that nobody has accepted yet, in file order.
        unobserved: How many checks were skipped for want of evidence, by check name; and the
            statements that no rule saw.
        waivable: How many matched traces would pass but for such a check.
    """

    cards: Tally = field(default_factory=Tally)
    unmatched: Tally = field(default_factory=Tally)
    missing: list[str] = field(default_factory=list)
    drafts: list[str] = field(default_factory=list)
    unobserved: dict[str, int] = field(default_factory=dict)
    waivable: int = 0

    def add(self, card: Scorecard, *, matched: bool) -> None:
        """Count one card."""
        (self.cards if matched else self.unmatched).add(card)
        if matched and card.passes_if_waived and _all_unobserved(card):
            self.waivable += 1
        for result in card.results:
            if result.status == SKIP and result.reason == NOT_OBSERVED:
                self.unobserved[result.check] = self.unobserved.get(result.check, 0) + 1
        for note in card.meta.get("not_observed") or ():
            if note.get("what") == "statement":
                # No rule saw it, so a green rule says nothing of it.
                self._count_statement(str(note.get("why")))

    def _count_statement(self, why: str) -> None:
        if why not in self.unobserved and len(self.unobserved) >= _NAMED_AT_MOST:
            why = "more statements belong to no stage"
        self.unobserved[why] = self.unobserved.get(why, 0) + 1

    def problems(self, gate: Gate) -> list[str]:
        """Say why the gate is not green, one short phrase each; empty if it is."""
        found = []
        total, passed = self.cards.total - self.cards.drafts, self.cards.passed
        if gate.allow_skipped:
            passed += self.waivable
        if passed < total:
            found.append(f"{total - passed} of {total} scored trace(s) did not pass")
        if self.unmatched.failed or self.unmatched.errors:
            broken = self.unmatched.failed + self.unmatched.errors
            found.append(f"{broken} unmatched trace(s) broke a rule")
        if self.unmatched.total and not gate.allow_unmatched:
            found.append(f"{self.unmatched.total} trace(s) matched no case")
        if self.missing and not gate.allow_missing:
            found.append(f"{len(self.missing)} case(s) have no trace")
        if self.drafts and not gate.allow_drafts:
            found.append(f"{len(self.drafts)} case(s) are drafts")
        if self.unobserved and not gate.allow_skipped:
            found.append(f"{sum(self.unobserved.values())} check(s) had no evidence")
        if not total and self.unmatched.skipped == self.unmatched.total:
            found.append(
                "no trace was scored" + " by a case or a rule" * bool(self.unmatched.total)
            )
        return found


def _all_unobserved(card: Scorecard) -> bool:
    return all(result.reason == NOT_OBSERVED for result in card.unchecked)
