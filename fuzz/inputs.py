"""Inputs of `target.py`: some to start from, and how one becomes another."""

from __future__ import annotations

import base64
import gzip
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message

from dbagenteval.errors import ExportRefused
from dbagenteval.otlp.compression import decompress
from dbagenteval.otlp.decode import JSON
from fuzz.mutation import mutate_json, mutate_protobuf
from fuzz.target import LIMIT, SIGNALS, Choice
from tests.store.requests import fill_every_field, logs_request, traces_request

HEX_KEYS = {"traceId", "spanId", "parentSpanId"}
MutateBytes = Callable[[bytes], bytes]


def compress(body: bytes, encoding: str) -> bytes:
    """Undo `decompress`."""
    if encoding == "gzip":
        return gzip.compress(body, 1)
    if encoding == "deflate":
        return zlib.compress(body, 1)
    if encoding == "zstd":
        return bytes(pa.compress(body, codec="zstd", asbytes=True))
    return body


def mutated(data: bytes, seed: int, mutate_bytes: MutateBytes) -> bytes:
    """Change an input: mostly a field or node of its request, else bytes of it."""
    chance = random.Random(seed)
    if len(data) < 2 or chance.random() < 0.1:
        return mutate_bytes(data)
    first = chance.randrange(256) if chance.random() < 0.05 else data[0]
    choice = Choice.of(data[0])
    if choice.encoding and chance.random() < 0.2:
        return bytes([first]) + mutate_bytes(data[1:])
    try:
        body = decompress(data[1:], choice.encoding, LIMIT)
    except ExportRefused:
        body = b""
    for _ in range(chance.choice((1, 1, 2, 5))):
        body = _mutated_body(choice, body, chance, mutate_bytes)
    return bytes([first]) + compress(body, Choice.of(first).encoding)


def _mutated_body(
    choice: Choice, body: bytes, chance: random.Random, mutate_bytes: MutateBytes
) -> bytes:
    if chance.random() < 0.15:
        return mutate_bytes(body)
    if choice.media == JSON:
        return mutate_json(body, chance)
    request = SIGNALS[choice.signal]()
    try:
        request.ParseFromString(body)
    except DecodeError:
        return mutate_bytes(body)
    mutate_protobuf(request, chance, mutate_bytes)
    return request.SerializeToString()


def seeds() -> list[bytes]:
    """Give requests of both signals, empty, small and with every field, in every way to send."""
    requests = {
        "traces": [SIGNALS["traces"](), traces_request((1, 1), (1, 2))],
        "logs": [SIGNALS["logs"](), logs_request((1, 1), (0, 0))],
    }
    for signal, some in requests.items():
        full = SIGNALS[signal]()
        fill_every_field(full)
        some.append(full)
    found = []
    for byte in range(64):
        choice = Choice.of(byte)
        for request in requests[choice.signal]:
            body = as_json(request) if choice.media == JSON else request.SerializeToString()
            found.append(bytes([byte]) + compress(body, choice.encoding))
    return found


def as_json(request: Message) -> bytes:
    """Write a request as OTLP/JSON: enums are numbers, ids hex."""
    return json.dumps(_with_hex(MessageToDict(request, use_integers_for_enums=True))).encode()


def _with_hex(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_hex(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: base64.b64decode(value).hex() if key in HEX_KEYS else _with_hex(value)
        for key, value in node.items()
    }
