"""Model calls whose log records arrived and whose spans never did.

Spans are sampled, lost or not exported at all where log records are not; the question and the
answer may be in the records all the same.
"""

from __future__ import annotations

from dbagenteval.otlp import LogRecord, OtelTrace, Span
from dbagenteval.traces.conventions.genai import DETAILS, OPERATION
from dbagenteval.traces.conventions.genai_events import MESSAGE_EVENTS

__all__ = ["LOST", "lost_spans"]

LOST = "span not received"
"""Name of a span that stands for one that never came."""

_EVENTS = MESSAGE_EVENTS | {DETAILS}


def lost_spans(group: OtelTrace) -> list[Span]:
    """Give a span for each that model events name and that is not there.

    Its attributes are those of the records, its time is that from the first to the last of them.
    """
    if not group.logs:
        return []
    known = {span.span_id for span in group.spans}
    by_span: dict[str, list[LogRecord]] = {}
    for log in group.logs:
        if log.event_name in _EVENTS and log.span_id.strip("0") and log.span_id not in known:
            by_span.setdefault(log.span_id, []).append(log)
    return [_stand_in(logs) for _, logs in sorted(by_span.items())]


def _stand_in(logs: list[LogRecord]) -> Span:
    times = [log.time_ns or log.observed_ns for log in logs]
    told = {key: value for log in logs for key, value in log.attributes.items()}
    first = logs[0]
    return Span(
        trace_id=first.trace_id,
        span_id=first.span_id,
        name=LOST,
        start_ns=min(times),
        end_ns=max(times),
        attributes={OPERATION: "chat", **told},
        resource=first.resource,
        scope=first.scope,
    )
