"""Checklist items 17 to 44: sizes, answers, JSON, protobuf, items."""

from __future__ import annotations

import gzip
import json
import random
import resource
import time
from typing import Any

import pytest
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from dbagenteval.otlp.response import export_response
from dbagenteval.receiver import Limits
from tests.receiver.running import JSON, PROTOBUF, Running, running, status_of
from tests.store.requests import logs_request, traces_request

BODY = traces_request((1, 1), (1, 2)).SerializeToString()
TRACE_ID, SPAN_ID = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
SMALL = Limits(max_request_bytes=1 << 20)


def document(*spans: dict[str, Any]) -> bytes:
    full = [{"traceId": TRACE_ID, "spanId": SPAN_ID, **span} for span in spans]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": full}]}]}).encode()


def padded(size: int) -> bytes:
    """A valid request of about `size` bytes."""
    request = traces_request((1, 1))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="pad").value.string_value = "x" * size
    return request.SerializeToString()


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_item_17_the_limit_is_64_mib_and_can_be_set() -> None:
    assert Limits().max_request_bytes == 64 << 20
    body = padded(600_000)
    with running(limits=Limits(max_request_bytes=len(body))) as receiver:
        assert receiver.post(body).status_code == 200
        assert receiver.post(body + b"\x0a\x00").status_code == 413
        zipped = {"Content-Encoding": "gzip"}
        assert receiver.post(gzip.compress(body), headers=zipped).status_code == 200
        assert receiver.post(gzip.compress(body + b"\x0a\x00"), headers=zipped).status_code == 413


def test_item_18_over_the_limit_is_413_in_bounded_memory() -> None:
    body = b"\x0a" * (40 << 20)
    with running(limits=SMALL) as receiver:
        before = peak_mib()
        response = receiver.post(body)
        assert response.status_code == 413
        assert status_of(response).message
        assert peak_mib() - before < 20
        assert receiver.post(BODY).status_code == 200


def test_item_19_a_large_content_length_is_refused_before_the_body() -> None:
    with running(limits=SMALL) as receiver, receiver.connect() as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\n"
        begun = time.monotonic()
        connection.sendall((head + "Content-Length: 99999999999\r\n\r\n").encode())
        assert b" 413 " in connection.recv(1000).splitlines()[0]
        assert time.monotonic() - begun < 30


def test_item_19_chunked_bodies_are_counted() -> None:
    with running(limits=SMALL) as receiver:
        chunks = (bytes(100_000) for _ in range(30))
        response = receiver.post(chunks)  # type: ignore[arg-type]
        assert response.status_code == 413


def test_item_20_a_bomb_stops_at_the_limit(receiver: Running) -> None:
    bomb = gzip.compress(bytes(80 << 20))
    assert len(bomb) < 100_000
    before = peak_mib()
    response = receiver.post(bomb, headers={"Content-Encoding": "gzip"})
    assert response.status_code == 413
    assert peak_mib() - before < 64 + 64


def test_item_21_answers_stay_small() -> None:
    answer = export_response("traces", 1, "x" * 10_000_000)
    assert answer.ByteSize() < 4 << 20
    assert answer.partial_success.rejected_spans == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", PROTOBUF),
        (b"{}", JSON),
        (b'{"resourceSpans": []}', JSON),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}', JSON),
        (b'{"resourceSpans": [{}]}', JSON),
        (b"\x0a\x00", PROTOBUF),
    ],
)
def test_item_22_empty_requests_succeed(receiver: Running, body: bytes, kind: str) -> None:
    assert receiver.post(body, kind).status_code == 200
    assert receiver.sink.requests == []


def test_item_23_full_success_has_no_partial_success(receiver: Running) -> None:
    response = receiver.post(BODY)
    assert (response.status_code, response.content) == (200, b"")
    response = receiver.post(document({}), JSON)
    assert (response.status_code, response.json()) == (200, {})


def test_item_24_partial_success_counts_exactly(receiver: Running) -> None:
    request = traces_request((1, 1), (0, 2), (1, 0), (1, 4))
    response = receiver.post(request.SerializeToString())
    assert response.status_code == 200
    partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    assert partial.rejected_spans == 2
    assert "trace id is all zero" in partial.error_message
    assert receiver.sink.span_ids() == [1, 4]


