"""OTLP/JSON is read as OTLP says, not as protobuf's general JSON mapping says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.errors import MalformedRequest
from dbagenteval.otlp.decode import Decoded, decode_json

TRACE_ID = "5b8efff798038103d269b633813fc60c"
SPAN_ID = "eee19b7ec3c1b174"


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    full = [{"traceId": TRACE_ID, "spanId": SPAN_ID, "name": "n", **span} for span in spans]
    return {"resourceSpans": [{"scopeSpans": [{"spans": full}]}]}


def decode(document: Any, signal: str = "traces") -> Decoded:
    return decode_json(signal, json.dumps(document).encode())


def span_of(document: Any) -> Any:
    decoded = decode(document)
    assert decoded.rejected == 0, decoded.message
    message = ExportTraceServiceRequest.FromString(decoded.body)
    return message.resource_spans[0].scope_spans[0].spans[0]


def value_of(value: Any) -> Any:
    return span_of(request({"attributes": [{"key": "k", "value": value}]})).attributes[0].value


def test_ids_are_hex_in_any_case() -> None:
    """Upper and lower case, in spans, links and log records."""
    link = {"traceId": TRACE_ID.upper(), "spanId": SPAN_ID}
    span = span_of(request({"traceId": TRACE_ID.upper(), "parentSpanId": SPAN_ID, "links": [link]}))
    assert span.trace_id.hex() == TRACE_ID
    assert span.parent_span_id.hex() == SPAN_ID
    assert span.links[0].trace_id.hex() == TRACE_ID
    record = {"traceId": TRACE_ID, "spanId": SPAN_ID.upper()}
    decoded = decode({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}, "logs")
    log = ExportLogsServiceRequest.FromString(decoded.body).resource_logs[0]
    assert log.scope_logs[0].log_records[0].span_id.hex() == SPAN_ID


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"traceId": "W47/95gDgQPSabYzgT/GDA=="}, "traceId must be hex digits"),
        ({"spanId": "7uGbfsPBsXQ="}, "spanId must be hex digits"),
        ({"parentSpanId": "7uGbfsPBsXQ="}, "parentSpanId must be hex digits"),
        ({"links": [{"traceId": "W47/95gDgQPSabYzgT/GDA=="}]}, "traceId must be hex digits"),
        ({"traceId": "5b 8efff798038103d269b633813fc60c"}, "traceId must be hex digits"),
        ({"traceId": "5b8e"}, "trace id has 2 bytes, not 16"),
        ({"traceId": ""}, "trace id has 0 bytes, not 16"),
        ({"traceId": "0" * 32}, "trace id is all zero"),
        ({"spanId": "0" * 16}, "span id is all zero"),
        ({"parentSpanId": "abcd"}, "parent span id has 2 bytes, not 8"),
        ({"kind": "SPAN_KIND_SERVER"}, "kind must be a number, not a name"),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "code must be a number, not a name"),
    ],
)
def test_a_fault_in_one_span_rejects_that_span(fault: dict[str, Any], reason: str) -> None:
    """Its neighbours on both sides are taken, and the reason is given."""
    decoded = decode(request({"name": "before"}, fault, {"name": "after"}))
    assert (decoded.accepted, decoded.rejected) == (2, 1)
    assert decoded.message == f"1 spans rejected: {reason} (1)"
    message = ExportTraceServiceRequest.FromString(decoded.body)
    names = [span.name for span in message.resource_spans[0].scope_spans[0].spans]
    assert names == ["before", "after"]


@pytest.mark.parametrize("number", [2**64 - 1, 0, 1, 1_700_000_000_123_456_789])
@pytest.mark.parametrize("form", [int, str])
def test_unsigned_64_bit_numbers_are_exact(number: int, form: type) -> None:
    """As strings and as numbers."""
    assert span_of(request({"startTimeUnixNano": form(number)})).start_time_unix_nano == number


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, -1, 2**53 + 1])
@pytest.mark.parametrize("form", [int, str])
def test_signed_64_bit_numbers_are_exact(number: int, form: type) -> None:
    """As strings and as numbers."""
    assert value_of({"intValue": form(number)}).int_value == number


@pytest.mark.parametrize(
    "value", [2**63, -(2**63) - 1, "9223372036854775808", 1.5, "1.5", "x", "", " 1", "+1", True]
)
def test_numbers_that_do_not_fit_are_malformed(value: object) -> None:
    """Nothing wraps around."""
    with pytest.raises(MalformedRequest):
        value_of({"intValue": value})


def test_special_doubles() -> None:
    """NaN and the infinities come as strings; plain numbers may too."""
    assert str(value_of({"doubleValue": "NaN"}).double_value) == "nan"
    assert value_of({"doubleValue": "Infinity"}).double_value == float("inf")
    assert value_of({"doubleValue": "-Infinity"}).double_value == float("-inf")
    assert value_of({"doubleValue": "1.5"}).double_value == 1.5
    assert value_of({"doubleValue": 3}).double_value == 3.0
    for wrong in ("inf", "nan", "1_0", " 1", "", True):
        with pytest.raises(MalformedRequest):
            value_of({"doubleValue": wrong})


@pytest.mark.parametrize("text", ["AP8+", "AP8-", "AP8"])
def test_bytes_are_base64(text: str) -> None:
    """Standard or URL-safe, with or without padding."""
    assert value_of({"bytesValue": text}).bytes_value in (b"\x00\xff>", b"\x00\xff")


def test_values_nest() -> None:
    """Arrays and maps to any kind, the empty value included."""
    value = value_of(
        {
            "kvlistValue": {
                "values": [
                    {"key": "a", "value": {"arrayValue": {"values": [{}, {"boolValue": False}]}}}
                ]
            }
        }
    )
    items = value.kvlist_value.values[0].value.array_value.values
    assert [item.WhichOneof("value") for item in items] == [None, "bool_value"]


def nested(depth: int) -> Any:
    value: Any = {"stringValue": "x"}
    for _ in range(depth):
        value = {"kvlistValue": {"values": [{"key": "k", "value": value}]}}
    return value


def test_nesting_has_a_limit_that_protobuf_can_read() -> None:
    """30 levels are taken and readable again; more is refused."""
    assert value_of(nested(30)).WhichOneof("value") == "kvlist_value"
    with pytest.raises(MalformedRequest, match="deeper than 30"):
        value_of(nested(31))


def test_null_is_absent() -> None:
    """For every kind of field."""
    span = span_of(request({"attributes": None, "status": None, "kind": None, "name": None}))
    assert (len(span.attributes), span.kind, span.name) == (0, 0, "")
    assert decode({"resourceSpans": None}).accepted == 0


def test_unknown_fields_are_ignored_at_every_level() -> None:
    """Whatever they hold."""
    document = request({"attributes": [{"key": "k", "value": {"stringValue": "v", "x": 1}}]})
    for part in (
        document,
        document["resourceSpans"][0],
        document["resourceSpans"][0]["scopeSpans"][0],
        document["resourceSpans"][0]["scopeSpans"][0]["spans"][0],
    ):
        part["futureField"] = {"deep": [{"x": None}]}
    assert span_of(document).attributes[0].value.string_value == "v"


@pytest.mark.parametrize(
    "document",
    [
        {"resource_spans": []},
        {"resourceSpans": [{"scope_spans": []}]},
        request({"trace_id": TRACE_ID}),
        request({"start_time_unix_nano": "1"}),
        request({"attributes": [{"key": "k", "value": {"string_value": "x"}}]}),
    ],
)
def test_snake_case_keys_are_refused(document: Any) -> None:
    """They are not valid OTLP/JSON, and ignoring them would lose spans without a word."""
    with pytest.raises(MalformedRequest, match="OTLP/JSON says"):
        decode(document)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"1",
        b'"x"',
        b"NaN",
        b'{"resourceSpans": {}}',
        b'{"resourceSpans": [1]}',
        b'{"resourceSpans": [[]]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 5}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": {}}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "\xff"}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "\\ud800"}]}]}]}',
        b"[" * 20_000,
        b'{"resourceSpans":' * 20_000,
        b'{"resourceSpans": []} x',
    ],
    ids=lambda body: repr(body[:60]),
)
def test_malformed_documents(body: bytes) -> None:
    """Each is refused as malformed, never another error."""
    with pytest.raises(MalformedRequest):
        decode_json("traces", body)


def test_messages_hold_no_values() -> None:
    """An error may say where and what kind, not what was sent."""
    secret = "hunter2"
    for document in (
        request({"attributes": [{"key": "k", "value": {"intValue": secret}}]}),
        request({"startTimeUnixNano": secret}),
        request({"attributes": [{"key": "k", "value": {"bytesValue": secret + "!"}}]}),
    ):
        with pytest.raises(MalformedRequest) as caught:
            decode(document)
        assert secret not in f"{caught.value} {caught.value.field}"
    assert secret not in decode(request({"traceId": secret})).message


def test_logs_sent_as_traces_are_named() -> None:
    """And the other way round."""
    with pytest.raises(MalformedRequest, match="send it to /v1/logs"):
        decode({"resourceLogs": []})
    with pytest.raises(MalformedRequest, match="send it to /v1/traces"):
        decode(request({}), "logs")
