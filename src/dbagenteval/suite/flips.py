"""Which verdicts are others today than when the traces were scored last, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from dbagenteval.suite.history import why_changed

__all__ = ["Flip", "Flips"]

_COMPARED = ("verdict", "stage", "check", "rests_on")
_UNEXPLAINED = "nothing that we keep account of changed: a judge, a rule or the database did"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One trace whose verdict changed.

    Args:
        trace_id: The trace.
        case_id: Its case, empty without one.
        question: As asked.
        before: The kept verdict, and where it failed: `FAIL at generate / tenant_filter`.
        now: Today's.
        why: What the verdict rests on that changed.
    """

    trace_id: str
    case_id: str
    question: str
    before: str
    now: str
    why: tuple[str, ...]

    @property
    def is_lost(self) -> bool:
        """True if it passed and does not any more."""
        return self.before == "PASS"

    def to_dict(self) -> dict[str, Any]:
        """Give it JSON-ready."""
        return asdict(self)


@dataclass(slots=True)
class Flips:
    """Compares today's cards with the kept ones, and counts.

    Args:
        kept: The newest kept card of each turn.
        same: Verdicts that are the same today.
        flipped: Verdicts that changed, by how: `PASS -> FAIL`.
        new: Turns that were never scored before.
    """

    kept: dict[str, bytes] = field(default_factory=dict)
    same: int = 0
    flipped: Counter[str] = field(default_factory=Counter)
    new: int = 0
    lost: int = 0

    @classmethod
    def since(cls, cards: Iterable[dict[str, Any]]) -> Flips:
        """Start from kept cards; of each only what is compared stays in memory."""
        return cls({card["turn"]: _packed(card) for card in cards})

    def of(self, cards: Iterable[dict[str, Any]]) -> Iterator[Flip]:
        """Give the flips among today's cards; `gone` is right once all are seen."""
        for card in cards:
            packed = self.kept.pop(card["turn"], None)
            if packed is None:
                self.new += 1
                continue
            before = json.loads(packed)
            if before["verdict"] == card["verdict"]:
                self.same += 1
                continue
            flip = _flip(before, card)
            self.flipped[f"{before['verdict']} -> {card['verdict']}"] += 1
            self.lost += flip.is_lost
            yield flip

    @property
    def gone(self) -> int:
        """How many kept cards have no trace in the store any more."""
        return len(self.kept)

    def to_dict(self) -> dict[str, Any]:
        """Give the counts, JSON-ready."""
        return {
            "same": self.same,
            "flipped": dict(self.flipped),
            "lost": self.lost,
            "new": self.new,
            "gone": self.gone,
        }


def _packed(card: dict[str, Any]) -> bytes:
    return json.dumps({name: card[name] for name in _COMPARED if name in card}).encode()


def _flip(before: dict[str, Any], now: dict[str, Any]) -> Flip:
    return Flip(
        trace_id=now.get("trace_id", ""),
        case_id=now.get("case_id", ""),
        question=now.get("question", ""),
        before=_told(before),
        now=_told(now),
        why=tuple(why_changed(before, now) or [_UNEXPLAINED]),
    )


def _told(card: dict[str, Any]) -> str:
    where = " / ".join(card[name] for name in ("stage", "check") if card.get(name))
    return f"{card['verdict']} at {where}" if where else str(card["verdict"])