def test_item_25_a_warning_has_no_rejections() -> None:
    answer = export_response("logs", 0, "be warned").partial_success
    assert (answer.rejected_log_records, answer.error_message) == (0, "be warned")
    assert not export_response("logs", 0, "").HasField("partial_success")


def test_item_26_all_items_rejected_is_200_with_the_full_count(receiver: Running) -> None:
    response = receiver.post(document({"traceId": "x"}, {"spanId": "x"}), JSON)
    assert response.status_code == 200
    assert response.json()["partialSuccess"]["rejectedSpans"] == "2"
    assert receiver.sink.requests == []


def test_item_27_counts_in_json_are_strings(receiver: Running) -> None:
    partial = receiver.post(document({}, {"traceId": "x"}), JSON).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"


def test_item_28_ids_are_hex(receiver: Running) -> None:
    good = {"traceId": TRACE_ID.upper(), "links": [{"traceId": TRACE_ID, "spanId": SPAN_ID}]}
    bad = {"traceId": "W47/95gDgQPSabYzgT/GDA=="}
    bad_link = {"links": [{"traceId": "W47/95gDgQPSabYzgT/GDA=="}]}
    found = receiver.post(document(good, bad, bad_link), JSON).json()
    assert found["partialSuccess"]["rejectedSpans"] == "2"
    logs = [{"traceId": TRACE_ID.upper()}, {"traceId": "W47/95gDgQPSabYzgT/GDA=="}]
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}).encode()
    found = receiver.post(body, JSON, "/v1/logs").json()
    assert found["partialSuccess"]["rejectedLogRecords"] == "1"
    assert [record.trace_id.hex() for record in receiver.sink.logs()] == [TRACE_ID]


def test_item_29_enum_names_are_rejected_per_item(receiver: Running) -> None:
    body = document({"kind": 3}, {"kind": "SPAN_KIND_CLIENT"}, {"kind": 77})
    assert receiver.post(body, JSON).json()["partialSuccess"]["rejectedSpans"] == "1"
    assert len(receiver.sink.span_ids()) == 2


@pytest.mark.parametrize("form", [str, int])
def test_item_30_64_bit_integers_are_exact(receiver: Running, form: type) -> None:
    value = {"key": "k", "value": {"intValue": form(-(2**63))}}
    body = document({"startTimeUnixNano": form(2**64 - 1), "attributes": [value]})
    assert receiver.post(body, JSON).json() == {}
    message = ExportTraceServiceRequest.FromString(receiver.sink.requests[0][1])
    span = message.resource_spans[0].scope_spans[0].spans[0]
    assert span.start_time_unix_nano == 2**64 - 1
    assert span.attributes[0].value.int_value == -(2**63)


def test_item_31_unknown_json_fields_are_ignored(receiver: Running) -> None:
    assert receiver.post(document({"newField": {"x": [1]}}), JSON).json() == {}


def test_item_32_snake_case_is_refused_aloud(receiver: Running) -> None:
    response = receiver.post(b'{"resource_spans": [{"scope_spans": []}]}', JSON)
    assert response.status_code == 400
    assert "resourceSpans" in response.json()["message"]


def test_item_33_null_is_absent(receiver: Running) -> None:
    body = document({"attributes": None, "status": None, "events": None, "name": None})
    assert receiver.post(body, JSON).json() == {}


