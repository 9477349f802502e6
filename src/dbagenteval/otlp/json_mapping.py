"""OTLP/JSON becomes protobuf messages.

Differs from the general protobuf JSON mapping as OTLP says: ids are hex, enums are numbers only,
keys are lowerCamelCase only. What is wrong with one item (an id, an enum name) rejects that span
or log record; what is wrong with the document rejects it whole.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from dbagenteval.errors import MalformedRequest

__all__ = ["MAX_VALUE_DEPTH", "ItemFault", "fill_from_json", "parse_json"]

MAX_VALUE_DEPTH = 30
"""How deep arrays and maps may nest in an attribute; protobuf itself reads little more."""

_ITEM_MESSAGES = frozenset(
    {"opentelemetry.proto.trace.v1.Span", "opentelemetry.proto.logs.v1.LogRecord"}
)
_ANY_VALUE = "opentelemetry.proto.common.v1.AnyValue"
_KEY_VALUE = "opentelemetry.proto.common.v1.KeyValue"
_HEX_FIELDS = frozenset({"trace_id", "span_id", "parent_span_id"})
_INT_RANGES = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_FIXED32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_FIXED64: (0, 2**64 - 1),
}
_INT64 = _INT_RANGES[FieldDescriptor.TYPE_INT64]
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_EXACT_FLOAT = 2**53
_SPECIAL_DOUBLES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_Read = Callable[[Any, str, int], Any]


class ItemFault(Exception):
    """One span or log record can't be taken; the others can."""


