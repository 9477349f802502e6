"""gRPC handlers over plain methods: messages in and out, the token checked, errors as codes."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from dbagenteval.errors import DbAgentEvalError
from dbagenteval.rpc.messages import message

__all__ = ["stream", "unary", "upload"]


def unary(answer: Callable[[Any], Any], request: str, token: str) -> Any:
    """Make the handler of a method that gives one answer."""
    return grpc.unary_unary_rpc_method_handler(
        _single(answer, token), message(request).FromString, _serialized
    )


def upload(answer: Callable[[Iterator[Any]], Any], request: str, token: str) -> Any:
    """Make the handler of a method that takes a stream and gives one answer."""
    return grpc.stream_unary_rpc_method_handler(
        _single(answer, token), message(request).FromString, _serialized
    )


def stream(answer: Callable[[Any], Iterator[Any]], request: str, token: str) -> Any:
    """Make the handler of a method that gives a stream."""

    def handle(body: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        _check(context, token)
        try:
            yield from answer(body)
        except (ValueError, DbAgentEvalError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    return grpc.unary_stream_rpc_method_handler(handle, message(request).FromString, _serialized)


def _single(answer: Callable[[Any], Any], token: str) -> Callable[[Any, Any], Any]:
    def handle(body: Any, context: grpc.ServicerContext) -> Any:
        _check(context, token)
        try:
            return answer(body)
        except LookupError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, str(error))
        except DbAgentEvalError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    return handle


def _serialized(found: Any) -> bytes:
    content: bytes = found.SerializeToString()
    return content


def _check(context: grpc.ServicerContext, token: str) -> None:
    offered = dict(context.invocation_metadata()).get("authorization", "")
    if not hmac.compare_digest(str(offered).encode(), f"Bearer {token}".encode()):
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "a valid bearer token is required")
