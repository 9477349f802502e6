"""Set an `AnyValue` of OTLP to any Python value that it can hold."""

from __future__ import annotations

from typing import Any


def put(target: Any, value: Any) -> None:
    """Set an `AnyValue`; None makes it present and empty."""
    if value is None:
        target.SetInParent()
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int):
        target.int_value = value
    elif isinstance(value, float):
        target.double_value = value
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, bytes):
        target.bytes_value = value
    elif isinstance(value, list):
        target.array_value.SetInParent()
        for item in value:
            put(target.array_value.values.add(), item)
    else:
        target.kvlist_value.SetInParent()
        for key, item in value.items():
            put(target.kvlist_value.values.add(key=key).value, item)
