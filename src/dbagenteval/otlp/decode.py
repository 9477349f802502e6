"""One export request: from bytes to a checked protobuf body, with what had to be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.errors import MalformedRequest, UnsupportedMediaType
from dbagenteval.otlp.json_mapping import fill_from_json, parse_json

__all__ = [
    "JSON",
    "JSON_ROOTS",
    "PROTOBUF",
    "SIGNALS",
    "Decoded",
    "decode_document",
    "decode_json",
    "decode_protobuf",
    "media_type",
]

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
SIGNALS = ("traces", "logs")

_REQUESTS: dict[str, Callable[[], Any]] = {
    "traces": ExportTraceServiceRequest,
    "logs": ExportLogsServiceRequest,
}
JSON_ROOTS = {"traces": "resourceSpans", "logs": "resourceLogs"}
_ITEM_NAMES = {"traces": "spans", "logs": "log records"}
_NO_TRACE_ID = bytes(16)
_NO_SPAN_ID = bytes(8)
_MAX_REASONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A request that may be stored.

    Args:
        signal: `traces` or `logs`.
        body: The protobuf request, without the items that were rejected.
        accepted: How many spans or log records it holds.
        rejected: How many were left out.
        message: Why, in English; empty if there is nothing to say.
    """

    signal: str
    body: bytes
    accepted: int
    rejected: int = 0
    message: str = ""


def media_type(content_type: str) -> str:
    """Give `PROTOBUF` or `JSON` for a Content-Type header; parameters are ignored.

    Raises:
        UnsupportedMediaType: It is neither.
    """
    name = content_type.partition(";")[0].strip().lower()
    if name in (PROTOBUF, JSON):
        return name
    raise UnsupportedMediaType(f"content type must be {PROTOBUF} or {JSON}")


def decode_protobuf(signal: str, body: bytes) -> Decoded:
    """Check a protobuf export request.

    Args:
        signal: `traces` or `logs`.
        body: The request, decompressed.

    Raises:
        MalformedRequest: It isn't such a request.
    """
    request = _REQUESTS[signal]()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        _refuse_other_signal(signal, body)
        raise MalformedRequest(f"the body is not a protobuf {signal} request") from error
    return _checked(signal, request, [], body)


def decode_json(signal: str, body: bytes) -> Decoded:
    """Check an OTLP/JSON export request and turn it into protobuf.

    Args:
        signal: `traces` or `logs`.
        body: The request, decompressed.

    Raises:
        MalformedRequest: It isn't such a request.
    """
    return decode_document(signal, parse_json(body))


def decode_document(signal: str, document: Any) -> Decoded:
    """Check a parsed OTLP/JSON export request and turn it into protobuf.

    Args:
        signal: `traces` or `logs`.
        document: The request.

    Raises:
        MalformedRequest: It isn't such a request.
    """
    request = _REQUESTS[signal]()
    faults = fill_from_json(request, document)
    other = "logs" if signal == "traces" else "traces"
    if JSON_ROOTS[other] in document and JSON_ROOTS[signal] not in document:
        raise _other_signal(signal, other)
    return _checked(signal, request, faults, None)


def _checked(signal: str, request: Any, faults: list[str], body: bytes | None) -> Decoded:
    """Leave out the items that can't be stored."""
    if signal == "traces":
        accepted, missing_ids, reasons = _reject_spans(request)
        if missing_ids and not accepted and missing_ids == len(reasons) and body is not None:
            _refuse_other_signal(signal, body)
        faults = faults + reasons
    else:
        accepted = sum(
            len(of_scope.log_records)
            for of_resource in request.resource_logs
            for of_scope in of_resource.scope_logs
        )
    if body is None or faults:
        body = request.SerializeToString()
    return Decoded(
        signal=signal,
        body=body,
        accepted=accepted,
        rejected=len(faults),
        message=_explain(signal, faults),
    )


def _reject_spans(request: Any) -> tuple[int, int, list[str]]:
    """Delete spans without valid ids; give how many stay, how many had no ids, the reasons."""
    accepted = 0
    missing_ids = 0
    reasons: list[str] = []
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            spans = of_scope.spans
            faults = {
                index: fault
                for index, span in enumerate(spans)
                if (fault := _span_fault(span.trace_id, span.span_id, span.parent_span_id))
            }
            accepted += len(spans) - len(faults)
            for index in sorted(faults, reverse=True):
                missing_ids += not spans[index].trace_id and not spans[index].span_id
                del spans[index]
            reasons += faults.values()
    return accepted, missing_ids, reasons


def _span_fault(trace_id: bytes, span_id: bytes, parent_span_id: bytes) -> str:
    if len(trace_id) != 16:
        return f"trace id has {len(trace_id)} bytes, not 16"
    if len(span_id) != 8:
        return f"span id has {len(span_id)} bytes, not 8"
    if trace_id == _NO_TRACE_ID:
        return "trace id is all zero"
    if span_id == _NO_SPAN_ID:
        return "span id is all zero"
    if parent_span_id and len(parent_span_id) != 8:
        return f"parent span id has {len(parent_span_id)} bytes, not 8"
    return ""


def _refuse_other_signal(signal: str, body: bytes) -> None:
    """Say so if the body is a request of the other signal."""
    other = "logs" if signal == "traces" else "traces"
    request = _REQUESTS[other]()
    try:
        request.ParseFromString(body)
    except DecodeError:
        return
    if other == "logs":
        is_other = any(
            record.time_unix_nano or record.observed_time_unix_nano
            for of_resource in request.resource_logs
            for of_scope in of_resource.scope_logs
            for record in of_scope.log_records
        )
    else:
        is_other = _reject_spans(request)[0] > 0
    if is_other:
        raise _other_signal(signal, other)


def _other_signal(signal: str, other: str) -> MalformedRequest:
    return MalformedRequest(f"this is a {other} request sent as {signal}; send it to /v1/{other}")


def _explain(signal: str, faults: list[str]) -> str:
    if not faults:
        return ""
    counted = [f"{reason} ({count})" for reason, count in Counter(faults).most_common(_MAX_REASONS)]
    more = len(set(faults)) - len(counted)
    rest = f"; and {more} more reasons" if more > 0 else ""
    return f"{len(faults)} {_ITEM_NAMES[signal]} rejected: {'; '.join(counted)}{rest}"
