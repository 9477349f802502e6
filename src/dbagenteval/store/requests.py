"""From rows back to OTLP export requests, field for field as they came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from dbagenteval.otlp.attributes import write_any, write_attributes
from dbagenteval.store.selection import Chunk, Selection
from dbagenteval.store.statements import statement

__all__ = ["Part", "RequestReader"]


@dataclass(slots=True)
class Part:
    """Some traces as messages: their ids by start, none for loose log records."""

    trace_ids: list[str]
    traces: ExportTraceServiceRequest | None
    logs: ExportLogsServiceRequest | None


class RequestReader:
    """Read a whole store as export requests, some traces at a time, in order of their start.

    Args:
        cursor: Of the store.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def parts(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[Part]:
        """Give the traces that `TraceReader.traces` would, some at a time, as messages."""
        selection = Selection(
            self._cursor,
            since_ns=since_ns,
            until_ns=until_ns,
            service=service,
            trace_ids=trace_ids,
        )
        for chunk in selection.chunks():
            ids = [trace_id.hex() for trace_id in chunk.trace_ids]
            traces = self._traces(chunk) if chunk.spans else None
            yield Part(ids, traces, self._logs(chunk.logs) if chunk.logs else None)
        for rows in selection.loose_logs():
            yield Part([], None, self._logs(rows))

    def _traces(self, chunk: Chunk) -> ExportTraceServiceRequest:
        events, links = _by_span(chunk.span_events), _by_span(chunk.span_links)
        request = ExportTraceServiceRequest()
        groups: dict[tuple[int, int], Any] = {}
        for row in chunk.spans:
            key = row[18], row[19]
            if key not in groups:
                of_resource = request.resource_spans.add()
                of_resource.schema_url = self._read_resource(key[0], of_resource.resource)
                groups[key] = of_resource.scope_spans.add()
                groups[key].schema_url = self._read_scope(key[1], groups[key].scope)
            _write_span(groups[key].spans.add(), row, events[row[:2]], links[row[:2]])
        return request

    def _logs(self, rows: list[Any]) -> ExportLogsServiceRequest:
        request = ExportLogsServiceRequest()
        groups: dict[tuple[int, int], Any] = {}
        for row in rows:
            key = row[16], row[17]
            if key not in groups:
                of_resource = request.resource_logs.add()
                of_resource.schema_url = self._read_resource(key[0], of_resource.resource)
                groups[key] = of_resource.scope_logs.add()
                groups[key].schema_url = self._read_scope(key[1], groups[key].scope)
            _write_log(groups[key].log_records.add(), row)
        return request

    def _read_resource(self, resource_id: int, target: Resource) -> str:
        (row,) = self._cursor.execute(statement("read_resource"), {"id": resource_id}).fetchall()
        if row[7] is not None:
            target.MergeFromString(row[7])
            return str(row[0])
        write_attributes(target.attributes, *row[1:5])
        target.dropped_attributes_count = row[5]
        for ref in row[6]:
            target.entity_refs.add(**ref)
        return str(row[0])

    def _read_scope(self, scope_id: int, target: InstrumentationScope) -> str:
        (row,) = self._cursor.execute(statement("read_scope"), {"id": scope_id}).fetchall()
        if row[8] is not None:
            target.MergeFromString(row[8])
            return str(row[0])
        target.name, target.version = row[1], row[2]
        write_attributes(target.attributes, *row[3:7])
        target.dropped_attributes_count = row[7]
        return str(row[0])


def _by_span(rows: list[Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[row[:2]].append(row)
    return found


def _write_span(span: Span, row: Any, events: list[Any], links: list[Any]) -> None:
    if row[20] is not None:
        span.MergeFromString(row[20])
        return
    span.trace_id, span.span_id, span.parent_span_id, span.trace_state = row[:4]
    span.flags, span.name, span.kind = row[4:7]
    span.start_time_unix_nano, span.end_time_unix_nano = row[7:9]
    if row[9] or row[10]:
        span.status.code, span.status.message = row[9], row[10]
    write_attributes(span.attributes, *row[11:15])
    span.dropped_attributes_count = row[15]
    span.dropped_events_count, span.dropped_links_count = row[16:18]
    for _, _, name, time_ns, *lists, dropped in events:
        event = span.events.add(name=name, time_unix_nano=time_ns, dropped_attributes_count=dropped)
        write_attributes(event.attributes, *lists)
    for _, _, linked_trace, linked_span, state, flags, *lists, dropped in links:
        link = span.links.add(
            trace_id=linked_trace,
            span_id=linked_span,
            trace_state=state,
            flags=flags,
            dropped_attributes_count=dropped,
        )
        write_attributes(link.attributes, *lists)


def _write_log(record: LogRecord, row: Any) -> None:
    if row[18] is not None:
        record.MergeFromString(row[18])
        return
    record.trace_id, record.span_id = row[:2]
    record.time_unix_nano, record.observed_time_unix_nano = row[2:4]
    record.event_name, record.severity_number, record.severity_text = row[4:7]
    if row[7]:
        write_any(record.body, *row[7:10])
    write_attributes(record.attributes, *row[10:14])
    record.dropped_attributes_count, record.flags = row[14:16]
