"""The exporters of opentelemetry-js over gRPC, HTTP/JSON and HTTP/protobuf."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.errors import Overloaded
from dbagenteval.otlp import Span
from dbagenteval.otlp.from_requests import traces_from_requests
from tests.npm import npm_packages
from tests.receiver.running import RecordingSink, Running, running

FOLDER = Path(__file__).parent / "javascript"


@pytest.fixture(scope="module")
def node_modules() -> Path:
    return npm_packages(FOLDER)


def export(node_modules: Path, protocol: str, to: Running, compression: str) -> dict[str, Any]:
    """Let the SDK export a trace; give the spans that it made and what it complained about."""
    endpoint = f"http://{to.grpc}" if protocol == "grpc" else f"{to.http}/v1/traces"
    ended = subprocess.run(
        ["node", str(FOLDER / "send_spans.cjs"), protocol, endpoint, compression],
        env={**os.environ, "NODE_PATH": str(node_modules)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return dict(json.loads(ended.stdout))


def received(sink: RecordingSink) -> list[Span]:
    request = ExportTraceServiceRequest()
    for _, body in sink.requests:
        request.MergeFromString(body)
    ids = {
        span.trace_id.hex()
        for of_resource in request.resource_spans
        for of_scope in of_resource.scope_spans
        for span in of_scope.spans
    }
    return [
        span
        for found in traces_from_requests(ids, request, ExportLogsServiceRequest())
        for span in found.spans
    ]


def as_told(span: Span) -> dict[str, Any]:
    """Write a span as the SDK tells it."""
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "name": span.name,
        "kind": span.kind,
        "start_ns": str(span.start_ns),
        "end_ns": str(span.end_ns),
        "attributes": span.attributes,
        "events": [[event.name, event.attributes] for event in span.events],
        "links": [[link.span_id, link.attributes] for link in span.links],
        "status": [span.status_code, span.status_message],
    }


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("protocol", ["grpc", "http", "proto"])
def test_spans_arrive_as_they_were_made(
    node_modules: Path, receiver: Running, protocol: str, compression: str
) -> None:
    """Every field of every span, and the SDK has nothing to complain about."""
    told = export(node_modules, protocol, receiver, compression)
    assert told["problems"] == []
    found = received(receiver.sink)
    assert len(found) == 2
    assert {span.resource["service.name"] for span in found} == {"javascript-agent"}
    assert {(span.scope.name, span.scope.version) for span in found} == {("shop", "1.2.3")}
    key = lambda span: str(span["span_id"])  # noqa: E731
    assert sorted(map(as_told, found), key=key) == sorted(told["spans"], key=key)


class BusyAtFirst(RecordingSink):
    """Refuses the first request."""

    is_busy = True

    def append(self, signal: str, body: bytes) -> Future[int]:
        if self.is_busy:
            self.is_busy = False
            raise Overloaded("the disk is full")
        return super().append(signal, body)


@pytest.mark.parametrize("protocol", ["http", "proto"])
def test_an_overloaded_receiver_is_tried_again(node_modules: Path, protocol: str) -> None:
    """What could not be taken comes with the next try; the exporter for gRPC knows none."""
    sink = BusyAtFirst()
    with running(sink) as receiver:
        export(node_modules, protocol, receiver, "none")
    assert not sink.is_busy
    assert len(received(sink)) == 2
