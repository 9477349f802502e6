"""In-process agents that emit spans: each question in a trace of its own, read when it returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import baggage
from opentelemetry import context as otel_context
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from dbagenteval import semconv
from dbagenteval.suite.agents import is_async
from dbagenteval.suite.span_source import CallContext, SpanSource, trace_of_call
from dbagenteval.traces import assemble

__all__ = ["traced"]


def traced(
    agent: Callable[..., Any], spans: SpanSource, case_ids: Mapping[str, str]
) -> Callable[..., Any]:
    """Wrap an agent so that its spans make the Trace where it returns only its answer.

    An agent that returns a Trace tells by itself what it did.

    Args:
        agent: Takes the question first; sync or async.
        spans: Where its spans arrive.
        case_ids: Question to case id, given along as baggage.
    """

    def result_of(question: str, result: Any, call: CallContext) -> Any:
        if not isinstance(result, str):
            return result
        groups = spans.spans_of(call)
        if not groups:
            return result
        return trace_of_call(question, result, list(assemble(groups)), spans.why_none())

    @functools.wraps(agent)
    def ask(question: str, *args: Any, **kwargs: Any) -> Any:
        call = CallContext.new(case_ids.get(question, ""))
        with _as_parent(call):
            result = agent(question, *args, **kwargs)
        if inspect.isawaitable(result):
            return awaited(question, result, call)
        return result_of(question, result, call)

    async def awaited(question: str, result: Any, call: CallContext) -> Any:
        with _as_parent(call):
            value = await result
        return result_of(question, value, call)

    @functools.wraps(agent)
    async def ask_async(question: str, *args: Any, **kwargs: Any) -> Any:
        call = CallContext.new(case_ids.get(question, ""))
        with _as_parent(call):
            result = await agent(question, *args, **kwargs)
        return result_of(question, result, call)

    return ask_async if is_async(agent) else ask


@contextmanager
def _as_parent(call: CallContext) -> Iterator[None]:
    parent = SpanContext(
        int(call.trace_id, 16), int(call.span_id, 16), is_remote=True, trace_flags=TraceFlags(1)
    )
    context = set_span_in_context(NonRecordingSpan(parent))
    if call.case_id:
        context = baggage.set_baggage(semconv.CASE_ID, call.case_id, context)
    token = otel_context.attach(context)
    try:
        yield
    finally:
        otel_context.detach(token)
