"""gRPC handlers over plain methods: messages in and out, the token checked, errors as codes."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from dbagenteval.errors import DbAgentEvalError
from dbagenteval.rpc.messages import message

__all__ = ["stream", "unary", "upload"]


def unary(answer: Callable[[Any], Any], request: str, token: str) -> Any:
    """Make the handler of a method that gives one answer."""

    def handle(body: bytes, context: grpc.ServicerContext) -> Any:
        _check(context, token)
        with _errors_as_codes(context):
            return answer(_parsed(request, body))

    return grpc.unary_unary_rpc_method_handler(handle, None, _serialized)


def upload(answer: Callable[[Iterator[Any]], Any], request: str, token: str) -> Any:
    """Make the handler of a method that takes a stream and gives one answer."""

    def handle(bodies: Iterator[bytes], context: grpc.ServicerContext) -> Any:
        _check(context, token)
        with _errors_as_codes(context):
            return answer(_parsed(request, body) for body in bodies)

    return grpc.stream_unary_rpc_method_handler(handle, None, _serialized)


def stream(answer: Callable[[Any], Iterator[Any]], request: str, token: str) -> Any:
    """Make the handler of a method that gives a stream."""

    def handle(body: bytes, context: grpc.ServicerContext) -> Iterator[Any]:
        _check(context, token)
        with _errors_as_codes(context):
            yield from answer(_parsed(request, body))

    return grpc.unary_stream_rpc_method_handler(handle, None, _serialized)


def _parsed(request: str, body: bytes) -> Any:
    """Parse a request here: what grpc's own parsing can't read gets INTERNAL."""
    try:
        return message(request).FromString(body)
    except DecodeError as error:
        raise ValueError(f"the body is no {request}") from error


@contextmanager
def _errors_as_codes(context: grpc.ServicerContext) -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        context.abort(grpc.StatusCode.NOT_FOUND, str(error))
    except ValueError as error:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
    except DbAgentEvalError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))


def _serialized(found: Any) -> bytes:
    content: bytes = found.SerializeToString()
    return content


def _check(context: grpc.ServicerContext, token: str) -> None:
    offered = dict(context.invocation_metadata()).get("authorization", "")
    if not hmac.compare_digest(str(offered).encode(), f"Bearer {token}".encode()):
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "a valid bearer token is required")
