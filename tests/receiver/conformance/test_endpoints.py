"""Checklist items 1 to 16: paths, methods, content types, encodings."""

from __future__ import annotations

import gzip
import json
import zlib

import pyarrow as pa
import pytest
import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

from dbagenteval.cli.serve import command
from dbagenteval.receiver import Address, ReceiverConfig
from tests.receiver.running import JSON, PROTOBUF, Running, running, status_of
from tests.store.requests import logs_request, traces_request

BODY = traces_request((1, 1), (1, 2)).SerializeToString()
DOCUMENT = json.dumps(
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "9"}]}]}
        ]
    }
).encode()


def test_item_01_signals_share_one_port_4318_by_default(receiver: Running) -> None:
    assert ReceiverConfig().http == Address("127.0.0.1", 4318)
    metrics = ExportMetricsServiceRequest().SerializeToString()
    logs = logs_request((1, 1)).SerializeToString()
    for path, body in [("/v1/traces", BODY), ("/v1/logs", logs), ("/v1/metrics", metrics)]:
        assert receiver.post(body, path=path).status_code == 200
    assert [signal for signal, _ in receiver.sink.requests] == ["traces", "logs"]


def test_item_02_metrics_are_answered_200_and_counted_as_ignored(
    receiver: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """A real SDK with its default settings logs no error."""
    exporter = OTLPMetricExporter(endpoint=f"{receiver.http}/v1/metrics")
    provider = MeterProvider([PeriodicExportingMetricReader(exporter)])
    provider.get_meter("test").create_counter("c").add(1)
    provider.shutdown()
    assert caplog.records == []
    text = requests.get(f"{receiver.http}/metrics", timeout=10).text
    line = 'dbagenteval_receiver_requests_total{signal="metrics",outcome="ignored"} 1'
    assert line in text.splitlines()


def test_item_03_profiles_get_404_with_a_status(receiver: Running) -> None:
    response = receiver.post(b"", path="/v1development/profiles")
    assert response.status_code == 404
    assert status_of(response).message


def test_item_04_paths_can_be_configured() -> None:
    options = {name for parameter in command.params for name in parameter.opts}
    assert {"--traces-path", "--logs-path", "--metrics-path"} <= options
    with running(traces_path="/otlp/t", logs_path="/otlp/l") as receiver:
        assert receiver.post(BODY, path="/otlp/t").status_code == 200
        assert receiver.post(BODY, path="/v1/traces").status_code == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
def test_item_05_other_methods_get_405_with_allow(
    receiver: Running, method: str, path: str
) -> None:
    response = requests.request(method, receiver.http + path, timeout=10)
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    if method != "HEAD":
        assert status_of(response).message


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/tracesx", "/v2/traces", "/v1/traces/x"])
def test_item_06_unknown_paths_get_404_with_a_status(receiver: Running, path: str) -> None:
    response = receiver.post(BODY, path=path)
    assert response.status_code == 404
    assert status_of(response).message


def test_item_07_a_trailing_slash_is_the_same_path(receiver: Running) -> None:
    response = receiver.post(BODY, path="/v1/traces/", allow_redirects=False)
    assert response.status_code == 200
    assert receiver.sink.span_ids() == [1, 2]


def test_item_08_loopback_is_the_default() -> None:
    config = ReceiverConfig()
    assert config.http is not None
    assert config.grpc is not None
    assert config.http.is_loopback
    assert config.grpc.is_loopback
    defaults = {parameter.name: parameter.default for parameter in command.params}
    assert defaults["grpc"] == "127.0.0.1:4317"
    assert defaults["http"] == "127.0.0.1:4318"


def test_item_09_protobuf_and_json_on_one_port(receiver: Running) -> None:
    assert receiver.post(BODY, PROTOBUF).status_code == 200
    assert receiver.post(DOCUMENT, JSON).status_code == 200
    assert receiver.sink.span_ids() == [1, 2, 9]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json; charset=utf-8", DOCUMENT),
        ("Application/JSON;charset=UTF-8", DOCUMENT),
        ("APPLICATION/X-PROTOBUF", BODY),
        ("application/x-protobuf; messageType=x", BODY),
    ],
)
def test_item_10_content_type_parameters_and_case(
    receiver: Running, kind: str, body: bytes
) -> None:
    assert receiver.post(body, kind).status_code == 200


