"""Spans and log records become Traces, one for each question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.database import dialect_of, sql_of
from dbagenteval.traces.draft import StageDraft, finish_stages
from dbagenteval.traces.tagged import is_tagged, read_tagged
from dbagenteval.traces.trace import STAGE_KINDS, Trace
from dbagenteval.traces.tree import Node, build_forest

__all__ = ["assemble"]


def assemble(groups: Iterable[OtelTrace]) -> Iterator[Trace]:
    """Make a Trace for each question in a stream of OTel traces.

    Args:
        groups: One for each trace id, in order of start; a last one with an empty id may hold log
            records that name no trace.

    Yields:
        Traces; the same spans give the same Traces in whatever order they were delivered.
    """
    for group in groups:
        roots = build_forest(group.spans, group.logs)
        for turn_roots in _turns(roots):
            yield _trace_of(turn_roots)


def _turns(roots: list[Node]) -> list[list[Node]]:
    """Split trees into turns: one for each outermost span with a question, else one in all."""
    asked = [
        node
        for root in roots
        for node in root.walk()
        if node.span.attributes.get(own.QUESTION)
        and not any(above.span.attributes.get(own.QUESTION) for above in node.ancestors)
    ]
    if len(asked) > 1 and not _is_one_question_on_siblings(asked):
        return [[node] for node in asked]
    tagged = any(is_tagged(node) for root in roots for node in root.walk())
    return [roots] if asked or tagged else []


def _is_one_question_on_siblings(asked: list[Node]) -> bool:
    """True if stage spans side by side repeat the question that they belong to."""
    return (
        len({node.span.attributes[own.QUESTION] for node in asked}) == 1
        and len({id(node.parent) for node in asked}) == 1
        and all(is_tagged(node) for node in asked)
    )


def _trace_of(roots: list[Node]) -> Trace:
    nodes = sorted((node for root in roots for node in root.walk()), key=lambda n: n.position)
    drafts: list[StageDraft] = []
    for node in nodes:
        if is_tagged(node):
            drafts.extend(read_tagged(node))
    drafts = _without_known_sql(drafts)
    question = next((str(q) for node in nodes if (q := node.span.attributes.get(own.QUESTION))), "")
    return Trace(question, finish_stages(drafts), _meta(nodes, drafts, question))


def _without_known_sql(drafts: list[StageDraft]) -> list[StageDraft]:
    """Leave out an implied generate stage when a generate stage before it has that SQL."""
    kept: list[StageDraft] = []
    for draft in drafts:
        known = any(
            other.kind == "generate" and not other.implied and _same(other.output, draft.output)
            for other in kept
        )
        if not (draft.implied and known):
            kept.append(draft)
    return kept


def _same(one: Any, other: Any) -> bool:
    return " ".join(str(one).split()).rstrip("; ") == " ".join(str(other).split()).rstrip("; ")


def _meta(nodes: list[Node], drafts: list[StageDraft], question: str) -> dict[str, Any]:
    spans = [node.span for node in nodes]
    used = {id(node) for draft in drafts for node in draft.nodes}
    not_observed = [
        {"what": what, "stage": stage.name, "state": state, "why": why}
        for stage, draft in zip(finish_stages(drafts), drafts)  # noqa: B905 - one for each
        for what, (state, why) in draft.observed.items()
    ]
    if not question:
        not_observed.insert(
            0,
            {
                "what": "question",
                "stage": None,
                "state": "not captured",
                "why": f"no span has {own.QUESTION}",
            },
        )
    return {
        "trace_ids": sorted({span.trace_id for span in spans}),
        "session_id": _first(nodes, "session.id", "gen_ai.conversation.id"),
        "case_id": _first(nodes, own.CASE_ID),
        "service": next(
            (s.resource["service.name"] for s in spans if "service.name" in s.resource), None
        ),
        "model": _first(nodes, "gen_ai.response.model", "gen_ai.request.model"),
        "tokens": None,
        "cost": None,
        "dialect": next((d for span in spans if (d := dialect_of(span.attributes))), None),
        "start_ns": min(span.start_ns for span in spans),
        "end_ns": max(span.end_ns for span in spans),
        "spans": len(spans),
        "not_observed": not_observed,
        "unused": [
            {"span_id": node.span.span_id, "name": node.span.name, "why": _why_unused(node)}
            for node in nodes
            if id(node) not in used
        ],
    }


def _first(nodes: list[Node], *keys: str) -> str | None:
    for key in keys:
        for node in nodes:
            value = node.span.attributes.get(key)
            if value not in (None, ""):
                return str(value)
    return None


def _why_unused(node: Node) -> str:
    kind = node.span.attributes.get(own.STAGE)
    if kind is not None:
        return f"{own.STAGE} is {str(kind)[:50]!r}; expected one of {', '.join(STAGE_KINDS)}"
    if own.QUESTION in node.span.attributes:
        return "holds the question"
    if sql_of(node.span.attributes):
        return "its SQL is in no stage"
    return "tells of no stage"
