"""A tiny decoder of OTLP JSON lines, so that these tests need neither store nor wire decoder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from dbagenteval.otlp import Link, LogRecord, OtelTrace, Scope, Span, SpanEvent


def load(*paths: Path) -> list[OtelTrace]:
    """Give the OTel traces of files, in order of start."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for path in paths:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                found = decode(json.loads(line))
                spans += found[0]
                logs += found[1]
    return group(spans, logs)


def decode(request: dict[str, Any]) -> tuple[list[Span], list[LogRecord]]:
    """Give the spans and log records of one request."""
    spans, logs = [], []
    for resource_spans in request.get("resourceSpans", []):
        resource = attributes(resource_spans.get("resource", {}))
        for scope_spans in resource_spans.get("scopeSpans", []):
            scope = _scope(scope_spans)
            spans += [_span(one, resource, scope) for one in scope_spans.get("spans", [])]
    for resource_logs in request.get("resourceLogs", []):
        resource = attributes(resource_logs.get("resource", {}))
        for scope_logs in resource_logs.get("scopeLogs", []):
            scope = _scope(scope_logs)
            logs += [_log(one, resource, scope) for one in scope_logs.get("logRecords", [])]
    return spans, logs


def group(spans: list[Span], logs: list[LogRecord] | None = None) -> list[OtelTrace]:
    """Group by trace id, in order of start, as the store gives them."""
    by_id: dict[str, tuple[list[Span], list[LogRecord]]] = {}
    for span in spans:
        by_id.setdefault(span.trace_id, ([], []))[0].append(span)
    for log in logs or []:
        by_id.setdefault(log.trace_id, ([], []))[1].append(log)
    groups = [
        OtelTrace(
            trace_id=trace_id,
            spans=tuple(sorted(some, key=lambda s: (s.start_ns, s.span_id))),
            logs=tuple(sorted(records, key=lambda r: r.time_ns or r.observed_ns)),
        )
        for trace_id, (some, records) in by_id.items()
    ]
    return sorted(groups, key=_start)


def _start(one: OtelTrace) -> tuple[bool, int, str]:
    times = [span.start_ns for span in one.spans] or [log.time_ns for log in one.logs]
    return one.trace_id == "", min(times), one.trace_id


def attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: value(pair.get("value")) for pair in holder.get("attributes", [])}


def value(any_value: dict[str, Any] | None) -> Any:
    if not any_value:
        return None
    kind, inner = next(iter(any_value.items()))
    if kind == "intValue":
        return int(inner)
    if kind == "arrayValue":
        return [value(item) for item in inner.get("values", [])]
    if kind == "kvlistValue":
        return {pair["key"]: value(pair.get("value")) for pair in inner.get("values", [])}
    return inner


def _scope(holder: dict[str, Any]) -> Scope:
    scope = holder.get("scope", {})
    return Scope(
        name=scope.get("name", ""),
        version=scope.get("version", ""),
        attributes=attributes(scope),
        schema_url=holder.get("schemaUrl", ""),
    )


def _span(one: dict[str, Any], resource: dict[str, Any], scope: Scope) -> Span:
    status = one.get("status", {})
    return Span(
        trace_id=one["traceId"],
        span_id=one["spanId"],
        parent_span_id=one.get("parentSpanId", ""),
        name=one.get("name", ""),
        kind=one.get("kind", 0),
        start_ns=int(one.get("startTimeUnixNano", 0)),
        end_ns=int(one.get("endTimeUnixNano", 0)),
        status_code=status.get("code", 0),
        status_message=status.get("message", ""),
        attributes=attributes(one),
        dropped_attributes_count=one.get("droppedAttributesCount", 0),
        events=tuple(
            SpanEvent(event["name"], int(event.get("timeUnixNano", 0)), attributes(event))
            for event in one.get("events", [])
        ),
        links=tuple(
            Link(link["traceId"], link["spanId"], attributes(link)) for link in one.get("links", [])
        ),
        resource=resource,
        scope=scope,
    )


def _log(one: dict[str, Any], resource: dict[str, Any], scope: Scope) -> LogRecord:
    return LogRecord(
        trace_id=one.get("traceId", ""),
        span_id=one.get("spanId", ""),
        time_ns=int(one.get("timeUnixNano", 0)),
        observed_ns=int(one.get("observedTimeUnixNano", 0)),
        event_name=one.get("eventName", ""),
        severity_number=one.get("severityNumber", 0),
        severity_text=one.get("severityText", ""),
        body=value(one.get("body")),
        attributes=attributes(one),
        resource=resource,
        scope=scope,
    )
