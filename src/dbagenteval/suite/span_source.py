"""Where the spans of a live agent come from, and the Trace they make with its answer."""

from __future__ import annotations

import copy
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from dbagenteval import semconv
from dbagenteval.otlp import OtelTrace
from dbagenteval.traces import Stage, Trace

__all__ = ["CallContext", "ServiceSpans", "SpanSource", "trace_of_call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What identifies one question in the spans of the agent that answers it.

    Args:
        trace_id: 32 hex digits.
        span_id: Of the caller, 16 hex digits.
        case_id: Of the case, or empty.
        session_id: Of the conversation, or empty.
        question: As it is asked.
        asked_ns: When, in Unix nanoseconds.
    """

    trace_id: str
    span_id: str
    case_id: str = ""
    session_id: str = ""
    question: str = ""
    asked_ns: int = 0

    @classmethod
    def new(cls, case_id: str = "", session_id: str = "", question: str = "") -> CallContext:
        """Make one that nobody else has, for a question that is asked now."""
        return cls(
            trace_id=secrets.token_hex(16),
            span_id=secrets.token_hex(8),
            case_id=case_id,
            session_id=session_id,
            question=question,
            asked_ns=time.time_ns(),
        )

    def headers(self) -> dict[str, str]:
        """Give the W3C headers that carry it; the spans are to be sampled."""
        headers = {"traceparent": f"00-{self.trace_id}-{self.span_id}-01"}
        if self.case_id:
            headers["baggage"] = f"{semconv.CASE_ID}={quote(self.case_id, safe='')}"
        return headers


class SpanSource(Protocol):
    """Gives the spans that came back for one question."""

    def spans_of(self, call: CallContext) -> list[OtelTrace]:
        """Wait for the spans of a call that has returned; empty if none came in time."""

    def why_none(self) -> str:
        """Say what to change when none came."""


class ServiceSpans(SpanSource, Protocol):
    """Gives the spans of a service, which may fail to continue the trace of a request."""

    is_alone: bool
    """True if one question is asked at a time."""

    def others_of(self, call: CallContext) -> list[OtelTrace]:
        """Give the traces that began since a question was asked and are not that of the call."""


def trace_of_call(
    question: str, answer: str | None, turns: Sequence[Trace], why_none: str
) -> Trace:
    """Make the Trace of one question from the turns of its spans, and the answer that came back.

    The caller's answer is what the user of the agent sees, so it wins over that of the spans.

    Args:
        question: As it was asked.
        answer: As it came back; None leaves that of the spans.
        turns: What was read from the spans.
        why_none: Said where there are none.
    """
    if not turns:
        trace = Trace.simple(question, answer=answer)
        notes = [
            {"what": what, "stage": kind, "state": "not captured", "why": why_none}
            for what, kind in (("output", "generate"), ("rows", "execute"))
        ]
        trace.meta["not_observed"] = notes
        return trace
    # Several turns under one call are parts of its work; the one that did most tells most.
    trace = copy.copy(max(turns, key=lambda one: len(one.stages)))
    trace.question = question
    trace.meta = {**trace.meta, "not_observed": _still_hidden(trace, answer)}
    if answer is not None:
        trace.stages = _answered(trace, answer)
    return trace


def _still_hidden(trace: Trace, answer: str | None) -> list[dict[str, Any]]:
    """Leave out what the caller knows by itself: the question, and the answer if it got one."""
    answers = {stage.name for stage in trace.stages if stage.kind == "answer"} | {"answer"}
    return [
        note
        for note in trace.meta.get("not_observed") or ()
        if note.get("what") != "question"
        and not (
            answer is not None
            and note.get("what") in ("output", "answer")
            and note.get("stage") in answers
        )
    ]


def _answered(trace: Trace, answer: str) -> list[Stage]:
    last = trace.last_of("answer")
    if last is None:
        return [*trace.stages, Stage("answer", output=answer)]
    told = copy.copy(last)
    told.output, told.error = answer, None
    told.meta = {key: value for key, value in last.meta.items() if key != "observed"}
    return [told if stage is last else stage for stage in trace.stages]
