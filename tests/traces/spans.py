"""Short ways to write spans in tests."""

from __future__ import annotations

from typing import Any

from dbagenteval.otlp import OtelTrace, Scope, Span, SpanEvent

TRACE = "3f7c1d0a9be24c55a1806be2d4f09c17"
START = 1_700_000_000_000_000_000


def span(
    number: int,
    attributes: dict[str, Any] | None = None,
    *,
    parent: int | None = None,
    at_ms: float | None = None,
    for_ms: float = 1.0,
    trace_id: str = TRACE,
    events: list[tuple[str, dict[str, Any]]] | None = None,
    scope: str = "",
    service: str = "agent",
    **fields: Any,
) -> Span:
    """Give a span whose id is the number and which starts `at_ms` (default: the number)."""
    start = START + int((number if at_ms is None else at_ms) * 1e6)
    return Span(
        trace_id=trace_id,
        span_id=f"{number:016x}",
        parent_span_id="" if parent is None else f"{parent:016x}",
        name=fields.pop("name", f"span {number}"),
        start_ns=start,
        end_ns=start + int(for_ms * 1e6),
        attributes=attributes or {},
        events=tuple(SpanEvent(name, start, facts) for name, facts in events or []),
        resource={"service.name": service},
        scope=Scope(name=scope),
        **fields,
    )


def one_trace(*spans: Span) -> list[OtelTrace]:
    """Give the spans as the OTel traces they name."""
    by_id: dict[str, list[Span]] = {}
    for one in spans:
        by_id.setdefault(one.trace_id, []).append(one)
    return sorted(
        (OtelTrace(trace_id=key, spans=tuple(some)) for key, some in by_id.items()),
        key=lambda group: (min(one.start_ns for one in group.spans), group.trace_id),
    )