@pytest.mark.parametrize(("kind", "body"), [(PROTOBUF, BODY), (JSON, DOCUMENT)])
def test_item_11_the_answer_has_the_type_of_the_request(
    receiver: Running, kind: str, body: bytes
) -> None:
    assert receiver.post(body, kind).headers["Content-Type"] == kind
    failed = receiver.post(b"\xff", kind)
    assert failed.status_code == 400
    assert failed.headers["Content-Type"] == kind


@pytest.mark.parametrize("kind", [None, "text/plain", "application/protobuf", "json", ""])
def test_item_12_other_content_types_get_415_in_json(receiver: Running, kind: str | None) -> None:
    response = receiver.post(BODY, kind)
    assert response.status_code == 415
    assert response.headers["Content-Type"] == JSON
    assert PROTOBUF in response.json()["message"]


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", " gzip ", "identity", "Identity", "", None])
def test_item_13_gzip_and_identity(receiver: Running, encoding: str | None) -> None:
    body = gzip.compress(BODY) if encoding and "gzip" in encoding.lower() else BODY
    headers = {} if encoding is None else {"Content-Encoding": encoding.strip()}
    assert receiver.post(body, headers=headers).status_code == 200
    assert receiver.sink.span_ids() == [1, 2]


@pytest.mark.parametrize(
    ("encoding", "body", "code"),
    [
        ("deflate", zlib.compress(BODY), 200),
        ("zstd", pa.compress(BODY, "zstd", asbytes=True), 200),
        ("snappy", BODY, 415),
        ("br", BODY, 415),
        ("gzip, gzip", BODY, 415),
    ],
)
def test_item_14_other_encodings_work_or_get_415(
    receiver: Running, encoding: str, body: bytes, code: int
) -> None:
    response = receiver.post(body, headers={"Content-Encoding": encoding})
    assert response.status_code == code
    if code == 415:
        assert "gzip, deflate, zstd, identity" in status_of(response).message
    else:
        assert receiver.sink.span_ids() == [1, 2]


GZIP = gzip.compress(BODY)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(gzip.compress(BODY[:40]) + gzip.compress(BODY[40:]), 200, id="members"),
        pytest.param(gzip.compress(b"") * 999 + GZIP, 200, id="1000 members"),
        pytest.param(gzip.compress(b"") * 1000 + GZIP, 400, id="1001 members"),
        pytest.param(GZIP + b"junk", 400, id="junk behind"),
        pytest.param(GZIP[:-1], 400, id="cut by a byte"),
        pytest.param(GZIP[:20], 400, id="cut"),
        pytest.param(GZIP[:-8] + bytes(8), 400, id="wrong checksum"),
        pytest.param(GZIP[:15] + b"\xff" + GZIP[16:], 400, id="flipped byte"),
        pytest.param(b"", 400, id="empty"),
        pytest.param(BODY, 400, id="not gzip"),
    ],
)
def test_item_15_gzip_members_and_damaged_gzip(receiver: Running, body: bytes, code: int) -> None:
    response = receiver.post(body, headers={"Content-Encoding": "gzip"})
    assert response.status_code == code
    assert receiver.sink.span_ids() == ([1, 2] if code == 200 else [])


def test_item_16_accept_encoding_is_ignored(receiver: Running) -> None:
    response = receiver.post(BODY, headers={"Accept-Encoding": "gzip"})
    assert response.status_code == 200
    assert "Content-Encoding" not in response.headers
