"""What must not be kept is replaced wherever it stands, and the rest is left as it is."""

from __future__ import annotations

import math
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.errors import UserError
from dbagenteval.otlp.redaction import DETECTORS, Redactor
from tests.store.requests import fill_every_field, traces_request

SECRETS = {
    "email": ["zoe.b+x@mail.example.co.uk", "a@b.io"],
    "phone": ["+49 30 1234567", "+1 (555) 010-9999", "(030) 123-45678", "+442071838750"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"],
    "secret": [
        "sk-abcdefghijklmnop1234",
        "ghp_" + "a1B2" * 9,
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc-def",
        "xoxb-1234567890-abc",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
}
HARMLESS = [
    "SELECT sum(total) FROM orders WHERE id IN (1234567, 7654321) AND day = '2026-11-30'",
    '[{"total": 57120.73, "orders": 11957, "rate": 0.106}]',
    "1790000000025000000",
    "2026-11-30T19:26:28.123456+00:00",
    "4111 1111 1111 1112",
    "a @ b, user@localhost",
    "10.0.0.1:5432, 192.168.100.200",
    "550e8400-e29b-41d4-a716-446655440000",
    "+5 and -3 and (12) items",
]


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in SECRETS.items() for text in texts]
)
def test_detectors_find(name: str, text: str) -> None:
    """Alone and within a sentence, without taking the sentence with it."""
    assert DETECTORS[name](text) == f"[REDACTED:{name}]"
    assert DETECTORS[name](f'call "{text}" now') == f'call "[REDACTED:{name}]" now'


@pytest.mark.parametrize("text", HARMLESS)
def test_detectors_leave_evidence_alone(text: str) -> None:
    """SQL, rows, times and ids are what an evaluation rests on."""
    for name, replace in DETECTORS.items():
        assert replace(text) == text, name


def test_credentials_in_urls() -> None:
    """The host stays readable."""
    found = DETECTORS["secret"]("postgresql://app:hunter2@db.internal/shop")
    assert found == "postgresql://[REDACTED:secret]@db.internal/shop"


NEEDLE = "needle@example.com"


def strings_of(message: object) -> str:
    return str(message)


def test_every_text_of_a_span_is_searched() -> None:
    """Wherever an attribute or text field can stand, at any depth."""
    request = ExportTraceServiceRequest()
    fill_every_field(request)
    of_resource = request.resource_spans[0]
    span = of_resource.scope_spans[0].spans[0]
    owners = [
        of_resource.resource,
        of_resource.scope_spans[0].scope,
        span,
        span.events[0],
        span.links[0],
    ]
    for owner in owners:
        owner.attributes.add(key="a").value.string_value = NEEDLE
        deep = owner.attributes.add(key="b").value.array_value.values.add()
        pair = deep.kvlist_value.values.add(key="c")
        pair.value.array_value.values.add().string_value = f"deep {NEEDLE} text"
        owner.attributes.add(key="d").value.bytes_value = NEEDLE.encode()
    span.name = span.status.message = span.events[0].name = NEEDLE
    before = ExportTraceServiceRequest()
    before.CopyFrom(request)
    body = Redactor([], ["email"], {}).redact("traces", request.SerializeToString())
    assert NEEDLE.encode() not in body
    assert str(ExportTraceServiceRequest.FromString(body)).count("[REDACTED") == 5 * 3 + 3


def test_every_text_of_a_log_record_is_searched() -> None:
    """The body too."""
    request = ExportLogsServiceRequest()
    of_resource = request.resource_logs.add()
    record = of_resource.scope_logs.add().log_records.add()
    record.body.kvlist_value.values.add(key="k").value.string_value = NEEDLE
    record.attributes.add(key="a").value.string_value = NEEDLE
    of_resource.resource.attributes.add(key="a").value.string_value = NEEDLE
    body = Redactor([], ["email"], {}).redact("logs", request.SerializeToString())
    assert NEEDLE.encode() not in body
    assert ExportLogsServiceRequest.FromString(body).resource_logs[0].scope_logs[0].log_records


def test_keys_take_the_whole_value() -> None:
    """Of any type, and inside maps."""
    request = traces_request((1, 1))
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    attributes.add(key="enduser.id").value.int_value = 7
    attributes.add(key="enduser.role").value.array_value.values.add().string_value = "admin"
    inner = attributes.add(key="map").value.kvlist_value.values.add(key="enduser.id")
    inner.value.string_value = "x"
    attributes.add(key="other.enduser.id").value.string_value = "stays"
    body = Redactor(["enduser.*"], [], {}).redact("traces", request.SerializeToString())
    span = ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans[0]
    found = {pair.key: pair.value for pair in span.attributes}
    assert found["enduser.id"].string_value == "[REDACTED]"
    assert found["enduser.role"].string_value == "[REDACTED]"
    assert found["map"].kvlist_value.values[0].value.string_value == "[REDACTED]"
    assert found["other.enduser.id"].string_value == "stays"
    assert found["number"].int_value == 1


