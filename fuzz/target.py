"""What fuzzing sends to the receiver, and what must be true of every answer.

An input is a byte that chooses signal, type, encoding and redaction, and the body of a request. It
goes through the HTTP application itself. What is refused must be refused with a 4xx and a
`google.rpc.Status`; what is taken must be taken again without complaint, be read as values, and
give the same columns the fast and the plain way.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from dbagenteval.otlp.attributes import attribute_map
from dbagenteval.otlp.columns import ColumnBuilder
from dbagenteval.otlp.decode import JSON, PROTOBUF, decode_protobuf
from dbagenteval.otlp.fast_columns import FastColumnBuilder
from dbagenteval.otlp.from_requests import traces_from_requests
from dbagenteval.otlp.redaction import DETECTORS, Redactor
from dbagenteval.receiver.config import Limits, ReceiverConfig
from dbagenteval.receiver.http_app import HttpApp
from dbagenteval.receiver.ingest import Ingest

SIGNALS = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
RESPONSES = {"traces": ExportTraceServiceResponse, "logs": ExportLogsServiceResponse}
ENCODINGS = ("", "gzip", "zstd", "deflate")
LIMIT = 1 << 20
REFUSED = {400, 413, 415}
ATTRIBUTE_LISTS = ("attr_keys", "attr_types", "attr_values", "attr_nested")


@dataclass(frozen=True)
class Choice:
    """What the first byte of an input stands for."""

    signal: str
    media: str
    encoding: str
    is_redacted: bool

    @classmethod
    def of(cls, byte: int) -> Choice:
        """Read the byte."""
        return cls(
            signal=("traces", "traces", "traces", "logs")[byte & 3],
            media=(PROTOBUF, JSON)[byte >> 2 & 1],
            encoding=ENCODINGS[byte >> 3 & 3],
            is_redacted=bool(byte >> 5 & 1),
        )


class Sink:
    """Remembers the last request that was taken."""

    def __init__(self) -> None:
        self.taken: tuple[str, bytes] | None = None

    def append(self, signal: str, body: bytes) -> Future[int]:
        self.taken = signal, body
        done: Future[int] = Future()
        done.set_result(1)
        return done

    def problem(self) -> None:
        return None

    def gauges(self) -> dict[str, float]:
        return {}


class Target:
    """The HTTP application, with or without redaction."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._sink = Sink()
        limits = Limits(max_request_bytes=LIMIT)
        self._app = HttpApp(Ingest(self._sink, limits, redactor), ReceiverConfig(limits=limits))
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """End the event loop."""
        self._loop.close()

    def post(self, choice: Choice, body: bytes) -> tuple[int, bytes]:
        """Send a request; gives status code and body of the answer."""
        headers = {"content-type": choice.media, "content-encoding": choice.encoding}
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/v1/{choice.signal}",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        answer: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answer.append(message)

        self._sink.taken = None
        self._loop.run_until_complete(self._app(scope, receive, send))
        return answer[0]["status"], b"".join(part.get("body", b"") for part in answer[1:])

    def judge(self, choice: Choice, body: bytes) -> int:
        """Send a request, check what became of it, and give the status code."""
        status, answer = self.post(choice, body)
        taken = self._sink.taken
        is_json = choice.media == JSON
        if status == 200:
            json.loads(answer) if is_json else RESPONSES[choice.signal].FromString(answer)
            if taken is not None:
                check_taken(*taken)
            return status
        assert status in REFUSED, status
        assert json.loads(answer)["message"] if is_json else Status.FromString(answer).message
        assert taken is None
        return status


PLAIN, FAST = ColumnBuilder(), FastColumnBuilder()


def check_taken(signal: str, body: bytes) -> None:
    """Check that what was acknowledged can be stored and read."""
    again = decode_protobuf(signal, body)
    assert (again.rejected, again.body) == (0, body)
    plain, fast = (builder.build([(signal, body)]).tables for builder in (PLAIN, FAST))
    assert plain["spans" if signal == "traces" else "logs"].num_rows == again.accepted
    for name, table in plain.items():
        fast[name].validate(full=True)
        assert fast[name].equals(table) or told_rows(fast[name]) == told_rows(table), name
    requests = {name: kind() for name, kind in SIGNALS.items()}
    requests[signal].ParseFromString(body)
    ids = {row.hex() for row in plain["spans"]["trace_id"].to_pylist()}
    told = list(traces_from_requests(sorted(ids) or [""], requests["traces"], requests["logs"]))
    assert sum(len(trace.spans) for trace in told) == plain["spans"].num_rows


def told_rows(table: pa.Table) -> list[str]:
    """Give the rows with nested attribute values told as values.

    The fast way keeps the bytes of these as they came, with unknown fields in their place.
    """
    return [
        repr({**row, "attr_nested": attribute_map(*(row[name] for name in ATTRIBUTE_LISTS))})
        for row in table.to_pylist()
    ]


class Targets:
    """A target without redaction and one with."""

    def __init__(self) -> None:
        rules = Redactor(["enduser.*", "k"], list(DETECTORS), {"seven": "[0-9]{7}"})
        self._targets = Target(), Target(rules)

    def __call__(self, data: bytes) -> int:
        """Judge one input and give the status code of the answer."""
        if not data:
            return 200
        choice = Choice.of(data[0])
        return self._targets[choice.is_redacted].judge(choice, data[1:])

    def close(self) -> None:
        """End the event loops."""
        for target in self._targets:
            target.close()
