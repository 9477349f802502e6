"""Attribute values: from the wire to typed columns and to plain Python values, without loss.

A list of attributes is held as parallel lists: `keys`, `types`, `values`, and `nested`. The type is
the number of the field that is set in `AnyValue` (0 if none is). Text, numbers and booleans are
text in `values`; arrays, maps and bytes are null there and stand in `nested`, one element for each
attribute of such a type, in order: arrays and maps as their protobuf message, bytes as they are.

Source: https://github.com/open-telemetry/opentelemetry-proto (common.proto)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

__all__ = [
    "ARRAY",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "EMPTY",
    "INT",
    "KVLIST",
    "NESTED",
    "NO_VALUE",
    "STRINDEX",
    "STRING",
    "attribute_map",
    "plain_value",
    "read_any",
    "split_any",
    "write_any",
    "write_attributes",
]

EMPTY, STRING, BOOL, INT, DOUBLE, ARRAY, KVLIST, BYTES, STRINDEX = range(9)
NO_VALUE = 255
"""The KeyValue has no AnyValue at all, as opposed to an empty one."""

NESTED = frozenset({ARRAY, KVLIST, BYTES})
_TYPES = {
    "string_value": STRING,
    "bool_value": BOOL,
    "int_value": INT,
    "double_value": DOUBLE,
    "array_value": ARRAY,
    "kvlist_value": KVLIST,
    "bytes_value": BYTES,
    "string_value_strindex": STRINDEX,
}


def split_any(value: AnyValue) -> tuple[int, str | None, bytes | None]:
    """Split a wire value into its type, text and nested bytes, as the columns hold it."""
    which = value.WhichOneof("value")
    if which is None:
        return EMPTY, None, None
    kind = _TYPES[which]
    if kind == STRING:
        return STRING, value.string_value, None
    field = getattr(value, which)
    if kind == BYTES:
        return BYTES, None, field
    if kind in NESTED:
        return kind, None, field.SerializeToString(deterministic=True)
    if kind == BOOL:
        return BOOL, "true" if field else "false", None
    return kind, repr(field), None


def read_any(value: AnyValue) -> Any:
    """Give the plain Python value: array as list, map as dict (last key wins), empty as None."""
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "array_value":
        return [read_any(item) for item in value.array_value.values]
    if which == "kvlist_value":
        return {item.key: read_any(item.value) for item in value.kvlist_value.values}
    return getattr(value, which)


def plain_value(kind: int, text: str | None, nested: bytes | None) -> Any:
    """Give the plain Python value of one stored value.

    Args:
        kind: The type number.
        text: The element of `values`.
        nested: The element of `nested` if the type is one of `NESTED`.
    """
    if kind == STRING:
        return text
    if kind == BOOL:
        return text == "true"
    if kind in (INT, STRINDEX):
        return int(text or 0)
    if kind == DOUBLE:
        return float(text or 0)
    if kind == ARRAY:
        return [read_any(item) for item in ArrayValue.FromString(nested or b"").values]
    if kind == KVLIST:
        pairs = KeyValueList.FromString(nested or b"").values
        return {pair.key: read_any(pair.value) for pair in pairs}
    if kind == BYTES:
        return nested
    return None


def attribute_map(
    keys: Sequence[str], types: Sequence[int], values: Sequence[str | None], nested: Sequence[bytes]
) -> dict[str, Any]:
    """Join parallel lists into a dict of plain values; of a key given twice, the last wins."""
    found: dict[str, Any] = {}
    complex_values = iter(nested)
    for key, kind, text in zip(keys, types, values, strict=True):
        if kind == STRING:
            found[key] = text
        elif kind in NESTED:
            found[key] = plain_value(kind, None, next(complex_values))
        else:
            found[key] = plain_value(kind, text, None)
    return found


def write_any(target: AnyValue, kind: int, text: str | None, nested: bytes | None) -> None:
    """Set the wire value that `split_any` split."""
    if kind == STRING:
        target.string_value = text or ""
    elif kind == BOOL:
        target.bool_value = text == "true"
    elif kind == INT:
        target.int_value = int(text or 0)
    elif kind == DOUBLE:
        target.double_value = float(text or 0)
    elif kind == ARRAY:
        target.array_value.MergeFromString(nested or b"")
        target.array_value.SetInParent()
    elif kind == KVLIST:
        target.kvlist_value.MergeFromString(nested or b"")
        target.kvlist_value.SetInParent()
    elif kind == BYTES:
        target.bytes_value = nested or b""
    elif kind == STRINDEX:
        target.string_value_strindex = int(text or 0)
    elif kind == EMPTY:
        target.SetInParent()


def write_attributes(
    target: Any,
    keys: Sequence[str],
    types: Sequence[int],
    values: Sequence[str | None],
    nested: Sequence[bytes],
) -> None:
    """Append the attributes to a repeated `KeyValue` field, as they were on the wire."""
    complex_values = iter(nested)
    for key, kind, text in zip(keys, types, values, strict=True):
        pair: KeyValue = target.add(key=key)
        if kind != NO_VALUE:
            write_any(pair.value, kind, text, next(complex_values) if kind in NESTED else None)
