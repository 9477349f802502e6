"""What is stored comes back field for field."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.store import Store
from tests.otlp.any_values import put
from tests.store.requests import fill_every_field, logs_request, traces_request


def stored(tmp_path: Path, *requests: tuple[str, Message]) -> list[tuple[str, Message]]:
    with Store.open(tmp_path / "store", write=True, create=True) as store:
        store.load((signal, request.SerializeToString()) for signal, request in requests)
        return list(store.requests())


def spans_of(request: ExportTraceServiceRequest) -> dict[bytes, Message]:
    """Each span with its resource and scope around it, by span id."""
    found = {}
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                alone = ExportTraceServiceRequest()
                part = alone.resource_spans.add(
                    resource=of_resource.resource, schema_url=of_resource.schema_url
                )
                part.scope_spans.add(
                    scope=of_scope.scope, schema_url=of_scope.schema_url, spans=[span]
                )
                found[span.span_id] = alone
    return found


def logs_of(request: ExportLogsServiceRequest) -> dict[int, Message]:
    found = {}
    for of_resource in request.resource_logs:
        for of_scope in of_resource.scope_logs:
            for record in of_scope.log_records:
                alone = ExportLogsServiceRequest()
                part = alone.resource_logs.add(
                    resource=of_resource.resource, schema_url=of_resource.schema_url
                )
                part.scope_logs.add(
                    scope=of_scope.scope, schema_url=of_scope.schema_url, log_records=[record]
                )
                found[record.time_unix_nano] = alone
    return found


def unset_fields(message: Message, path: str = "") -> set[str]:
    """Fields that are set nowhere in a message, so that a test of it would prove nothing."""
    known = {field.name for field, _ in message.ListFields()}
    missing = {
        f"{message.DESCRIPTOR.name}.{field.name}"
        for field in message.DESCRIPTOR.fields
        if field.name not in known and field.containing_oneof is None
    }
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                missing |= unset_fields(part, path)
    return missing


def test_every_field_of_spans_comes_back(tmp_path: Path) -> None:
    """A request with every field of OTLP set is read back equal, span by span."""
    request = ExportTraceServiceRequest()
    fill_every_field(request)
    assert unset_fields(request) - {"AnyValue.value"} == {"KeyValue.key_strindex"}
    found: dict[bytes, Message] = {}
    for _, part in stored(tmp_path, ("traces", request)):
        found |= spans_of(part)
    assert found == spans_of(request)
    assert len(found) == 8


def test_every_field_of_logs_comes_back(tmp_path: Path) -> None:
    """The same for log records."""
    request = ExportLogsServiceRequest()
    fill_every_field(request)
    assert unset_fields(request) - {"AnyValue.value"} == {"KeyValue.key_strindex"}
    found: dict[int, Message] = {}
    for _, part in stored(tmp_path, ("logs", request)):
        found |= logs_of(part)
    assert found == logs_of(request)
    assert len(found) == 8


@pytest.mark.parametrize("place", ["span", "event", "link", "resource", "scope"])
def test_string_table_keys_of_spans_come_back(tmp_path: Path, place: str) -> None:
    """Even `key_strindex`, meant for profiles, is not lost, wherever it stands."""
    request = traces_request((1, 1))
    of_scope = request.resource_spans[0].scope_spans[0]
    span = of_scope.spans[0]
    target = {
        "span": lambda: span,
        "event": lambda: span.events.add(name="e"),
        "link": lambda: span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8),
        "resource": lambda: request.resource_spans[0].resource,
        "scope": lambda: of_scope.scope,
    }[place]()
    target.attributes.add(key_strindex=7).value.string_value = "x"
    assert stored(tmp_path, ("traces", request)) == [("traces", request)]


def test_string_table_keys_of_logs_come_back(tmp_path: Path) -> None:
    """The same for a log record."""
    request = logs_request((1, 1))
    record = request.resource_logs[0].scope_logs[0].log_records[0]
    record.attributes.add(key_strindex=7).value.string_value = "x"
    assert stored(tmp_path, ("logs", request)) == [("logs", request)]


def test_values_keep_their_type(tmp_path: Path) -> None:
    """Plain values are read with the type that was sent; of a key given twice the last wins."""
    request = traces_request((1, 1))
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    sent = {
        "text": "3",
        "int": 3,
        "big": 2**63 - 1,
        "small": -(2**63),
        "double": 3.0,
        "tiny": 5e-324,
        "infinite": -math.inf,
        "bool": True,
        "false": False,
        "bytes": b"\x00\xff",
        "list": [1, "1", 1.0, True, None, [b"x"], {"k": {"deep": None}}],
        "map": {"a": {"b": [2**62]}},
        "empty list": [],
        "empty map": {},
        "nothing": None,
        "": "empty key",
        "unicode": "Zoë 🎉\x00",
    }
    for key, value in sent.items():
        put(attributes.add(key=key).value, value)
    attributes.add(key="text").value.string_value = "last"
    attributes.add(key="nan").value.double_value = math.nan
    with Store.open(tmp_path / "store", write=True, create=True) as store:
        store.load([("traces", request.SerializeToString())])
        (trace,) = store.otel_traces()
    found = dict(trace.spans[0].attributes)
    assert math.isnan(found.pop("nan"))
    assert found.pop("number") == 1
    expected = {**sent, "text": "last"}
    assert found == expected
    assert {key: type(value) for key, value in found.items()} == {
        key: type(value) for key, value in expected.items()
    }