def test_item_34_all_kinds_of_values(receiver: Running) -> None:
    values = [
        {"doubleValue": "NaN"},
        {"doubleValue": "-Infinity"},
        {"bytesValue": "AP8="},
        {},
        {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "k"}]}}]}},
    ]
    pairs = [{"key": str(number), "value": value} for number, value in enumerate(values)]
    assert receiver.post(document({"attributes": pairs}), JSON).json() == {}
    message = ExportTraceServiceRequest.FromString(receiver.sink.requests[0][1])
    attributes = message.resource_spans[0].scope_spans[0].spans[0].attributes
    assert [pair.value.WhichOneof("value") for pair in attributes] == [
        "double_value",
        "double_value",
        "bytes_value",
        None,
        "array_value",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b'{"resourceSpans": 1}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 1}]}]}]}',
        b'{"resourceSpans": [{"schemaUrl": "\xff"}]}',
        b"[" * 20_000,
        b'{"resourceSpans":' * 20_000,
        b'{"resourceSpans": [{"schemaUrl": "\\ud800"}]}',
        b"",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_item_35_malformed_json_is_400_with_details(receiver: Running, body: bytes) -> None:
    response = receiver.post(body, JSON)
    assert response.status_code == 400
    found = response.json()
    assert found["message"]
    assert found["details"][0]["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert found["details"][0]["fieldViolations"]


def test_item_36_of_a_key_given_twice_the_last_wins(receiver: Running) -> None:
    from dbagenteval.otlp.attributes import attribute_map

    assert attribute_map(["k", "k"], [1, 3], ["a", "2"], []) == {"k": 2}


def test_item_37_random_and_truncated_protobuf_is_400(receiver: Running) -> None:
    """Never another status; what happens to parse is taken or rejected item by item."""
    random_ = random.Random(7)
    bodies = [BODY[:length] for length in range(1, len(BODY))]
    bodies += [random_.randbytes(random_.randint(1, 200)) for _ in range(200)]
    codes = set()
    for body in bodies:
        response = receiver.post(body)
        codes.add(response.status_code)
        if response.status_code == 400:
            assert Status.FromString(response.content).message
    assert codes <= {200, 400}
    assert receiver.post(b"\xff\xff\xff").status_code == 400
    assert receiver.post(BODY[:-1]).status_code == 400


def test_item_38_unknown_protobuf_fields_are_ignored(receiver: Running) -> None:
    unknown = b"\xfa\x07\x03abc"  # field 127
    assert receiver.post(BODY + unknown).status_code == 200
    assert receiver.sink.span_ids() == [1, 2]


def test_item_39_logs_sent_to_traces_are_named(receiver: Running) -> None:
    """And traces sent to logs."""
    response = receiver.post(logs_request((1, 1), (0, 0)).SerializeToString())
    assert response.status_code == 400
    assert "send it to /v1/logs" in status_of(response).message
    response = receiver.post(BODY, path="/v1/logs")
    assert response.status_code == 400
    assert "send it to /v1/traces" in status_of(response).message
    assert receiver.sink.requests == []


def test_item_40_wrong_ids_are_rejected_one_by_one(receiver: Running) -> None:
    request = traces_request(*[(1, number) for number in range(1, 8)])
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[1].trace_id = b"short"
    spans[2].span_id = b""
    spans[3].trace_id = bytes(16)
    spans[4].span_id = bytes(8)
    spans[5].trace_id = b"x" * 17
    response = receiver.post(request.SerializeToString())
    partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    assert partial.rejected_spans == 5
    assert receiver.sink.span_ids() == [1, 7]


def test_item_41_odd_times_and_names_are_kept(receiver: Running) -> None:
    """Stored as sent; `tests/store` shows that they come back without a wrap-around."""
    request = traces_request((1, 1), (1, 2), (1, 3))
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].end_time_unix_nano = 0
    spans[1].start_time_unix_nano = spans[1].end_time_unix_nano = 2**64 - 1
    spans[2].name = ""
    body = request.SerializeToString()
    assert receiver.post(body).content == b""
    assert receiver.sink.requests == [("traces", body)]


def test_item_44_old_spans_are_taken(receiver: Running) -> None:
    body = traces_request((1, 1), start_ns=1_000_000_000_000_000_000).SerializeToString()
    assert receiver.post(body).content == b""
    assert receiver.sink.span_ids() == [1]


def test_bad_request_details_name_the_field(receiver: Running) -> None:
    body = b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 1}]}]}]}'
    detail = receiver.post(body, JSON).json()["details"][0]["fieldViolations"][0]
    assert detail["field"] == "resourceSpans[0].scopeSpans[0].spans[0].name"
    status = Status.FromString(receiver.post(b"\xff").content)
    packed = BadRequest()
    assert status.details[0].Unpack(packed)
    assert packed.field_violations


def test_logs_are_taken_as_sent(receiver: Running) -> None:
    request = logs_request((1, 1), (0, 0))
    receiver.post(request.SerializeToString(), path="/v1/logs")
    assert receiver.sink.requests == [("logs", request.SerializeToString())]
    assert ExportLogsServiceRequest.FromString(receiver.sink.requests[0][1]) == request
