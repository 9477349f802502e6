"""Mutate OTLP requests as what they are: protobuf fields and JSON nodes, not only bytes.

Bytes changed by chance seldom get past a parser; here most changes give a request that is read and
is unusual in one place.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

Bytes = Callable[[bytes], bytes]

_NUMBERS = (0, 1, -1, 5, 127, 2**31 - 1, -(2**31), 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63),
            2**64 - 1, 2**64, 10**30)  # fmt: skip
_TEXTS = ("", "\0", "\ud800", "\u00e9", "x" * 300, "NaN", "-Infinity", "1e400", "0x1", " 7", "٣",
          "00" * 16, "ab" * 16, "AB" * 8, "zz" * 8, "====", "YWJj", "a@b.example", "true", "null",
          "+49 30 1234567", "4111 1111 1111 1111", "SPAN_KIND_SERVER")  # fmt: skip
_KEYS = ("resourceSpans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords", "key",
         "value", "stringValue", "intValue", "doubleValue", "boolValue", "bytesValue", "arrayValue",
         "kvlistValue", "values", "attributes", "traceId", "spanId", "parentSpanId", "kind", "name",
         "events", "links", "status", "code", "body", "severityNumber", "timeUnixNano", "trace_id",
         "startTimeUnixNano", "entityRefs", "idKeys", "flags", "keyStrindex",
         "unknown")  # fmt: skip


def mutate_protobuf(message: Message, chance: random.Random, mutate_bytes: Bytes) -> None:
    """Change one field somewhere in a message."""
    while True:
        field = chance.choice(message.DESCRIPTOR.fields)
        present = [
            child for part, value in message.ListFields() for child in _children(part, value)
        ]
        if present and chance.random() < 0.8:
            message = chance.choice(present)
            continue
        _mutate_field(message, field, chance, mutate_bytes)
        return


def _children(field: FieldDescriptor, value: Any) -> list[Message]:
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return []
    return list(value) if field.is_repeated else [value]


def _mutate_field(
    message: Message, field: FieldDescriptor, chance: random.Random, mutate_bytes: Bytes
) -> None:
    if chance.random() < 0.15:
        message.ClearField(field.name)
        return
    value = getattr(message, field.name)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        if not field.is_repeated:
            value.SetInParent()
        elif value and chance.random() < 0.7:
            value.add().CopyFrom(chance.choice(value))
        else:
            value.add()
    elif field.is_repeated:
        value.append(chance.choice(_TEXTS[3:]))
    elif field.type == FieldDescriptor.TYPE_STRING:
        text = mutate_bytes(value.encode()) if chance.random() < 0.5 else None
        setattr(
            message, field.name, text.decode(errors="ignore") if text else chance.choice(_TEXTS[3:])
        )
    elif field.type == FieldDescriptor.TYPE_BYTES:
        sizes = (0, 7, 8, 9, 15, 16, 17)
        setattr(message, field.name, chance.choice((bytes, chance.randbytes))(chance.choice(sizes)))
    else:
        _set_number(message, field.name, chance)


def _set_number(message: Message, name: str, chance: random.Random) -> None:
    number = chance.choice((*_NUMBERS, float("nan"), float("-inf"), -0.0, 5e-324, True))
    try:
        setattr(message, name, number)
    except (ValueError, TypeError, OverflowError):  # out of the field's range
        setattr(message, name, type(getattr(message, name))(1))


def mutate_json(text: bytes, chance: random.Random) -> bytes:
    """Change one node of a JSON document; text that is none is given back.

    A document may come out that isn't valid: surrogates, double keys and numbers out of range are
    written as they are.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    nodes = list(_places(document)) if isinstance(document, dict | list) else []
    if not nodes:
        return b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}'
    holder, key = chance.choice(nodes)
    roll = chance.random()
    if roll < 0.4:
        holder[key] = _any_node(chance)
    elif roll < 0.6:
        other, other_key = chance.choice(nodes)
        holder[key] = json.loads(json.dumps(other[other_key]))
    elif roll < 0.75:
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    else:
        holder[chance.choice(_KEYS)] = holder.pop(key)
    if chance.random() < 0.02:
        depth = chance.choice((5, 29, 31, 100, 3000))
        return b'{"resourceSpans":' + b"[" * depth + b"]" * depth + b"}"
    return json.dumps(document, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")


def _places(node: Any) -> Any:
    """Give the holder and key or index of every node below the root."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _any_node(chance: random.Random) -> Any:
    return chance.choice(
        (
            None,
            chance.random() < 0.5,
            chance.choice(_NUMBERS),
            str(chance.choice(_NUMBERS)),
            chance.choice(_TEXTS),
            chance.choice((0.5, -0.0, 1e300, float("nan"), float("inf"))),
            [],
            {},
            [{}],
            {chance.choice(_KEYS): chance.choice(_TEXTS)},
            {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "k"}]}}]}},
        )
    )
