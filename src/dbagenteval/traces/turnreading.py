"""A turn while its stages are read from it."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.hints import missing_content
from dbagenteval.traces.limits import Limit
from dbagenteval.traces.nodes import NodeStep
from dbagenteval.traces.tagged import is_tagged
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use

__all__ = ["Placed", "TurnReading", "draft_of", "place_of"]

Placed = list[tuple[tuple[int, int], StageDraft]]
"""Drafts with their place in the turn: start time and position."""


class TurnReading:
    """The drafts of a turn's stages, and what it takes to say what was not seen."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.limit = Limit(turn.facts)
        self.tagged = [one for one in turn.facts if is_tagged(one.node)]
        self.tagged_below = {id(node) for one in self.tagged for node in one.node.walk()}
        self.uses: list[Use] = []
        self.steps: list[NodeStep] = []
        self.drafts: list[StageDraft] = []
        self.tellers: list[Facts] | None = None
        self._missing: dict[str, str] = {}

    def missing(self, what: str) -> str:
        """Say why `question`, `answer`, `sql` or `rows` is in no span, and what to change."""
        if what not in self._missing:
            self._missing[what] = missing_content(self.turn.facts, what)
        return self._missing[what]


def place_of(one: Facts) -> tuple[int, int]:
    """Give where a span stands in its turn: start time and position."""
    return one.node.span.start_ns, one.node.position


def draft_of(kind: str, one: Facts | None, **fields: Any) -> StageDraft:
    """Begin a stage that comes from a span, with the span's times."""
    span = one.node.span if one is not None else None
    return StageDraft(
        kind=kind,
        nodes=[one.node] if one is not None else [],
        start_ns=span.start_ns if span else 0,
        end_ns=span.end_ns if span else 0,
        **fields,
    )
