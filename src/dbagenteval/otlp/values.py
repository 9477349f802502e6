"""Spans and log records as values: what the store gives and Traces are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Attributes", "Link", "LogRecord", "OtelTrace", "Scope", "Span", "SpanEvent"]

Attributes = Mapping[str, Any]
"""Attribute key to a plain value: str, bool, int, float, bytes, list, dict (kvlist) or None."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The instrumentation scope that made a span or log record."""

    name: str = ""
    version: str = ""
    attributes: Attributes = field(default_factory=dict)
    schema_url: str = ""
    dropped_attributes_count: int = 0


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event on a span; `time_ns` is Unix nanoseconds."""

    name: str
    time_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    dropped_attributes_count: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another span: ids are 32 and 16 lowercase hex digits."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)
    trace_state: str = ""
    flags: int = 0
    dropped_attributes_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span.

    Args:
        trace_id: 32 lowercase hex digits.
        span_id: 16 lowercase hex digits.
        parent_span_id: 16 lowercase hex digits, or empty for a root.
        name: Span name.
        kind: OTel span kind, 0 to 5.
        start_ns: Unix nanoseconds.
        end_ns: Unix nanoseconds.
        status_code: 0 unset, 1 ok, 2 error.
        status_message: Description of the status.
        attributes: Span attributes.
        dropped_attributes_count: How many the SDK dropped.
        events: Events in the order sent.
        links: Links in the order sent.
        resource: Resource attributes.
        scope: Instrumentation scope.
        trace_state: W3C trace state.
        flags: W3C trace flags and whether the parent is remote.
        dropped_events_count: How many the SDK dropped.
        dropped_links_count: How many the SDK dropped.
    """

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    kind: int = 0
    start_ns: int = 0
    end_ns: int = 0
    status_code: int = 0
    status_message: str = ""
    attributes: Attributes = field(default_factory=dict)
    dropped_attributes_count: int = 0
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    resource: Attributes = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    trace_state: str = ""
    flags: int = 0
    dropped_events_count: int = 0
    dropped_links_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One log record; ids are hex, or empty when it belongs to no span.

    Args:
        trace_id: 32 lowercase hex digits or empty.
        span_id: 16 lowercase hex digits or empty.
        time_ns: Unix nanoseconds; 0 if unknown.
        observed_ns: Unix nanoseconds at which it was observed.
        event_name: Name of the event, from the field or the old `event.name` attribute.
        severity_number: 0 to 24.
        severity_text: As sent.
        body: A plain value.
        attributes: Record attributes.
        resource: Resource attributes.
        scope: Instrumentation scope.
        flags: W3C trace flags.
        dropped_attributes_count: How many the SDK dropped.
    """

    trace_id: str = ""
    span_id: str = ""
    time_ns: int = 0
    observed_ns: int = 0
    event_name: str = ""
    severity_number: int = 0
    severity_text: str = ""
    body: Any = None
    attributes: Attributes = field(default_factory=dict)
    resource: Attributes = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    flags: int = 0
    dropped_attributes_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelTrace:
    """All that arrived under one trace id; the store reads them in order of their start.

    Args:
        trace_id: 32 lowercase hex digits; empty for log records that belong to no trace.
        spans: By start time.
        logs: By time, those without a known span included.
    """

    trace_id: str
    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
