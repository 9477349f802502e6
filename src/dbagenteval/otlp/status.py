"""What became of a request, as HTTP and gRPC say it; the only place that maps errors to codes.

Source: https://opentelemetry.io/docs/specs/otlp/#failures
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status

from dbagenteval.errors import (
    ExportRefused,
    Forbidden,
    MalformedRequest,
    Overloaded,
    RequestTooLarge,
    Unauthenticated,
    UnsupportedMediaType,
)

__all__ = ["Outcome", "outcome_of", "retry_info", "status_of"]

_INVALID_ARGUMENT = 3
_PERMISSION_DENIED = 7
_RESOURCE_EXHAUSTED = 8
_UNAVAILABLE = 14
_UNAUTHENTICATED = 16
_INTERNAL = 13


@dataclass(frozen=True, slots=True)
class Outcome:
    """The codes of an error.

    Args:
        http_status: HTTP status code.
        grpc_code: Number of the gRPC status code.
    """

    http_status: int
    grpc_code: int


_OUTCOMES: dict[type[Exception], Outcome] = {
    MalformedRequest: Outcome(400, _INVALID_ARGUMENT),
    UnsupportedMediaType: Outcome(415, _INVALID_ARGUMENT),
    RequestTooLarge: Outcome(413, _RESOURCE_EXHAUSTED),
    Forbidden: Outcome(403, _PERMISSION_DENIED),
    Unauthenticated: Outcome(401, _UNAUTHENTICATED),
    Overloaded: Outcome(503, _UNAVAILABLE),
}


def outcome_of(error: ExportRefused) -> Outcome:
    """Give the codes for an error; only `Overloaded` has codes that exporters retry."""
    for kind in type(error).__mro__:
        if kind in _OUTCOMES:
            return _OUTCOMES[kind]
    return Outcome(500, _INTERNAL)


def status_of(error: ExportRefused) -> Status:
    """Describe an error as `google.rpc.Status`, with BadRequest or RetryInfo details."""
    status = Status(code=outcome_of(error).grpc_code, message=str(error))
    if isinstance(error, MalformedRequest):
        violation = BadRequest.FieldViolation(field=error.field, description=str(error))
        _pack(status, BadRequest(field_violations=[violation]))
    elif isinstance(error, Overloaded):
        _pack(status, retry_info(error.retry_after_s))
    return status


def retry_info(seconds: float) -> RetryInfo:
    """Say when to try again."""
    fraction, whole = math.modf(seconds)
    return RetryInfo(retry_delay=Duration(seconds=int(whole), nanos=int(fraction * 1e9)))


def _pack(status: Status, detail: BadRequest | RetryInfo) -> None:
    packed = AnyMessage()
    packed.Pack(detail)
    status.details.append(packed)
