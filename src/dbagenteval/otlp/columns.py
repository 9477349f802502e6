"""Requests become Arrow tables with the columns of the store, many requests at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from dbagenteval.otlp.attributes import NO_VALUE, split_any
from dbagenteval.otlp.schemas import SCHEMAS
from dbagenteval.otlp.wire import ShallowLogs, ShallowTraces

__all__ = ["ColumnBuilder", "Columns"]

_CACHED_ATTRIBUTE_BYTES = 96
_CACHED_ATTRIBUTES = 100_000
_SERVICE_KEY = "service.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Some requests as Arrow tables, by the names of `SCHEMAS`."""

    tables: dict[str, pa.Table]


class _AttributeCache(dict[bytes, tuple[str, int, str | None, bytes | None, bool]]):
    """Wire bytes of a KeyValue to its parts; the short ones, which repeat, are remembered."""

    def __missing__(self, wire: bytes) -> tuple[str, int, str | None, bytes | None, bool]:
        pair = KeyValue.FromString(wire)
        if pair.HasField("value"):
            kind, text, nested = split_any(pair.value)
        else:
            kind, text, nested = NO_VALUE, None, None
        parts = pair.key, kind, text, nested, pair.key_strindex != 0
        if len(wire) <= _CACHED_ATTRIBUTE_BYTES:
            if len(self) >= _CACHED_ATTRIBUTES:
                self.clear()
            self[wire] = parts
        return parts


class _Table:
    """Lists of one table's columns, appended to row by row."""

    def __init__(self, name: str) -> None:
        self.schema = SCHEMAS[name]
        self.columns: dict[str, list[Any]] = {field.name: [] for field in self.schema}
        self.appends = [column.append for column in self.columns.values()]

    def add(self, *row: Any) -> None:
        for append, value in zip(self.appends, row, strict=True):
            append(value)

    def to_arrow(self) -> pa.Table:
        arrays = [pa.array(self.columns[field.name], type=field.type) for field in self.schema]
        return pa.Table.from_arrays(arrays, schema=self.schema)


class ColumnBuilder:
    """Turn request bodies into columns; it remembers attributes from batch to batch.

    The bodies have been checked before (`dbagenteval.otlp.decode`), so they do parse.
    """

    def __init__(self) -> None:
        self._attributes = _AttributeCache()

    def start_batch(self) -> _Batch:
        """Give empty tables."""
        return _Batch(self._attributes)

    def build(self, requests: Iterable[tuple[str, bytes]]) -> Columns:
        """Build the columns of some requests.

        Args:
            requests: Signal (`traces` or `logs`) and protobuf body, in the order of arrival.
        """
        batch = self.start_batch()
        for signal, body in requests:
            if signal == "traces":
                batch.add_traces(body)
            else:
                batch.add_logs(body)
        return Columns(tables={name: table.to_arrow() for name, table in batch.tables.items()})