def test_card_numbers_sent_as_integers_go_too() -> None:
    """A number is a text with another type."""
    request = traces_request((1, 1))
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    attributes.add(key="pan").value.int_value = 4111111111111111
    body = Redactor([], ["card"], {}).redact("traces", request.SerializeToString())
    assert b"[REDACTED:card]" in body


def test_own_patterns() -> None:
    """By name, and a wrong one is a fault at the start."""
    request = traces_request((1, 1))
    request.resource_spans[0].scope_spans[0].spans[0].name = "ask E-123456 twice E-654321"
    redactor = Redactor([], [], {"employee": r"E-\d{6}"})
    body = redactor.redact("traces", request.SerializeToString())
    assert b"ask [REDACTED:employee] twice [REDACTED:employee]" in body
    with pytest.raises(UserError, match="pattern 'x'"):
        Redactor([], [], {"x": "("})
    with pytest.raises(UserError, match="unknown detector 'mail'"):
        Redactor([], ["mail"], {})


def test_a_request_without_findings_is_unchanged() -> None:
    """Field for field."""
    request = ExportTraceServiceRequest()
    fill_every_field(request)
    body = Redactor(["nothing"], list(DETECTORS), {}).redact("traces", request.SerializeToString())
    assert ExportTraceServiceRequest.FromString(body) == request


def texts_filled(message: Any, text: str) -> int:
    """Put a text into every text field of a message, below it too; give how many there are."""
    count = 0
    for field in message.DESCRIPTOR.fields:
        if field.name.endswith("_value") or field.name == "value":
            continue  # values have tests of their own
        if field.message_type is not None:
            parts = getattr(message, field.name)
            count += texts_filled(parts.add() if hasattr(parts, "add") else parts, text)
        elif field.type == field.TYPE_STRING:
            found = getattr(message, field.name)
            if isinstance(found, str):
                setattr(message, field.name, text)
            else:
                found.append(text)
            count += 1
    return count


@pytest.mark.parametrize(
    ("signal", "request_class"),
    [("traces", ExportTraceServiceRequest), ("logs", ExportLogsServiceRequest)],
)
def test_no_text_field_is_passed_over(signal: str, request_class: Any) -> None:
    """Keys, scope names, trace states, schema URLs, severities, event names, entities."""
    request = request_class()
    count = texts_filled(request, NEEDLE)
    assert count > 10
    clean = Redactor([], ["email"], {}).redact(signal, request.SerializeToString())
    assert NEEDLE.encode() not in clean
    assert clean.count(b"[REDACTED:email]") == count


def test_unknown_fields_are_dropped() -> None:
    """What a newer exporter sends in fields we don't know can't be searched."""
    known = traces_request().SerializeToString()
    unknown = b"\xfa\x07" + bytes([len(NEEDLE)]) + NEEDLE.encode()
    assert Redactor([], ["email"], {}).redact("traces", known + unknown) == known


@pytest.mark.parametrize("rule", ["enduser.*", "enduser.id", "ENDUSER.ID", "*.id"])
def test_keys_match_in_any_case_and_by_path_in_maps(rule: str) -> None:
    """A rule for `a.b` also takes `b` in the map `a`, and what lists hold."""
    request = ExportTraceServiceRequest()
    attributes = request.resource_spans.add().resource.attributes
    attributes.add(key="EndUser.Id").value.string_value = NEEDLE
    of_map = attributes.add(key="enduser").value.kvlist_value.values
    of_map.add(key="id").value.string_value = NEEDLE
    of_list = attributes.add(key="enduser").value.array_value.values
    of_list.add().kvlist_value.values.add(key="id").value.string_value = NEEDLE
    attributes.add(key="id").value.string_value = "kept"
    clean = Redactor([rule], [], {}).redact("traces", request.SerializeToString())
    assert NEEDLE.encode() not in clean
    assert clean.count(b"[REDACTED]") == 3
    assert b"kept" in clean


def test_card_numbers_sent_as_doubles_go_too() -> None:
    """JavaScript knows no other numbers; those that are no card numbers stay as they are."""
    request = ExportTraceServiceRequest()
    attributes = request.resource_spans.add().resource.attributes
    attributes.add(key="a").value.double_value = 4111111111111111.0
    for number in (math.nan, math.inf, -math.inf, 0.106, 1e300, 4111111111111112.0):
        attributes.add(key="b").value.double_value = number
    found = ExportTraceServiceRequest.FromString(
        Redactor([], ["card"], {}).redact("traces", request.SerializeToString())
    )
    values = [pair.value for pair in found.resource_spans[0].resource.attributes]
    assert values[0].string_value == "[REDACTED:card]"
    assert all(value.HasField("double_value") for value in values[1:])