def parse_json(body: bytes) -> Any:
    """Parse JSON text.

    Raises:
        MalformedRequest: It isn't valid JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise MalformedRequest(f"the body is not valid JSON ({place})") from error


def fill_from_json(message: Message, document: Any) -> list[str]:
    """Fill a request message from an OTLP/JSON document.

    Args:
        message: An empty export request.
        document: The parsed document.

    Returns:
        Why spans or log records were left out, one reason each.

    Raises:
        MalformedRequest: The document isn't such a request.
    """
    if not isinstance(document, dict):
        raise MalformedRequest(f"expected a JSON object, not {_kind(document)}")
    faults: list[str] = []
    _fill(message, document, "", 0, faults)
    return faults


@cache
def _fields(descriptor: Any) -> dict[str, FieldDescriptor]:
    return {field.json_name: field for field in descriptor.fields}


@cache
def _snake_names(descriptor: Any) -> dict[str, str]:
    return {
        field.name: field.json_name for field in descriptor.fields if field.name != field.json_name
    }


def _fill(
    message: Message, document: dict[str, Any], path: str, depth: int, faults: list[str]
) -> None:
    descriptor = message.DESCRIPTOR
    fields = _fields(descriptor)
    for key, value in document.items():
        field = fields.get(key)
        if field is None:
            _refuse_snake_case(descriptor, key, path)
            continue
        if value is None:
            continue
        where = f"{path}.{key}" if path else key
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if field.is_repeated:
                _fill_list(message, field, value, where, depth, faults)
            else:
                child = getattr(message, field.name)
                child.SetInParent()
                _fill(child, _object(value, where), where, _deeper(field, depth, where), faults)
        elif field.is_repeated:
            read = _reader(field)
            getattr(message, field.name).extend(
                read(item, where, depth) for item in _list(value, where)
            )
        else:
            setattr(message, field.name, _reader(field)(value, where, depth))


def _fill_list(
    message: Message,
    field: FieldDescriptor,
    value: Any,
    where: str,
    depth: int,
    faults: list[str],
) -> None:
    target = getattr(message, field.name)
    if _type_name(field) == _KEY_VALUE:
        _fill_attributes(target, field, _list(value, where), where, depth, faults)
        return
    is_items = _type_name(field) in _ITEM_MESSAGES
    for index, item in enumerate(_list(value, where)):
        place = f"{where}[{index}]"
        child = target.add()
        try:
            _fill(child, _object(item, place), place, _deeper(field, depth, place), faults)
        except ItemFault as fault:
            if not is_items:
                raise
            del target[-1]
            faults.append(str(fault))


def _fill_attributes(
    target: Any,
    field: FieldDescriptor,
    pairs: list[Any],
    where: str,
    depth: int,
    faults: list[str],
) -> None:
    """Fill a list of attributes; most hold one text or number, which is read without detours."""
    if pairs and depth > MAX_VALUE_DEPTH:
        raise _too_deep(where)
    for index, pair in enumerate(pairs):
        if type(pair) is dict and len(pair) == 2:
            key, value = pair.get("key"), pair.get("value")
            if type(key) is str and type(value) is dict and len(value) == 1:
                ((kind, content),) = value.items()
                if kind == "stringValue" and type(content) is str:
                    target.add(key=key).value.string_value = content
                    continue
                if kind == "intValue" and content is not None:
                    number = _read_int(content, f"{where}[{index}]", *_INT64)
                    target.add(key=key).value.int_value = number
                    continue
        place = f"{where}[{index}]"
        _fill(target.add(), _object(pair, place), place, _deeper(field, depth, place), faults)


def _type_name(field: FieldDescriptor) -> str:
    return str(field.message_type.full_name) if field.message_type is not None else ""


def _deeper(field: FieldDescriptor, depth: int, where: str) -> int:
    """Count the nesting of values."""
    if _type_name(field) != _ANY_VALUE:
        return depth
    if depth > MAX_VALUE_DEPTH:
        raise _too_deep(where)
    return depth + 1


def _too_deep(where: str) -> MalformedRequest:
    message = f"values nest deeper than {MAX_VALUE_DEPTH} levels"
    return MalformedRequest(message, field=where[:200])


def _refuse_snake_case(descriptor: Any, key: str, path: str) -> None:
    camel = _snake_names(descriptor).get(key)
    if camel is not None:
        raise MalformedRequest(f"unknown key {key!r}; OTLP/JSON says {camel!r}", field=path)


def _object(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise MalformedRequest(f"expected an object, not {_kind(value)}", field=where)


def _list(value: Any, where: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise MalformedRequest(f"expected an array, not {_kind(value)}", field=where)


def _kind(value: Any) -> str:
    return {
        type(None): "null",
        bool: "a boolean",
        str: "a string",
        list: "an array",
        dict: "an object",
    }.get(type(value), "a number")


@cache
def _reader(field: FieldDescriptor) -> _Read:
    """Choose how to read a field that is no message."""
    if field.type == FieldDescriptor.TYPE_STRING:
        return _read_text
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _read_hex if field.name in _HEX_FIELDS else _read_base64
    if field.type == FieldDescriptor.TYPE_BOOL:
        return _read_bool
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return _read_double
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _read_enum
    low, high = _INT_RANGES[field.type]
    return lambda value, where, _: _read_int(value, where, low, high)


def _read_text(value: Any, where: str, _: int) -> str:
    if isinstance(value, str):
        return value
    raise MalformedRequest(f"expected a string, not {_kind(value)}", field=where)


def _read_bool(value: Any, where: str, _: int) -> bool:
    if isinstance(value, bool):
        return value
    raise MalformedRequest(f"expected a boolean, not {_kind(value)}", field=where)


def _read_int(value: Any, where: str, low: int, high: int) -> int:
    number: int | None = None
    if isinstance(value, str):
        number = int(value) if _INTEGER.fullmatch(value) else None
    elif isinstance(value, float):
        # A larger one may be an integer that lost digits when the text was parsed.
        number = int(value) if value.is_integer() and abs(value) <= _EXACT_FLOAT else None
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    if number is None or not low <= number <= high:
        raise MalformedRequest(f"expected an integer from {low} to {high}", field=where)
    return number


def _read_double(value: Any, where: str, _: int) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        if value in _SPECIAL_DOUBLES:
            return _SPECIAL_DOUBLES[value]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number) and "_" not in value and value == value.strip():
            return number
    raise MalformedRequest("expected a number, NaN, Infinity or -Infinity", field=where)


def _read_enum(value: Any, where: str, _: int) -> int:
    if isinstance(value, str):
        raise ItemFault(f"{_last(where)} must be a number, not a name")
    low, high = _INT_RANGES[FieldDescriptor.TYPE_INT32]
    return _read_int(value, where, low, high)


def _read_hex(value: Any, where: str, _: int) -> bytes:
    text = _read_text(value, where, 0)
    try:
        return bytes.fromhex(text) if " " not in text else _not_hex(where)
    except ValueError:
        return _not_hex(where)


def _not_hex(where: str) -> bytes:
    raise ItemFault(f"{_last(where)} must be hex digits")


def _read_base64(value: Any, where: str, _: int) -> bytes:
    text = _read_text(value, where, 0).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise MalformedRequest("expected base64", field=where) from None


def _last(where: str) -> str:
    return where.rpartition(".")[2]
