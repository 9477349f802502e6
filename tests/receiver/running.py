"""A receiver inside the test process, over real sockets, with a sink that only records."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import grpc
import requests
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.receiver import Address, Receiver, ReceiverConfig

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
METHODS = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}


@dataclass
class RecordingSink:
    """Takes everything and remembers it, or refuses as told."""

    requests: list[tuple[str, bytes]] = field(default_factory=list)
    refusal: Exception | None = None
    late_refusal: Exception | None = None
    held: list[Future[int]] | None = None
    problem_text: str | None = None

    def append(self, signal: str, body: bytes) -> Future[int]:
        if self.refusal is not None:
            raise self.refusal
        future: Future[int] = Future()
        future.set_running_or_notify_cancel()
        if self.late_refusal is not None:
            future.set_exception(self.late_refusal)
            return future
        self.requests.append((signal, body))
        if self.held is not None:
            self.held.append(future)
        else:
            future.set_result(len(self.requests))
        return future

    def problem(self) -> str | None:
        return self.problem_text

    def gauges(self) -> dict[str, float]:
        return {"dbagenteval_journal_backlog_bytes": 0.0}

    def span_ids(self) -> list[int]:
        found = []
        for signal, body in self.requests:
            if signal == "traces":
                message = ExportTraceServiceRequest.FromString(body)
                for of_resource in message.resource_spans:
                    for of_scope in of_resource.scope_spans:
                        found += [int.from_bytes(s.span_id, "big") for s in of_scope.spans]
        return found

    def logs(self) -> list[Any]:
        return [
            record
            for signal, body in self.requests
            if signal == "logs"
            for of_resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for of_scope in of_resource.scope_logs
            for record in of_scope.log_records
        ]


@dataclass
class Running:
    """A receiver that listens."""

    receiver: Receiver
    sink: RecordingSink
    loop: asyncio.AbstractEventLoop

    @property
    def http(self) -> str:
        return f"http://{self.receiver.http_address}"

    @property
    def grpc(self) -> str:
        return str(self.receiver.grpc_address)

    def post(self, body: bytes, kind: str | None = PROTOBUF, path: str = "/v1/traces", **more: Any):
        """Send a request over HTTP."""
        headers = {**({"Content-Type": kind} if kind else {}), **more.pop("headers", {})}
        return requests.post(self.http + path, body, headers=headers, timeout=30, **more)

    def call(self, body: bytes, signal: str = "traces", **more: Any) -> bytes:
        """Send a request over gRPC; raises `grpc.RpcError`."""
        with grpc.insecure_channel(self.grpc) as channel:
            answer: bytes = channel.unary_unary(METHODS[signal])(body, timeout=20, **more)
            return answer

    def connect(self) -> socket.socket:
        """Open a raw connection to the HTTP port."""
        parts = urlsplit(self.http)
        connection = socket.create_connection((parts.hostname or "", parts.port or 0), 20)
        connection.settimeout(20)
        return connection


@contextmanager
def running(sink: RecordingSink | None = None, **config: Any) -> Iterator[Running]:
    """Run a receiver on free ports in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    config.setdefault("grpc", Address("127.0.0.1", 0))
    config.setdefault("http", Address("127.0.0.1", 0))
    sink = sink or RecordingSink()
    made: list[Receiver] = []

    async def start() -> None:
        made.append(Receiver(sink, ReceiverConfig(**config)))
        await made[0].start()

    try:
        asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        yield Running(made[0], sink, loop)
    finally:
        if made:
            asyncio.run_coroutine_threadsafe(made[0].stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def status_of(response: requests.Response) -> Status:
    """Decode the `google.rpc.Status` of an error response, in the type that it says."""
    if response.headers["Content-Type"].startswith(PROTOBUF):
        return Status.FromString(response.content)
    found = response.json()
    return Status(code=found["code"], message=found["message"])
