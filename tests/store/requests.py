"""Export requests for tests: one with every field of OTLP set, and plain ones by number."""

from __future__ import annotations

import itertools
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ANY_VALUE = "opentelemetry.proto.common.v1.AnyValue"


def fill_every_field(message: Message, numbers: Any = None, depth: int = 0) -> None:
    """Set every field of a message and of its parts to a value of its own.

    An `AnyValue` is set to each of its kinds in turn; nested values stop after three levels.
    """
    numbers = numbers or itertools.count(1)
    if message.DESCRIPTOR.full_name == ANY_VALUE:
        _fill_value(message, numbers, depth)
        return
    for field in message.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if not field.is_repeated:
                fill_every_field(getattr(message, field.name), numbers, depth + 1)
                continue
            count = 9 if field.message_type.name == "KeyValue" else 2
            for _ in range(count):
                fill_every_field(getattr(message, field.name).add(), numbers, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend([f"text {next(numbers)}", f"text {next(numbers)}"])
        else:
            setattr(message, field.name, _scalar(field, next(numbers)))


def _fill_value(value: Any, numbers: Any, depth: int) -> None:  # noqa: C901 a branch a kind
    number = next(numbers)
    kinds = ["string", "bool", "int", "double", "bytes", "strindex", "empty", "array", "kvlist"]
    kind = kinds[number % (9 if depth < 8 else 7)]
    if kind == "string":
        value.string_value = f"text {number}"
    elif kind == "bool":
        value.bool_value = number % 2 == 0
    elif kind == "int":
        value.int_value = -(2**63) + number
    elif kind == "double":
        value.double_value = number / 7
    elif kind == "bytes":
        value.bytes_value = b"\x00\xff" + str(number).encode()
    elif kind == "strindex":
        value.string_value_strindex = number
    elif kind == "array":
        for _ in range(3):
            fill_every_field(value.array_value.values.add(), numbers, depth + 3)
    elif kind == "kvlist":
        for _ in range(2):
            pair = value.kvlist_value.values.add(key=f"key {next(numbers)}")
            fill_every_field(pair.value, numbers, depth + 3)
    else:
        value.SetInParent()


def _scalar(field: FieldDescriptor, number: int) -> Any:
    if field.name == "key_strindex":
        return 0  # see `with_string_table`
    if field.type == FieldDescriptor.TYPE_BYTES:
        return number.to_bytes(16 if "trace" in field.name else 8, "big")
    if field.type == FieldDescriptor.TYPE_STRING:
        return f"text {number}"
    if field.type == FieldDescriptor.TYPE_ENUM:
        return 1 + number % (len(field.enum_type.values) - 1)
    if field.type == FieldDescriptor.TYPE_FIXED64:
        return 2**64 - number
    return 2**31 + number


def traces_request(
    *spans: tuple[int, int], service: str = "shop", start_ns: int = 10**18, parent: int = 0
) -> ExportTraceServiceRequest:
    """Build a request with the spans of these (trace, span) numbers, a millisecond apart."""
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    of_resource.resource.attributes.add(key="service.name").value.string_value = service
    of_scope = of_resource.scope_spans.add()
    of_scope.scope.name = "test"
    for index, (trace, span) in enumerate(spans):
        added = of_scope.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=span.to_bytes(8, "big"),
            parent_span_id=parent.to_bytes(8, "big") if parent else b"",
            name=f"span {span}",
            start_time_unix_nano=start_ns + index * 10**6,
            end_time_unix_nano=start_ns + index * 10**6 + 500,
        )
        added.attributes.add(key="number").value.int_value = span
    return request


def logs_request(
    *records: tuple[int, int], start_ns: int = 10**18, text: str = "log"
) -> ExportLogsServiceRequest:
    """Build a request with a log record for each (trace, span); trace 0 means none."""
    request = ExportLogsServiceRequest()
    of_resource = request.resource_logs.add()
    of_resource.resource.attributes.add(key="service.name").value.string_value = "shop"
    of_scope = of_resource.scope_logs.add()
    of_scope.scope.name = "test"
    for index, (trace, span) in enumerate(records):
        record = of_scope.log_records.add(time_unix_nano=start_ns + index)
        record.body.string_value = f"{text} {index}"
        if trace:
            record.trace_id = trace.to_bytes(16, "big")
            record.span_id = span.to_bytes(8, "big")
    return request
