"""Spans and log records become Traces, one for each question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces.answers import read_answer, read_question
from dbagenteval.traces.conventions.convention import AGENT, LLM, MESSAGE, SERVER, TOOL
from dbagenteval.traces.draft import finish_stages
from dbagenteval.traces.joining import join_turns
from dbagenteval.traces.stages import read_stages
from dbagenteval.traces.trace import Trace
from dbagenteval.traces.turnmeta import turn_meta
from dbagenteval.traces.turnreading import TurnReading
from dbagenteval.traces.turns import Turn

__all__ = ["assemble"]

_PATHS = ("http.route", "url.path", "http.target", "rpc.method")
_METHODS = ("http.request.method", "http.method", "rpc.service")


def assemble(groups: Iterable[OtelTrace]) -> Iterator[Trace]:
    """Make a Trace for each question in a stream of OTel traces.

    It holds what may still join (a window in trace time), not all that it has read.

    Args:
        groups: One for each trace id, in order of start; a last one with an empty id may hold log
            records that name no trace.

    Yields:
        Traces; the same spans give the same Traces in whatever order they were delivered. OTel
        traces that tell of no question, model, tool or statement give none.
    """
    routes: set[tuple[str, ...]] = set()
    for turn in join_turns(groups):
        trace = _trace_of(turn, routes)
        if trace is not None:
            yield trace


def _trace_of(turn: Turn, routes: set[tuple[str, ...]]) -> Trace | None:
    """Make the Trace of a turn, or None if it is none.

    Args:
        turn: The turn.
        routes: Requests that were turns before: one of the same kind is a turn too, even if no
            model and no statement is seen in it.
    """
    reading = read_stages(turn)
    question = read_question(reading)
    answer = read_answer(reading)
    route = _route(turn)
    if question.text or _tells(turn, reading):
        if route is not None:
            routes.add(route)
    elif route not in routes:
        return None
    drafts = reading.drafts + ([answer] if answer is not None else [])
    stages = finish_stages(drafts)
    meta: dict[str, Any] = turn_meta(reading, drafts, stages, question)
    return Trace(question.text, stages, meta)


def _route(turn: Turn) -> tuple[str, ...] | None:
    """Give service, method and path of the request that a turn was, or None."""
    head = turn.heads[0] if turn.heads else None
    if head is None or head.role != SERVER:
        return None
    span = head.node.span
    path = next((span.attributes[key] for key in _PATHS if span.attributes.get(key)), "")
    method = next((span.attributes[key] for key in _METHODS if span.attributes.get(key)), "")
    return str(span.resource.get("service.name", "")), str(method), str(path)


def _tells(turn: Turn, reading: TurnReading) -> bool:
    """True if an agent, a model, a tool or a statement ran, so that the turn must not vanish.

    Requests without any of these, and look-ups of the catalog alone, are no turns.
    """
    return any(one.role in (AGENT, LLM, TOOL, MESSAGE) for one in turn.facts) or any(
        draft.kind != "retrieve" for draft in reading.drafts
    )