class _Batch:
    """The tables of one batch while they are built."""

    def __init__(self, attributes: _AttributeCache) -> None:
        self._cache = attributes
        self.tables = {name: _Table(name) for name in SCHEMAS}
        self._resources: dict[tuple[bytes, str], tuple[int, str]] = {}
        self._scopes: dict[tuple[bytes, str], int] = {}
        self._span_rows = 0
        self._log_rows = 0

    def _split(self, wires: Iterable[bytes]) -> tuple[tuple[list[Any], ...], bool]:
        """Give the parallel lists of attributes, and whether a string-table field is used."""
        get = self._cache.__getitem__
        parts = [get(wire) for wire in wires]
        lists = (
            [part[0] for part in parts],
            [part[1] for part in parts],
            [part[2] for part in parts],
            [part[3] for part in parts if part[3] is not None],
        )
        return lists, any(part[4] for part in parts)

    def resource(self, wire: bytes, schema_url: str) -> tuple[int, str]:
        """Give the id and service of a resource; a new one is added to its table."""
        known = self._resources.get((wire, schema_url))
        if known is None:
            resource_id = _content_id(wire, schema_url)
            resource = Resource.FromString(wire)
            lists, strindex = self._split(
                pair.SerializeToString(deterministic=True) for pair in resource.attributes
            )
            service = next(
                (
                    text
                    for key, text in zip(reversed(lists[0]), reversed(lists[2]), strict=True)
                    if key == _SERVICE_KEY
                ),
                None,
            )
            known = resource_id, service or ""
            refs = [
                {
                    "schema_url": ref.schema_url,
                    "type": ref.type,
                    "id_keys": list(ref.id_keys),
                    "description_keys": list(ref.description_keys),
                }
                for ref in resource.entity_refs
            ]
            self.tables["resources"].add(
                resource_id,
                schema_url,
                known[1],
                *lists,
                resource.dropped_attributes_count,
                refs,
                wire if strindex else None,
            )
            self._resources[wire, schema_url] = known
        return known

    def scope(self, wire: bytes, schema_url: str) -> int:
        """Give the id of a scope; a new one is added to its table."""
        known = self._scopes.get((wire, schema_url))
        if known is None:
            known = _content_id(wire, schema_url)
            scope = InstrumentationScope.FromString(wire)
            lists, strindex = self._split(
                pair.SerializeToString(deterministic=True) for pair in scope.attributes
            )
            self.tables["scopes"].add(
                known,
                schema_url,
                scope.name,
                scope.version,
                *lists,
                scope.dropped_attributes_count,
                wire if strindex else None,
            )
            self._scopes[wire, schema_url] = known
        return known

    def add_traces(self, body: bytes) -> None:
        """Add the spans of a request."""
        for of_resource in ShallowTraces.FromString(body).resource_spans:
            resource = self.resource(of_resource.resource, of_resource.schema_url)
            for of_scope in of_resource.scope_spans:
                scope_id = self.scope(of_scope.scope, of_scope.schema_url)
                for span in of_scope.spans:
                    self._add_span(span, *resource, scope_id)

    def _add_span(self, span: Any, resource_id: int, service: str, scope_id: int) -> None:
        row, trace_id, span_id = self._span_rows, span.trace_id, span.span_id
        start_ns = span.start_time_unix_nano
        self._span_rows += 1
        lists, strindex = self._split(span.attributes)
        for index, event in enumerate(span.events):
            event_lists, event_strindex = self._split(event.attributes)
            strindex = strindex or event_strindex
            self.tables["span_events"].add(
                row,
                trace_id,
                span_id,
                start_ns,
                index,
                event.name,
                event.time_unix_nano,
                *event_lists,
                event.dropped_attributes_count,
            )
        for index, link in enumerate(span.links):
            link_lists, link_strindex = self._split(link.attributes)
            strindex = strindex or link_strindex
            self.tables["span_links"].add(
                row,
                trace_id,
                span_id,
                start_ns,
                index,
                link.trace_id,
                link.span_id,
                link.trace_state,
                link.flags,
                *link_lists,
                link.dropped_attributes_count,
            )
        self.tables["spans"].add(
            row,
            trace_id,
            span_id,
            span.parent_span_id,
            span.trace_state,
            span.flags,
            span.name,
            span.kind,
            start_ns,
            span.end_time_unix_nano,
            span.status.code,
            span.status.message,
            *lists,
            span.dropped_attributes_count,
            span.dropped_events_count,
            span.dropped_links_count,
            resource_id,
            scope_id,
            service,
            span.SerializeToString() if strindex else None,
        )

    def add_logs(self, body: bytes) -> None:
        """Add the log records of a request."""
        for of_resource in ShallowLogs.FromString(body).resource_logs:
            resource = self.resource(of_resource.resource, of_resource.schema_url)
            for of_scope in of_resource.scope_logs:
                scope_id = self.scope(of_scope.scope, of_scope.schema_url)
                for record in of_scope.log_records:
                    self._add_log(record, *resource, scope_id)

    def _add_log(self, record: Any, resource_id: int, service: str, scope_id: int) -> None:
        lists, strindex = self._split(record.attributes)
        self.tables["logs"].add(
            self._log_rows,
            record.trace_id,
            record.span_id,
            record.time_unix_nano,
            record.observed_time_unix_nano,
            record.event_name,
            record.severity_number,
            record.severity_text,
            *split_any(AnyValue.FromString(record.body)),
            *lists,
            record.dropped_attributes_count,
            record.flags,
            resource_id,
            scope_id,
            service,
            record.SerializeToString() if strindex else None,
        )
        self._log_rows += 1


def _content_id(wire: bytes, schema_url: str) -> int:
    """Give the same 64-bit number for the same content, in every process."""
    url = schema_url.encode()
    digest = hashlib.blake2b(b"%d:%b%b" % (len(url), url, wire), digest_size=8).digest()
    return int.from_bytes(digest, "big")
