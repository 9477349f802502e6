"""Agents' traces without end: copies of the recorded ones, each with ids and faults of its own."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.otlp.decode import JSON_ROOTS, SIGNALS, decode_json

DATA = Path(__file__).parents[1] / "traces" / "data"
STACKS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())
REQUESTS = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
START_NS = 1_700_000_000 * 10**9
APART_NS = 3600 * 10**9

Request = tuple[str, Any]
"""Signal and protobuf request."""


@cache
def recorded(stack: str) -> list[Request]:
    """Give the requests of a capture."""
    found = []
    for path in sorted((DATA / stack).glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            for signal in SIGNALS:
                if JSON_ROOTS[signal].encode() in line:
                    body = decode_json(signal, line).body
                    found.append((signal, REQUESTS[signal].FromString(body)))
    return found


def items(request: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Give resource part, scope part and span or log record, for each of these."""
    of_resources = getattr(request, "resource_spans", None) or getattr(request, "resource_logs", ())
    for of_resource in of_resources:
        for of_scope in getattr(of_resource, "scope_spans", None) or of_resource.scope_logs:
            for item in getattr(of_scope, "spans", None) or of_scope.log_records:
                yield of_resource, of_scope, item


def generated(number: int) -> list[Request]:
    """Give a copy of a capture, the same for the same number.

    Each has ids of its own and an hour of its own. Half of them have a fault: starts that coincide,
    clocks that differ, parents that are unknown, ends that are missing; some have lost spans, and
    in some log records have the same time.
    """
    chance = random.Random(number)
    copies = []
    for signal, request in recorded(STACKS[number % len(STACKS)]):
        copy = type(request)()
        copy.CopyFrom(request)
        copies.append((signal, copy))
    _move(copies, number)
    spans = [item for signal, copy in copies if signal == "traces" for _, _, item in items(copy)]
    if chance.random() < 0.5:
        fault = chance.choice((_coincide, _skew, _orphan, _unfinished))
        for span in chance.sample(spans, k=max(2, len(spans) // 5)):
            fault(span, chance.choice(spans), chance)
    if number % 3 == 0:
        _round_log_times(copies)
    return [part for signal, copy in copies for part in _split(signal, copy, chance)]


def _move(copies: list[Request], number: int) -> None:
    """Give ids and an hour of its own to a copy."""
    first = min(
        item.start_time_unix_nano
        for signal, c in copies
        if signal == "traces"
        for _, _, item in items(c)
    )
    shift = START_NS + number * APART_NS - first
    salt = number.to_bytes(4, "big")
    for signal, copy in copies:
        for _, _, item in items(copy):
            item.trace_id = _salted(item.trace_id, salt)
            item.span_id = _salted(item.span_id, salt)
            if signal == "logs":
                _shift(item, ("time_unix_nano", "observed_time_unix_nano"), shift)
                continue
            item.parent_span_id = _salted(item.parent_span_id, salt)
            _shift(item, ("start_time_unix_nano", "end_time_unix_nano"), shift)
            for event in item.events:
                _shift(event, ("time_unix_nano",), shift)
            for link in item.links:
                link.trace_id, link.span_id = (
                    _salted(link.trace_id, salt),
                    _salted(link.span_id, salt),
                )


def _salted(wire: bytes, salt: bytes) -> bytes:
    return salt + wire[len(salt) :] if wire else wire


def _shift(item: Any, fields: tuple[str, ...], by_ns: int) -> None:
    for field in fields:
        if getattr(item, field):
            setattr(item, field, getattr(item, field) + by_ns)


def _coincide(span: Any, other: Any, chance: random.Random) -> None:
    span.start_time_unix_nano = other.start_time_unix_nano


def _skew(span: Any, other: Any, chance: random.Random) -> None:
    by_ns = chance.choice((-1, 1)) * chance.choice((10**6, 10**9, 60 * 10**9))
    _shift(span, ("start_time_unix_nano", "end_time_unix_nano"), by_ns)


def _orphan(span: Any, other: Any, chance: random.Random) -> None:
    span.parent_span_id = chance.randbytes(8)


def _unfinished(span: Any, other: Any, chance: random.Random) -> None:
    span.end_time_unix_nano = 0


def _round_log_times(copies: list[Request]) -> None:
    """Leave whole seconds, so that log records share their time."""
    for signal, copy in copies:
        for _, _, record in items(copy) if signal == "logs" else ():
            for field in ("time_unix_nano", "observed_time_unix_nano"):
                setattr(record, field, getattr(record, field) // 10**9 * 10**9)


def _split(signal: str, request: Any, chance: random.Random) -> Iterator[Request]:
    """Give requests of a few items each, some spans lost."""
    losing = signal == "traces" and chance.random() < 0.2
    part, count = REQUESTS[signal](), 0
    for of_resource, of_scope, item in items(request):
        if losing and chance.random() < 0.1:
            continue
        _append(signal, part, of_resource, of_scope, item)
        count += 1
        if count == 5:
            yield signal, part
            part, count = REQUESTS[signal](), 0
    if count:
        yield signal, part


def _append(signal: str, request: Any, of_resource: Any, of_scope: Any, item: Any) -> None:
    if signal == "traces":
        resource_part = request.resource_spans.add(
            resource=of_resource.resource, schema_url=of_resource.schema_url
        )
        scope_part = resource_part.scope_spans.add(
            scope=of_scope.scope, schema_url=of_scope.schema_url
        )
        scope_part.spans.append(item)
    else:
        resource_part = request.resource_logs.add(
            resource=of_resource.resource, schema_url=of_resource.schema_url
        )
        scope_part = resource_part.scope_logs.add(
            scope=of_scope.scope, schema_url=of_scope.schema_url
        )
        scope_part.log_records.append(item)


def alone(signal: str, request: Any) -> Iterator[Request]:
    """Split a request into one of each item."""
    for of_resource, of_scope, item in items(request):
        part = REQUESTS[signal]()
        _append(signal, part, of_resource, of_scope, item)
        yield signal, part
