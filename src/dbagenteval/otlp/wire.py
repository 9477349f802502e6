"""Messages with the wire format of OTLP whose inner parts stay bytes until they are wanted.

`resource`, `scope` and each attribute are kept as their bytes: they repeat from span to span, so
the columns remember what a byte string means instead of parsing it again.
Field numbers: trace.proto, logs.proto, common.proto of opentelemetry-proto 1.x.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

__all__ = ["FlatTraces", "ShallowLogs", "ShallowTraces"]

_Field = descriptor_pb2.FieldDescriptorProto
_BYTES, _TEXT, _INT32, _UINT32 = (
    _Field.TYPE_BYTES,
    _Field.TYPE_STRING,
    _Field.TYPE_INT32,
    _Field.TYPE_UINT32,
)
_BOOL, _INT64, _DOUBLE = _Field.TYPE_BOOL, _Field.TYPE_INT64, _Field.TYPE_DOUBLE
_FIXED32, _FIXED64, _MESSAGE = _Field.TYPE_FIXED32, _Field.TYPE_FIXED64, _Field.TYPE_MESSAGE
_PACKAGE = "dbagenteval.shallow"

# Message name to its fields: number, name, type, repeated, message type.
_MESSAGES: dict[str, list[tuple[int, str, Any, bool, str]]] = {
    "Status": [(2, "message", _TEXT, False, ""), (3, "code", _INT32, False, "")],
    "Event": [
        (1, "time_unix_nano", _FIXED64, False, ""),
        (2, "name", _TEXT, False, ""),
        (3, "attributes", _BYTES, True, ""),
        (4, "dropped_attributes_count", _UINT32, False, ""),
    ],
    "Link": [
        (1, "trace_id", _BYTES, False, ""),
        (2, "span_id", _BYTES, False, ""),
        (3, "trace_state", _TEXT, False, ""),
        (4, "attributes", _BYTES, True, ""),
        (5, "dropped_attributes_count", _UINT32, False, ""),
        (6, "flags", _FIXED32, False, ""),
    ],
    "Span": [
        (1, "trace_id", _BYTES, False, ""),
        (2, "span_id", _BYTES, False, ""),
        (3, "trace_state", _TEXT, False, ""),
        (4, "parent_span_id", _BYTES, False, ""),
        (5, "name", _TEXT, False, ""),
        (6, "kind", _INT32, False, ""),
        (7, "start_time_unix_nano", _FIXED64, False, ""),
        (8, "end_time_unix_nano", _FIXED64, False, ""),
        (9, "attributes", _BYTES, True, ""),
        (10, "dropped_attributes_count", _UINT32, False, ""),
        (11, "events", _MESSAGE, True, "Event"),
        (12, "dropped_events_count", _UINT32, False, ""),
        (13, "links", _MESSAGE, True, "Link"),
        (14, "dropped_links_count", _UINT32, False, ""),
        (15, "status", _MESSAGE, False, "Status"),
        (16, "flags", _FIXED32, False, ""),
    ],
    "ScopeSpans": [
        (1, "scope", _BYTES, False, ""),
        (2, "spans", _MESSAGE, True, "Span"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "ResourceSpans": [
        (1, "resource", _BYTES, False, ""),
        (2, "scope_spans", _MESSAGE, True, "ScopeSpans"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "ShallowTraces": [(1, "resource_spans", _MESSAGE, True, "ResourceSpans")],
    "LogRecord": [
        (1, "time_unix_nano", _FIXED64, False, ""),
        (2, "severity_number", _INT32, False, ""),
        (3, "severity_text", _TEXT, False, ""),
        (5, "body", _BYTES, False, ""),
        (6, "attributes", _BYTES, True, ""),
        (7, "dropped_attributes_count", _UINT32, False, ""),
        (8, "flags", _FIXED32, False, ""),
        (9, "trace_id", _BYTES, False, ""),
        (10, "span_id", _BYTES, False, ""),
        (11, "observed_time_unix_nano", _FIXED64, False, ""),
        (12, "event_name", _TEXT, False, ""),
    ],
    "ScopeLogs": [
        (1, "scope", _BYTES, False, ""),
        (2, "log_records", _MESSAGE, True, "LogRecord"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "ResourceLogs": [
        (1, "resource", _BYTES, False, ""),
        (2, "scope_logs", _MESSAGE, True, "ScopeLogs"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "ShallowLogs": [(1, "resource_logs", _MESSAGE, True, "ResourceLogs")],
    "AnyValue": [
        (1, "string_value", _TEXT, False, ""),
        (2, "bool_value", _BOOL, False, ""),
        (3, "int_value", _INT64, False, ""),
        (4, "double_value", _DOUBLE, False, ""),
        (5, "array_value", _BYTES, False, ""),
        (6, "kvlist_value", _BYTES, False, ""),
        (7, "bytes_value", _BYTES, False, ""),
        (8, "string_value_strindex", _INT32, False, ""),
    ],
    "KeyValue": [
        (1, "key", _TEXT, False, ""),
        (2, "value", _MESSAGE, False, "AnyValue"),
        (3, "key_strindex", _INT32, False, ""),
    ],
}


def _with_attributes(message: str) -> list[tuple[int, str, Any, bool, str]]:
    return [
        (number, name, _MESSAGE, True, "KeyValue") if name == "attributes" else field
        for field in _MESSAGES[message]
        for number, name in [field[:2]]
    ]


_MESSAGES |= {
    "FlatEvent": _with_attributes("Event"),
    "FlatLink": _with_attributes("Link"),
    "FlatSpan": [
        (*field[:4], {"Event": "FlatEvent", "Link": "FlatLink"}.get(field[4], field[4]))
        for field in _with_attributes("Span")
    ],
    "FlatScopeSpans": [
        (1, "scope", _BYTES, False, ""),
        (2, "spans", _MESSAGE, True, "FlatSpan"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "FlatResourceSpans": [
        (1, "resource", _BYTES, False, ""),
        (2, "scope_spans", _MESSAGE, True, "FlatScopeSpans"),
        (3, "schema_url", _TEXT, False, ""),
    ],
    "FlatTraces": [(1, "resource_spans", _MESSAGE, True, "FlatResourceSpans")],
}
_OPTIONAL_FIELDS_OF = "AnyValue"


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="dbagenteval/shallow.proto", package=_PACKAGE, syntax="proto3"
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for number, name, kind, repeated, type_name in fields:
            field = message.field.add(
                name=name,
                number=number,
                type=kind,
                label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
            )
            if type_name:
                field.type_name = f".{_PACKAGE}.{type_name}"
            if message_name == _OPTIONAL_FIELDS_OF:  # so that each can be told from its default
                field.oneof_index = len(message.oneof_decl)
                field.proto3_optional = True
                message.oneof_decl.add(name=f"_{name}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call,unused-ignore]
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_classes = _build()
ShallowTraces: Any = _classes["ShallowTraces"]
"""`ExportTraceServiceRequest` with resource, scope and attributes left as bytes."""

FlatTraces: Any = _classes["FlatTraces"]
"""The same with attributes, but arrays and maps in them left as bytes: it doesn't recurse."""

ShallowLogs: Any = _classes["ShallowLogs"]
"""`ExportLogsServiceRequest` with resource, scope, body and attributes left as bytes."""
