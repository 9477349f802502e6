"""From rows back to values: the traces of a store, one chunk at a time."""

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
from dbagenteval.store.statements import statement

__all__ = ["CHUNK_LOGS", "TraceReader", "chunks", "id_bytes", "log_range", "span_range"]

_CHUNK_TRACES = 1024
_CHUNK_SPANS = 8_000
CHUNK_LOGS = 1_000
_LONG_TRACE_NS = 900 * 10**9
"""A trace whose spans start over a longer time is read alone, so that a chunk's range is short."""

_SpanKey = tuple[bytes, bytes]


class TraceReader:
    """Read the traces of one store in one consistent view.

    Args:
        connection: Of the store's database.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
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
        cursor = self._connection
        cursor.begin()
        wanted = None if trace_ids is None else id_bytes(trace_ids)
        filters = {"since_ns": since_ns, "until_ns": until_ns, "service": service}
        cursor.execute(statement("select_traces"), {**filters, "trace_ids": wanted})
        for chunk in chunks(cursor):
            yield from self._read_chunk(cursor, chunk)
        if wanted is None:
            yield from self._unattached(cursor, filters)

    def _read_chunk(
        self, cursor: duckdb.DuckDBPyConnection, chunk: list[Any]
    ) -> Iterator[OtelTrace]:
        ids = [row[0] for row in chunk]
        spans: dict[bytes, list[Span]] = defaultdict(list)
        spans_between = span_range(chunk)
        if spans_between is not None:
            parameters = {**spans_between, "trace_ids": ids}
            events = self._events(cursor, parameters)
            links = self._links(cursor, parameters)
            rows = cursor.execute(statement("read_spans"), parameters).fetchall()
            for row in rows:
                spans[row[0]].append(self._span(cursor, row, events, links))
        logs: dict[bytes, list[LogRecord]] = defaultdict(list)
        logs_between = log_range(chunk)
        if logs_between is not None:
            parameters = {**logs_between, "trace_ids": ids}
            for row in cursor.execute(statement("read_logs"), parameters).fetchall():
                logs[row[0]].append(self._log(cursor, row))
        for trace_id in ids:
            yield OtelTrace(
                trace_id=trace_id.hex(),
                spans=tuple(spans.pop(trace_id, ())),
                logs=tuple(logs.pop(trace_id, ())),
            )

    def _events(
        self, cursor: duckdb.DuckDBPyConnection, parameters: dict[str, Any]
    ) -> dict[_SpanKey, list[SpanEvent]]:
        found: dict[_SpanKey, list[SpanEvent]] = defaultdict(list)
        for row in cursor.execute(statement("read_span_events"), parameters).fetchall():
            trace_id, span_id, name, time_ns, *lists, dropped = row
            found[trace_id, span_id].append(
                SpanEvent(name, time_ns, attribute_map(*lists), dropped)
            )
        return found

    def _links(
        self, cursor: duckdb.DuckDBPyConnection, parameters: dict[str, Any]
    ) -> dict[_SpanKey, list[Link]]:
        found: dict[_SpanKey, list[Link]] = defaultdict(list)
        for row in cursor.execute(statement("read_span_links"), parameters).fetchall():
            trace_id, span_id, linked_trace, linked_span, state, flags, *lists, dropped = row
            found[trace_id, span_id].append(
                Link(
                    linked_trace.hex(),
                    linked_span.hex(),
                    attribute_map(*lists),
                    state,
                    flags,
                    dropped,
                )
            )
        return found

    def _span(
        self,
        cursor: duckdb.DuckDBPyConnection,
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
            resource=self._resource(cursor, row[18]),
            scope=self._scope(cursor, row[19]),
        )

    def _log(self, cursor: duckdb.DuckDBPyConnection, row: tuple[Any, ...]) -> LogRecord:
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
            resource=self._resource(cursor, row[16]),
            scope=self._scope(cursor, row[17]),
        )

    def _unattached(
        self, cursor: duckdb.DuckDBPyConnection, filters: dict[str, Any]
    ) -> Iterator[OtelTrace]:
        after = -1
        while True:
            rows = cursor.execute(
                statement("read_unattached_logs"),
                {**filters, "after": after, "limit": CHUNK_LOGS},
            ).fetchall()
            if not rows:
                return
            after = rows[-1][-1]
            yield OtelTrace(trace_id="", logs=tuple(self._log(cursor, row) for row in rows))

    def _resource(self, cursor: duckdb.DuckDBPyConnection, resource_id: int) -> Attributes:
        known = self._resources.get(resource_id)
        if known is None:
            row = _required(cursor.execute(statement("read_resource"), {"id": resource_id}))
            known = self._resources[resource_id] = attribute_map(*row[1:5])
        return known

    def _scope(self, cursor: duckdb.DuckDBPyConnection, scope_id: int) -> Scope:
        known = self._scopes.get(scope_id)
        if known is None:
            row = _required(cursor.execute(statement("read_scope"), {"id": scope_id}))
            known = self._scopes[scope_id] = Scope(
                row[1], row[2], attribute_map(*row[3:7]), row[0], row[7]
            )
        return known


def _required(cursor: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    rows = cursor.fetchall()
    if not rows:
        raise LookupError("a span refers to a resource or scope that isn't stored")
    return tuple(rows[0])


def id_bytes(trace_ids: Sequence[str]) -> list[bytes]:
    """Give the ids as bytes, without those that no trace can have."""
    found = []
    for trace_id in trace_ids:
        try:
            found.append(bytes.fromhex(trace_id))
        except ValueError:
            continue  # no stored trace has an id that isn't hex
    return found


def span_range(chunk: list[Any]) -> dict[str, int] | None:
    """Give where to look for the spans of a chunk: start times and batches; None if it has none."""
    return _range(chunk, 1, 2)


def log_range(chunk: list[Any]) -> dict[str, int] | None:
    """Give where to look for the log records of a chunk, None if it has none."""
    return _range(chunk, 3, 4)


def _range(chunk: list[Any], first: int, last: int) -> dict[str, int] | None:
    firsts = [row[first] for row in chunk if row[first] is not None]
    lasts = [row[last] for row in chunk if row[last] is not None]
    if not firsts:
        return None
    return {
        "first": min(firsts),
        "last": max(lasts),
        "first_batch": min(row[6] for row in chunk),
        "last_batch": max(row[7] for row in chunk),
    }


def chunks(cursor: duckdb.DuckDBPyConnection) -> Iterator[list[Any]]:
    """Group the selected traces so that each group is small in spans and in time."""
    number = 0
    while True:
        rows = cursor.execute(
            statement("select_chunk"), {"first": number, "last": number + _CHUNK_TRACES}
        ).fetchall()
        if not rows:
            return
        number += len(rows)
        chunk: list[Any] = []
        span_count = 0
        for row in rows:
            is_long = row[1] is not None and row[2] - row[1] > _LONG_TRACE_NS
            if chunk and (is_long or span_count + row[5] > _CHUNK_SPANS):
                yield chunk
                chunk, span_count = [], 0
            chunk.append(row)
            span_count += row[5]
            if is_long:
                yield chunk
                chunk, span_count = [], 0
        if chunk:
            yield chunk
