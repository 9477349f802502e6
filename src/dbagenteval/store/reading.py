"""From rows back to values: the traces of a store, some at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from dbagenteval.otlp.attributes import attribute_map, plain_value
from dbagenteval.otlp.values import (
    Attributes,
    Link,
    LogRecord,
    OtelTrace,
    Scope,
    Span,
    SpanEvent,
)
from dbagenteval.store.selection import Chunk, Selection
from dbagenteval.store.statements import statement

__all__ = ["TraceReader"]

_SpanKey = tuple[bytes, bytes]


class TraceReader:
    """Read the traces of one store in one consistent view.

    Args:
        cursor: Of the store.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self._resources: dict[int, Attributes] = {}
        self._scopes: dict[int, Scope] = {}

    def traces(
        self,
        *,
        since_ns: int | None,
        until_ns: int | None,
        service: str | None,
        trace_ids: Sequence[str] | None,
    ) -> Iterator[OtelTrace]:
        """Give the traces in order of their start, then log records that belong to none."""
        selection = Selection(
            self._cursor,
            since_ns=since_ns,
            until_ns=until_ns,
            service=service,
            trace_ids=trace_ids,
        )
        for chunk in selection.chunks():
            yield from self._traces(chunk)
        for rows in selection.loose_logs():
            yield OtelTrace(trace_id="", logs=tuple(self._log(row) for row in rows))

    def _traces(self, chunk: Chunk) -> Iterator[OtelTrace]:
        events = _events(chunk.span_events)
        links = _links(chunk.span_links)
        spans: dict[bytes, list[Span]] = defaultdict(list)
        for row in chunk.spans:
            spans[row[0]].append(self._span(row, events, links))
        logs: dict[bytes, list[LogRecord]] = defaultdict(list)
        for row in chunk.logs:
            logs[row[0]].append(self._log(row))
        for trace_id in chunk.trace_ids:
            yield OtelTrace(
                trace_id=trace_id.hex(),
                spans=tuple(spans.pop(trace_id, ())),
                logs=tuple(logs.pop(trace_id, ())),
            )

    def _span(
        self,
        row: tuple[Any, ...],
        events: dict[_SpanKey, list[SpanEvent]],
        links: dict[_SpanKey, list[Link]],
    ) -> Span:
        parent = row[2].hex()
        return Span(
            trace_id=row[0].hex(),
            span_id=row[1].hex(),
            parent_span_id=parent if parent.strip("0") else "",
            trace_state=row[3],
            flags=row[4],
            name=row[5],
            kind=row[6],
            start_ns=row[7],
            end_ns=row[8],
            status_code=row[9],
            status_message=row[10],
            attributes=attribute_map(*row[11:15]),
            dropped_attributes_count=row[15],
            dropped_events_count=row[16],
            dropped_links_count=row[17],
            events=tuple(events.get((row[0], row[1]), ())),
            links=tuple(links.get((row[0], row[1]), ())),
            resource=self._resource(row[18]),
            scope=self._scope(row[19]),
        )

    def _log(self, row: tuple[Any, ...]) -> LogRecord:
        attributes = attribute_map(*row[10:14])
        trace_id, span_id = row[0].hex(), row[1].hex()
        is_attached = len(trace_id) == 32 and bool(trace_id.strip("0"))
        old_name = attributes.get("event.name")
        return LogRecord(
            trace_id=trace_id if is_attached else "",
            span_id=span_id if len(span_id) == 16 and span_id.strip("0") else "",
            time_ns=row[2],
            observed_ns=row[3],
            event_name=row[4] or (old_name if isinstance(old_name, str) else ""),
            severity_number=row[5],
            severity_text=row[6],
            body=plain_value(*row[7:10]),
            attributes=attributes,
            dropped_attributes_count=row[14],
            flags=row[15],
            resource=self._resource(row[16]),
            scope=self._scope(row[17]),
        )

    def _resource(self, resource_id: int) -> Attributes:
        known = self._resources.get(resource_id)
        if known is None:
            row = _required(self._cursor.execute(statement("read_resource"), {"id": resource_id}))
            known = self._resources[resource_id] = attribute_map(*row[1:5])
        return known

    def _scope(self, scope_id: int) -> Scope:
        known = self._scopes.get(scope_id)
        if known is None:
            row = _required(self._cursor.execute(statement("read_scope"), {"id": scope_id}))
            known = self._scopes[scope_id] = Scope(
                row[1], row[2], attribute_map(*row[3:7]), row[0], row[7]
            )
        return known


def _events(rows: list[Any]) -> dict[_SpanKey, list[SpanEvent]]:
    found: dict[_SpanKey, list[SpanEvent]] = defaultdict(list)
    for trace_id, span_id, name, time_ns, *lists, dropped in rows:
        found[trace_id, span_id].append(SpanEvent(name, time_ns, attribute_map(*lists), dropped))
    return found


def _links(rows: list[Any]) -> dict[_SpanKey, list[Link]]:
    found: dict[_SpanKey, list[Link]] = defaultdict(list)
    for trace_id, span_id, linked_trace, linked_span, state, flags, *lists, dropped in rows:
        link = Link(
            linked_trace.hex(), linked_span.hex(), attribute_map(*lists), state, flags, dropped
        )
        found[trace_id, span_id].append(link)
    return found


def _required(cursor: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    rows = cursor.fetchall()
    if not rows:
        raise LookupError("a span refers to a resource or scope that isn't stored")
    return tuple(rows[0])
