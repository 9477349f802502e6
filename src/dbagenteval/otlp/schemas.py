"""The columns of the store, a table for each kind of thing in a request."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["SCHEMAS"]

_BLOB, _TEXT, _U8, _U32, _U64, _I32 = (
    pa.binary(),
    pa.string(),
    pa.uint8(),
    pa.uint32(),
    pa.uint64(),
    pa.int32(),
)
_ATTRIBUTES = [
    ("attr_keys", pa.list_(_TEXT)),
    ("attr_types", pa.list_(_U8)),
    ("attr_values", pa.list_(_TEXT)),
    ("attr_nested", pa.list_(_BLOB)),
    ("dropped_attributes_count", _U32),
]
_ENTITY_REF = pa.struct(
    [
        ("schema_url", _TEXT),
        ("type", _TEXT),
        ("id_keys", pa.list_(_TEXT)),
        ("description_keys", pa.list_(_TEXT)),
    ]
)
SCHEMAS: dict[str, pa.Schema] = {
    "spans": pa.schema(
        [
            ("row", _U32),
            ("trace_id", _BLOB),
            ("span_id", _BLOB),
            ("parent_span_id", _BLOB),
            ("trace_state", _TEXT),
            ("flags", _U32),
            ("name", _TEXT),
            ("kind", _I32),
            ("start_ns", _U64),
            ("end_ns", _U64),
            ("status_code", _I32),
            ("status_message", _TEXT),
            *_ATTRIBUTES,
            ("dropped_events_count", _U32),
            ("dropped_links_count", _U32),
            ("resource_id", _U64),
            ("scope_id", _U64),
            ("service", _TEXT),
            ("strindex", _BLOB),
        ]
    ),
    "span_events": pa.schema(
        [
            ("row", _U32),
            ("trace_id", _BLOB),
            ("span_id", _BLOB),
            ("span_start_ns", _U64),
            ("event_index", _U32),
            ("name", _TEXT),
            ("time_ns", _U64),
            *_ATTRIBUTES,
        ]
    ),
    "span_links": pa.schema(
        [
            ("row", _U32),
            ("trace_id", _BLOB),
            ("span_id", _BLOB),
            ("span_start_ns", _U64),
            ("link_index", _U32),
            ("linked_trace_id", _BLOB),
            ("linked_span_id", _BLOB),
            ("trace_state", _TEXT),
            ("flags", _U32),
            *_ATTRIBUTES,
        ]
    ),
    "logs": pa.schema(
        [
            ("row", _U32),
            ("trace_id", _BLOB),
            ("span_id", _BLOB),
            ("time_ns", _U64),
            ("observed_ns", _U64),
            ("event_name", _TEXT),
            ("severity_number", _I32),
            ("severity_text", _TEXT),
            ("body_type", _U8),
            ("body_value", _TEXT),
            ("body_nested", _BLOB),
            *_ATTRIBUTES,
            ("flags", _U32),
            ("resource_id", _U64),
            ("scope_id", _U64),
            ("service", _TEXT),
            ("strindex", _BLOB),
        ]
    ),
    "resources": pa.schema(
        [
            ("resource_id", _U64),
            ("schema_url", _TEXT),
            ("service", _TEXT),
            *_ATTRIBUTES,
            ("entity_refs", pa.list_(_ENTITY_REF)),
            ("strindex", _BLOB),
        ]
    ),
    "scopes": pa.schema(
        [
            ("scope_id", _U64),
            ("schema_url", _TEXT),
            ("name", _TEXT),
            ("version", _TEXT),
            *_ATTRIBUTES,
            ("strindex", _BLOB),
        ]
    ),
}
"""The Arrow schema for each table of the store.

`row` numbers the spans of a batch (for events and links: the span they belong to) and isn't stored.
`strindex` is null but for messages that use the string-table fields meant for profiles, which no
column holds: it is then the whole message.
"""
