"""A stage while it is put together, with the spans it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbagenteval.traces.trace import RESERVED_STAGE_NAMES, Rows, Stage
from dbagenteval.traces.tree import Node

__all__ = ["StageDraft", "finish_stages"]


@dataclass(slots=True, kw_only=True)
class StageDraft:
    """A stage before its name is settled.

    Args:
        kind: Stage kind.
        name: Wished name, or empty for the kind.
        output: As in `Stage`.
        rows: As in `Stage`.
        error: As in `Stage`.
        sql: For execute: the statement that ran.
        nodes: The spans it came from, the main one first.
        start_ns: Unix nanoseconds; stages are put in this order.
        end_ns: Unix nanoseconds.
        observed: Field to `(state, why)` where a field is not plainly present.
        positional: True if `rows` has made-up column names.
        implied: True if another stage's span tells of it and it has none of its own.
        is_unrun: True for SQL that is not taken as run: it was refused, or stands in the answer.
    """

    kind: str
    name: str = ""
    output: Any = None
    rows: Rows | None = None
    error: str | None = None
    sql: str | None = None
    nodes: list[Node] = field(default_factory=list)
    start_ns: int = 0
    end_ns: int = 0
    observed: dict[str, tuple[str, str]] = field(default_factory=dict)
    positional: bool = False
    implied: bool = False
    is_unrun: bool = False

    def note(self, what: str, state: str, why: str) -> None:
        """Say that a field (`rows`, `output`) was not plainly seen, and why."""
        self.observed[what] = (state, why)


def finish_stages(drafts: list[StageDraft]) -> list[Stage]:
    """Make stages in the given order, with unique names (`generate`, `generate_2`, …)."""
    taken = set(RESERVED_STAGE_NAMES)
    last: dict[str, int] = {}
    stages = []
    for draft in drafts:
        wished = draft.name or draft.kind
        number = last.get(wished, 1)
        name = wished if number == 1 else f"{wished}_{number}"
        while name in taken:
            number += 1
            name = f"{wished}_{number}"
        taken.add(name)
        last[wished] = number
        stages.append(_finish(draft, name))
    return stages


def _finish(draft: StageDraft, name: str) -> Stage:
    meta: dict[str, Any] = {"span_ids": [node.span.span_id for node in draft.nodes]}
    if draft.sql is not None:
        meta["sql"] = draft.sql
    if draft.positional:
        meta["positional"] = True
    if draft.observed:
        meta["observed"] = {
            what: {"state": state, "why": why} for what, (state, why) in draft.observed.items()
        }
    elapsed_ns = draft.end_ns - draft.start_ns
    return Stage(
        kind=draft.kind,
        name=name,
        output=draft.output,
        rows=draft.rows,
        error=draft.error,
        # An implied stage has no span whose time would be its own.
        latency_ms=None if draft.implied or elapsed_ns < 0 else elapsed_ns / 1e6,
        meta=meta,
    )
