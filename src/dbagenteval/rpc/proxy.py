"""`EvaluationService` on the receiver's gRPC port: calls are passed on to the store process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import grpc.aio

from dbagenteval.errors import ExportRefused
from dbagenteval.otlp.status import outcome_of
from dbagenteval.receiver import READ, Tokens
from dbagenteval.rpc.messages import SERVICE

__all__ = ["EvaluationProxy"]

_CODES = {code.value[0]: code for code in grpc.StatusCode}


class EvaluationProxy(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic in stubs only
    """Pass calls on, messages as the bytes they are.

    Args:
        service: Gives address and token of the store process, which may be another one later.
        tokens: Who may read.
    """

    def __init__(self, service: Callable[[], tuple[str, str]], tokens: Tokens | None) -> None:
        self._service = service
        self._tokens = tokens
        self._channel: grpc.aio.Channel | None = None
        self._address = ""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Give the handler of a method; a single answer is a stream of one."""
        method = handler_call_details.method
        if not method.startswith(f"/{SERVICE}/"):
            return None

        async def forward(body: bytes, context: Any) -> AsyncIterator[bytes]:
            await self._check(context)
            address, token = self._service()
            metadata = (("authorization", f"Bearer {token}"),)
            call = self._channel_to(address).unary_stream(method, None, None)(
                body, metadata=metadata
            )
            try:
                async for answer in call:
                    yield answer
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "")

        return grpc.unary_stream_rpc_method_handler(forward)

    async def _check(self, context: Any) -> None:
        if self._tokens is None:
            return
        headers = {key: str(value) for key, value in context.invocation_metadata() or ()}
        try:
            self._tokens.check(headers, READ)
        except ExportRefused as error:
            await context.abort(_CODES[outcome_of(error).grpc_code], str(error))

    def _channel_to(self, address: str) -> grpc.aio.Channel:
        if self._channel is None or address != self._address:
            options = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
            self._channel, self._address = grpc.aio.insecure_channel(address, options), address
        return self._channel
