"""OTLP/gRPC: the Export methods of traces, logs and metrics.

Bodies arrive as bytes, so that a malformed one gets INVALID_ARGUMENT instead of grpc's UNKNOWN.
Source: https://opentelemetry.io/docs/specs/otlp/#otlpgrpc
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from dbagenteval.errors import ExportRefused, MalformedRequest, Overloaded, UserError
from dbagenteval.otlp.decode import PROTOBUF
from dbagenteval.otlp.response import export_response
from dbagenteval.otlp.status import outcome_of, retry_info, status_of
from dbagenteval.receiver.auth import INGEST
from dbagenteval.receiver.body_reads import BodyReads
from dbagenteval.receiver.config import Address, ReceiverConfig
from dbagenteval.receiver.ingest import Accepted, Ingest

__all__ = ["GrpcServer"]

_SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_RETRY_KEY = "google.rpc.retryinfo-bin"
"""The Python exporter reads the delay here, others in grpc-status-details-bin."""

_MAX_STREAMS = 100
"""Exports at once of one connection; a client keeps the rest back."""

_LEAST_WINDOW = 64 << 10
_TOO_SLOW = "the request did not arrive in time"

_Export = Callable[[AsyncIterator[bytes], Any], Awaitable[bytes]]


class GrpcServer:
    """The gRPC side of the receiver.

    Args:
        ingest: What takes the requests.
        address: Where to listen.
        config: Credentials, certificates and limits.
    """

    def __init__(self, ingest: Ingest, address: Address, config: ReceiverConfig) -> None:
        self._ingest = ingest
        self._address = address
        self._tokens = config.tokens
        self._tls = config.tls
        self._reads = BodyReads(config.limits)
        self._server = grpc.aio.server(options=_options(config))
        health_module: Any = health  # its stubs don't know the asyncio part
        self._health = health_module.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        handlers = {
            name: grpc.method_handlers_generic_handler(
                name, {"Export": grpc.stream_unary_rpc_method_handler(self._export(signal))}
            )
            for signal, name in _SERVICES.items()
        }
        self._server.add_generic_rpc_handlers(tuple(handlers.values()))
        self._names = ["", *_SERVICES.values(), *(name for _, name in config.services)]
        for handler, _ in config.services:
            self._server.add_generic_rpc_handlers((handler,))
        described = (*self._names[1:], health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(described, self._server)

    async def start(self) -> Address:
        """Listen; give the address with the port that was chosen.

        Raises:
            UserError: The port is in use.
        """
        try:
            if self._tls is None:
                port = self._server.add_insecure_port(str(self._address))
            else:
                credentials = self._tls.grpc_credentials()
                port = self._server.add_secure_port(str(self._address), credentials)
        except RuntimeError as error:
            raise UserError(f"can't listen on {self._address} (gRPC)") from error
        await self._server.start()
        return Address(self._address.host, port)

    async def set_ready(self, is_ready: bool) -> None:
        """Tell the clients of the health service."""
        status = health_pb2.HealthCheckResponse.ServingStatus
        current = status.SERVING if is_ready else status.NOT_SERVING
        for name in self._names:
            await self._health.set(name, current)

    async def stop(self, grace_s: float) -> None:
        """Take no more exports and let those under way finish."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)

    def _export(self, signal: str) -> _Export:
        # The one request comes as a stream, so that nothing of it is read before it is admitted.
        async def export(
            requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext[bytes, bytes]
        ) -> bytes:
            try:
                if self._tokens is not None:
                    self._tokens.check(_metadata(context), INGEST)
                accepted = await self._take(signal, requests)
            except ExportRefused as error:
                await _abort(context, error)
            except asyncio.TimeoutError:
                await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, _TOO_SLOW)
            response = export_response(signal, accepted.rejected, accepted.message)
            encoded: bytes = response.SerializeToString()
            return encoded

        return export

    async def _take(self, signal: str, requests: AsyncIterator[bytes]) -> Accepted:
        with self._ingest.admit() as admission:
            body = await self._reads.read(_only(requests))
            admission.grow(len(body))
            return await self._ingest.take(signal, body, PROTOBUF)


def _options(config: ReceiverConfig) -> list[tuple[str, int]]:
    limits = config.limits
    # What may arrive of a body that waits for its place; most are whole by then. The window must
    # not grow by itself: all that wait have to fit into memory.
    ahead = max(_LEAST_WINDOW, limits.max_inflight_bytes // limits.max_inflight_requests)
    options = [
        ("grpc.max_receive_message_length", limits.max_request_bytes),
        ("grpc.http2.lookahead_bytes", min(ahead, limits.max_request_bytes)),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.max_concurrent_streams", _MAX_STREAMS),
        ("grpc.so_reuseport", 0),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_ping_strikes", 0),
    ]
    if config.max_connection_age_s:
        options.append(("grpc.max_connection_age_ms", int(config.max_connection_age_s * 1000)))
    return options


async def _only(requests: AsyncIterator[bytes]) -> bytes:
    async for body in requests:
        return body
    raise MalformedRequest("no request message")


def _metadata(context: grpc.aio.ServicerContext[bytes, bytes]) -> dict[str, str]:
    found = context.invocation_metadata() or ()
    return {key: value for key, value in found if isinstance(value, str)}


async def _abort(context: grpc.aio.ServicerContext[bytes, bytes], error: ExportRefused) -> NoReturn:
    status = status_of(error)
    trailing: list[tuple[str, str | bytes]] = [
        ("grpc-status-details-bin", status.SerializeToString())
    ]
    if isinstance(error, Overloaded):
        trailing.append((_RETRY_KEY, retry_info(error.retry_after_s).SerializeToString()))
    await context.abort(_CODES[outcome_of(error).grpc_code], str(error), tuple(trailing))
    raise AssertionError("abort raises")
