"""Black-box checks of any OTLP/HTTP server, by the numbers of our conformance checklist.

Sends spans of the service `dbagenteval-conformance`; looks at answers only, not at what is stored.
"""

from __future__ import annotations

import gzip
import http.client
import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from dbagenteval.errors import UserError
from dbagenteval.otlp.decode import JSON, PROTOBUF
from dbagenteval.receiver.probe import Answer, Fault, Server

__all__ = ["CHECKS", "CheckOutcome", "run_checks"]

_RETRIED = {429, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What one check found; `fault` is empty if the server does as it should."""

    item: int
    title: str
    fault: str


def _request(*span_ids: bytes) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    of_resource.resource.attributes.add(
        key="service.name"
    ).value.string_value = "dbagenteval-conformance"
    of_scope = of_resource.scope_spans.add()
    now = time.time_ns()
    for span_id in span_ids or (secrets.token_bytes(8),):
        of_scope.spans.add(
            trace_id=secrets.token_bytes(16),
            span_id=span_id,
            name="conformance",
            start_time_unix_nano=now,
            end_time_unix_nano=now + 1,
        )
    return request


def _document(**fields: Any) -> bytes:
    span = {"traceId": secrets.token_hex(16), "spanId": secrets.token_hex(8), "name": "c", **fields}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def _status(answer: Answer) -> None:
    """Expect a `google.rpc.Status` with a message."""
    if answer.headers.get("content-type", "").startswith(PROTOBUF):
        try:
            message = Status.FromString(answer.body).message
        except DecodeError:
            message = ""
    else:
        try:
            message = json.loads(answer.body)["message"]
        except (ValueError, KeyError, TypeError):
            message = ""
    if not message:
        raise Fault(f"the body of its {answer.status} is no google.rpc.Status with a message")


def _both_types(server: Server) -> None:
    server.expect(200, _request().SerializeToString())
    server.expect(200, _document(), JSON)


def _other_methods(server: Server) -> None:
    for method in ("GET", "PUT"):
        if "POST" not in server.expect(405, b"", method=method).headers.get("allow", ""):
            raise Fault("its 405 has no Allow: POST")


def _unknown_path(server: Server) -> None:
    _status(server.expect(404, b"", path="/v1/nowhere"))


def _parameters(server: Server) -> None:
    server.expect(200, _document(), "Application/JSON; charset=utf-8")


def _same_type(server: Server) -> None:
    for kind, good in ((PROTOBUF, _request().SerializeToString()), (JSON, _document())):
        for body in (good, b"\xff"):
            found = server.send(body, kind).headers.get("content-type", "none")
            if found.partition(";")[0].strip().lower() != kind:
                raise Fault(f"answered {kind} with {found}")


def _other_type(server: Server) -> None:
    server.expect(415, b"x", "text/plain")


def _gzip(server: Server) -> None:
    body = gzip.compress(_request().SerializeToString())
    server.expect(200, body, headers={"Content-Encoding": "gzip"})


def _other_encoding(server: Server) -> None:
    server.expect(415, b"x", headers={"Content-Encoding": "nonsense"})


def _broken_gzip(server: Server) -> None:
    body = gzip.compress(_request().SerializeToString())[:-9]
    _status(server.expect(400, body, headers={"Content-Encoding": "gzip"}))


def _bomb(server: Server) -> None:
    body = gzip.compress(bytes(80 << 20))
    _status(server.expect(413, body, headers={"Content-Encoding": "gzip"}))


def _empty(server: Server) -> None:
    server.expect(200, b"")
    server.expect(200, b"{}", JSON)


def _full_success(server: Server) -> None:
    answer = server.expect(200, _request().SerializeToString())
    if ExportTraceServiceResponse.FromString(answer.body).HasField("partial_success"):
        raise Fault("partial_success is set though all was taken")


def _partial_success(server: Server) -> None:
    answer = server.expect(200, _request(secrets.token_bytes(8), bytes(8)).SerializeToString())
    found = ExportTraceServiceResponse.FromString(answer.body).partial_success
    if found.rejected_spans != 1 or not found.error_message:
        raise Fault(f"counted {found.rejected_spans} rejected spans, not 1")


def _enum_numbers(server: Server) -> None:
    server.expect(200, _document(kind=3), JSON)


def _exact_numbers(server: Server) -> None:
    value = {"key": "k", "value": {"intValue": str(-(2**63))}}
    server.expect(200, _document(startTimeUnixNano=str(2**64 - 1), attributes=[value]), JSON)


def _unknown_fields(server: Server) -> None:
    server.expect(200, _document(futureField={"x": [1]}), JSON)


def _nulls(server: Server) -> None:
    server.expect(200, _document(attributes=None, status=None), JSON)


def _malformed_json(server: Server) -> None:
    for body in (b"{", b"[]", b'{"resourceSpans": 1}', b"[" * 20_000, b'{"x": "\xff"}'):
        _status(server.expect(400, body, JSON))


def _malformed_protobuf(server: Server) -> None:
    _status(server.expect(400, b"\xff\xff\xff"))
    _status(server.expect(400, _request().SerializeToString()[:-1]))


def _unknown_wire_fields(server: Server) -> None:
    server.expect(200, _request().SerializeToString() + b"\xfa\x07\x03abc")


def _twice(server: Server) -> None:
    body = _request().SerializeToString()
    server.expect(200, body)
    server.expect(200, body)


def _permanent_codes(server: Server) -> None:
    for body, kind in ((b"\xff", PROTOBUF), (b"{", JSON), (b"x", "text/plain")):
        status = server.send(body, kind).status
        if status in _RETRIED or status == 500:
            raise Fault(f"answered {status} to a request that will never be right")


CHECKS: tuple[tuple[int, str, Callable[[Server], None]], ...] = (
    (5, "other methods get 405 with Allow", _other_methods),
    (6, "unknown paths get 404 with a Status", _unknown_path),
    (9, "protobuf and JSON on one port", _both_types),
    (10, "content types with parameters, in any case", _parameters),
    (11, "answers have the type of the request", _same_type),
    (12, "other content types get 415", _other_type),
    (13, "gzip is read", _gzip),
    (14, "other encodings get 415", _other_encoding),
    (15, "damaged gzip gets 400", _broken_gzip),
    (20, "a gzip bomb of 80 MiB gets 413", _bomb),
    (22, "empty requests succeed", _empty),
    (23, "full success leaves partial_success unset", _full_success),
    (24, "partial success counts exactly", _partial_success),
    (29, "enums as numbers", _enum_numbers),
    (30, "64-bit numbers as strings", _exact_numbers),
    (31, "unknown JSON fields are ignored", _unknown_fields),
    (33, "null is absent", _nulls),
    (35, "malformed JSON gets 400 with a Status", _malformed_json),
    (37, "malformed protobuf gets 400 with a Status", _malformed_protobuf),
    (38, "unknown protobuf fields are ignored", _unknown_wire_fields),
    (42, "the same span twice succeeds", _twice),
    (53, "permanent faults have no retried code", _permanent_codes),
)
"""Item number, what is expected, and the check."""


def run_checks(
    url: str, headers: dict[str, str], *, ca_file: Path | None = None
) -> Iterator[CheckOutcome]:
    """Run all checks against a server, one after the other.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`.
        headers: Sent with every request.
        ca_file: Certificates (PEM) to trust; None for those of the system.

    Raises:
        UserError: Nothing answers at the address, or the file can't be used.
    """
    server = Server(url, headers, ca_file)
    try:
        server.send(b"")
    except (OSError, http.client.HTTPException) as error:
        raise UserError(f"{url}: nothing answers: {error}") from error
    for item, title, check in CHECKS:
        try:
            check(server)
        except (Fault, OSError, http.client.HTTPException, DecodeError) as error:
            yield CheckOutcome(item, title, str(error) or type(error).__name__)
        else:
            yield CheckOutcome(item, title, "")
