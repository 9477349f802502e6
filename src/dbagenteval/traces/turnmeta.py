"""What a Trace made from spans says of itself: ids, costs, and what was not seen."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dbagenteval.traces.answers import Question
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, DB, LLM, MESSAGE, SERVER, TOOL
from dbagenteval.traces.conventions.database import dialect_of
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.lostspans import LOST
from dbagenteval.traces.toolkinds import CHECK, FINAL
from dbagenteval.traces.trace import STAGE_KINDS, Stage
from dbagenteval.traces.turnreading import TurnReading
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.unseen import without_stage

__all__ = ["turn_meta"]


def turn_meta(
    reading: TurnReading, drafts: list[StageDraft], stages: list[Stage], question: Question
) -> dict[str, Any]:
    """Give the `meta` of a turn's Trace, JSON-ready."""
    turn = reading.turn
    spans = [one.node.span for one in turn.facts]
    head = (turn.heads or turn.facts)[0]
    meta: dict[str, Any] = {
        "trace_ids": list(dict.fromkeys(span.trace_id for span in spans)),
        "session_id": _session(turn),
        "case_id": _attribute(turn, own.CASE_ID),
        "service": _service(head),
        "services": _services(turn),
        "model": _model(turn),
        "tokens": _tokens(turn),
        "cost": _cost(turn),
        "dialect": _dialect(turn),
        "start_ns": turn.start_ns,
        "end_ns": turn.end_ns,
        "spans": len(spans),
        "conventions": _conventions(turn),
        "not_observed": _not_observed(drafts, stages, question)
        + _misspelt(turn)
        + without_stage(reading, drafts),
        "unused": _unused(reading, drafts, question),
    }
    version = head.node.span.resource.get("service.version")
    if version:
        meta["service_version"] = str(version)
    lost = sum(span.name == LOST for span in spans)
    if lost:
        meta["lost_spans"] = lost
    if turn.joined:
        meta["joined"] = turn.joined
    return meta


def _service(one: Facts) -> str | None:
    name = one.node.span.resource.get("service.name")
    return str(name) if name else None


def _services(turn: Turn) -> list[str]:
    resources = {id(r := one.node.span.resource): r for one in turn.facts}
    names = {str(r["service.name"]) for r in resources.values() if r.get("service.name")}
    return sorted(names)


def _conventions(turn: Turn) -> list[str]:
    spoken = {id(c): c for group in {one.conventions for one in turn.facts} for c in group}
    return sorted(convention.name for convention in spoken.values())


def _dialect(turn: Turn) -> str | None:
    for one in turn.facts:
        dialect = dialect_of(one.node.span.attributes) if one.sql else None
        if dialect is not None:
            return dialect
    return None


def _attribute(turn: Turn, key: str) -> str | None:
    for one in [*turn.heads, *turn.facts]:
        value = one.node.span.attributes.get(key)
        if value not in (None, ""):
            return str(value)
    return None


def _session(turn: Turn) -> str | None:
    everyone = [*turn.heads, *turn.facts]
    told = next((session for one in everyone if (session := one.session)), None)
    if told is not None or not turn.heads:
        return told
    # A batch's session may be on the span around all of its questions.
    above = (Facts(node).session for node in turn.heads[0].node.ancestors)
    return next((session for session in above if session), None)


def _model(turn: Turn) -> str | None:
    """Give the model that was called most; agents repeat the name, so model spans come first."""
    models = [one for one in turn.facts if one.role == LLM]
    names = [name for one in models or turn.facts if (name := one.text("model"))]
    return Counter(names).most_common(1)[0][0] if names else None


def _tokens(turn: Turn) -> dict[str, int] | None:
    """Add up model spans only: agents repeat the sum, and a total is no third part."""
    sums, seen = [0, 0], False
    for one in _counted(turn):
        for part in (0, 1):
            value = _number(one, [c.tokens[part] for c in one.conventions])
            if value is not None:
                sums[part] += int(value)
                seen = True
    return {"input": sums[0], "output": sums[1]} if seen else None


def _cost(turn: Turn) -> float | None:
    costs = [_number(one, [c.cost for c in one.conventions]) for one in _counted(turn)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _counted(turn: Turn) -> list[Facts]:
    """Give the model spans, of nested ones the inner; without any, the outermost agent."""
    models = [one for one in turn.facts if one.role == LLM]
    outer = {id(above) for one in models for above in one.node.ancestors}
    inner = [one for one in models if id(one.node) not in outer]
    if inner:
        return inner
    return turn.heads[:1] or [one for one in turn.facts if one.node.parent is None][:1]


def _number(one: Facts, keys: list[tuple[str, ...]]) -> float | None:
    for group in keys:
        for key in group:
            value = one.node.span.attributes.get(key)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return value
    return None


def _not_observed(
    drafts: list[StageDraft], stages: list[Stage], question: Question
) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    if question.state != "present":
        listed.append(
            {"what": "question", "stage": None, "state": question.state, "why": question.why}
        )
    for stage, draft in zip(stages, drafts):  # noqa: B905 - one stage for each draft
        for what, (state, why) in draft.observed.items():
            listed.append({"what": what, "stage": stage.name, "state": state, "why": why})
    return listed


def _misspelt(turn: Turn) -> list[dict[str, Any]]:
    """Name the stages that an agent tagged with a kind that doesn't exist."""
    kinds = [one.node.span.attributes.get(own.STAGE) for one in turn.facts]
    allowed = ", ".join(STAGE_KINDS)
    return [
        {
            "what": "stage",
            "stage": None,
            "state": "unparseable",
            "why": f"{own.STAGE} is {str(kind)[:50]!r}; expected one of {allowed}",
        }
        for kind in kinds
        if kind is not None and kind not in STAGE_KINDS
    ]


_WHY = {
    LLM: "a model call that wrote no statement and no answer",
    TOOL: "a tool that ran no SQL",
    AGENT: "stands for the whole turn or a part of it",
    CHAIN: "structure: tells of no stage of its own",
    MESSAGE: "a message between actors that tells nothing new",
    SERVER: "the request around the turn",
}


def _unused(
    reading: TurnReading, drafts: list[StageDraft], question: Question
) -> list[dict[str, str]]:
    """List the spans that no stage was made of, with the reason."""
    used = {id(node) for draft in drafts for node in draft.nodes}
    checks = {id(u.source.node) for u in reading.uses if u.kind == CHECK and u.source is not None}
    finals = {id(u.source.node) for u in reading.uses if u.kind == FINAL and u.source is not None}
    listed = []
    for one in reading.turn.facts:
        if id(one.node) not in used:
            span = one.node.span
            why = _why(one, question, checks)
            if id(one.node) in finals:
                why = "hands the answer over"
            listed.append({"span_id": span.span_id, "name": span.name, "why": why})
    return listed


def _why(one: Facts, question: Question, checks: set[int]) -> str:
    if one is question.source:
        return "holds the question"
    if checks and (
        id(one.node) in checks or any(id(above) in checks for above in one.node.ancestors)
    ):
        return "checks SQL and runs none"
    if one.role == DB:
        return "a statement that belongs to no stage"
    return _WHY.get(one.role or "", "tells of no stage")
