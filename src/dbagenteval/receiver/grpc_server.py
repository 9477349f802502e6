"""OTLP/gRPC: the Export methods of traces, logs and metrics.

Bodies arrive as bytes, so that a malformed one gets INVALID_ARGUMENT instead of grpc's UNKNOWN.
Source: https://opentelemetry.io/docs/specs/otlp/#otlpgrpc
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import grpc
import grpc.aio

from dbagenteval.errors import ExportRefused, Overloaded, UserError
from dbagenteval.otlp.decode import PROTOBUF
from dbagenteval.otlp.response import export_response
from dbagenteval.otlp.status import outcome_of, retry_info, status_of
from dbagenteval.receiver.config import Address
from dbagenteval.receiver.ingest import Ingest

__all__ = ["GrpcServer"]

_SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_RETRY_KEY = "google.rpc.retryinfo-bin"
"""The Python exporter reads the delay here, others in grpc-status-details-bin."""

_Export = Callable[[bytes, Any], Awaitable[bytes]]


class GrpcServer:
    """The gRPC side of the receiver.

    Args:
        ingest: What takes the requests.
        address: Where to listen.
    """

    def __init__(self, ingest: Ingest, address: Address) -> None:
        self._ingest = ingest
        self._address = address
        limit = ingest.limits.max_request_bytes
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", limit),
                ("grpc.so_reuseport", 0),
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.max_ping_strikes", 0),
            ]
        )
        handlers = {
            name: grpc.method_handlers_generic_handler(
                name, {"Export": grpc.unary_unary_rpc_method_handler(self._export(signal))}
            )
            for signal, name in _SERVICES.items()
        }
        self._server.add_generic_rpc_handlers(tuple(handlers.values()))

    async def start(self) -> Address:
        """Listen; give the address with the port that was chosen.

        Raises:
            UserError: The port is in use.
        """
        try:
            port = self._server.add_insecure_port(str(self._address))
        except RuntimeError as error:
            raise UserError(f"can't listen on {self._address} (gRPC)") from error
        await self._server.start()
        return Address(self._address.host, port)

    async def stop(self, grace_s: float) -> None:
        """Take no more exports and let those under way finish."""
        await self._server.stop(grace_s)

    def _export(self, signal: str) -> _Export:
        async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            try:
                with self._ingest.admit() as admission:
                    admission.grow(len(body))
                    accepted = await self._ingest.take(signal, body, PROTOBUF)
            except ExportRefused as error:
                await _abort(context, error)
            response = export_response(signal, accepted.rejected, accepted.message)
            encoded: bytes = response.SerializeToString()
            return encoded

        return export


async def _abort(context: grpc.aio.ServicerContext[bytes, bytes], error: ExportRefused) -> NoReturn:
    status = status_of(error)
    trailing: list[tuple[str, str | bytes]] = [
        ("grpc-status-details-bin", status.SerializeToString())
    ]
    if isinstance(error, Overloaded):
        trailing.append((_RETRY_KEY, retry_info(error.retry_after_s).SerializeToString()))
    await context.abort(_CODES[outcome_of(error).grpc_code], str(error), tuple(trailing))
    raise AssertionError("abort raises")
