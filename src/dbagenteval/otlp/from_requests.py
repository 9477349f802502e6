"""OTLP messages become values: the traces in them, in a given order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.otlp.attributes import read_any
from dbagenteval.otlp.values import Attributes, Link, LogRecord, OtelTrace, Scope, Span, SpanEvent

__all__ = ["traces_from_requests"]


def traces_from_requests(
    trace_ids: Iterable[str],
    traces: ExportTraceServiceRequest,
    logs: ExportLogsServiceRequest,
) -> Iterator[OtelTrace]:
    """Give the traces of some requests.

    Args:
        trace_ids: 32 hex digits each, in the wanted order; "" for records that belong to none.
        traces: Their spans.
        logs: Their log records.
    """
    spans: dict[str, list[Span]] = defaultdict(list)
    for of_resource in traces.resource_spans:
        resource = _map(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            scope = _scope(of_scope)
            for wire_span in of_scope.spans:
                span = _span(wire_span, resource, scope)
                spans[span.trace_id].append(span)
    records: dict[str, list[LogRecord]] = defaultdict(list)
    for of_log_resource in logs.resource_logs:
        resource = _map(of_log_resource.resource.attributes)
        for of_log_scope in of_log_resource.scope_logs:
            scope = _scope(of_log_scope)
            for log_record in of_log_scope.log_records:
                record = _log(log_record, resource, scope)
                records[record.trace_id].append(record)
    for trace_id in trace_ids:
        yield OtelTrace(
            trace_id=trace_id,
            spans=tuple(sorted(spans[trace_id], key=lambda span: (span.start_ns, span.span_id))),
            logs=tuple(sorted(records[trace_id], key=lambda log: log.time_ns or log.observed_ns)),
        )


def _map(pairs: Any) -> Attributes:
    return {pair.key: read_any(pair.value) for pair in pairs}


def _scope(of_scope: Any) -> Scope:
    scope = of_scope.scope
    return Scope(
        scope.name,
        scope.version,
        _map(scope.attributes),
        of_scope.schema_url,
        scope.dropped_attributes_count,
    )


def _span_id(wire: bytes) -> str:
    text = wire.hex()
    return text if text.strip("0") else ""


def _span(message: Any, resource: Attributes, scope: Scope) -> Span:
    return Span(
        trace_id=message.trace_id.hex(),
        span_id=message.span_id.hex(),
        parent_span_id=_span_id(message.parent_span_id),
        name=message.name,
        kind=message.kind,
        start_ns=message.start_time_unix_nano,
        end_ns=message.end_time_unix_nano,
        status_code=message.status.code,
        status_message=message.status.message,
        attributes=_map(message.attributes),
        dropped_attributes_count=message.dropped_attributes_count,
        events=tuple(
            SpanEvent(
                event.name,
                event.time_unix_nano,
                _map(event.attributes),
                event.dropped_attributes_count,
            )
            for event in message.events
        ),
        links=tuple(
            Link(
                link.trace_id.hex(),
                link.span_id.hex(),
                _map(link.attributes),
                link.trace_state,
                link.flags,
                link.dropped_attributes_count,
            )
            for link in message.links
        ),
        resource=resource,
        scope=scope,
        trace_state=message.trace_state,
        flags=message.flags,
        dropped_events_count=message.dropped_events_count,
        dropped_links_count=message.dropped_links_count,
    )


def _log(message: Any, resource: Attributes, scope: Scope) -> LogRecord:
    attributes = _map(message.attributes)
    trace_id, span_id = message.trace_id.hex(), message.span_id.hex()
    old_name = attributes.get("event.name")
    return LogRecord(
        trace_id=trace_id if len(trace_id) == 32 and trace_id.strip("0") else "",
        span_id=span_id if len(span_id) == 16 and span_id.strip("0") else "",
        time_ns=message.time_unix_nano,
        observed_ns=message.observed_time_unix_nano,
        event_name=message.event_name or (old_name if isinstance(old_name, str) else ""),
        severity_number=message.severity_number,
        severity_text=message.severity_text,
        body=read_any(message.body),
        attributes=attributes,
        resource=resource,
        scope=scope,
        flags=message.flags,
        dropped_attributes_count=message.dropped_attributes_count,
    )
