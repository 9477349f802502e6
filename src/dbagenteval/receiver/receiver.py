"""Both protocols in one process, started and stopped together."""

from __future__ import annotations

import logging

from dbagenteval.receiver.config import Address, ReceiverConfig, bind, check_free
from dbagenteval.receiver.grpc_server import GrpcServer
from dbagenteval.receiver.http_app import HttpApp
from dbagenteval.receiver.http_server import HttpServer
from dbagenteval.receiver.ingest import Ingest, SpanSink

__all__ = ["Receiver", "check_addresses"]

_log = logging.getLogger(__name__)


def check_addresses(config: ReceiverConfig) -> None:
    """Check that the receiver could listen where it is told to; no port is opened.

    Raises:
        UserError: A port is in use.
    """
    for address in (config.grpc, config.http):
        if address is not None:
            check_free(address)


class Receiver:
    """The OTLP receiver.

    Args:
        sink: Where requests go.
        config: Where it listens and what it takes.
    """

    def __init__(self, sink: SpanSink, config: ReceiverConfig) -> None:
        self._config = config
        self.ingest = Ingest(sink, config.limits)
        self._grpc: GrpcServer | None = None
        self._http: HttpServer | None = None
        self.grpc_address: Address | None = None
        self.http_address: Address | None = None

    async def start(self) -> None:
        """Listen on all addresses, or on none.

        Raises:
            UserError: A port is in use.
        """
        bound = bind(self._config.http) if self._config.http is not None else None
        try:
            if self._config.grpc is not None:
                self._grpc = GrpcServer(self.ingest, self._config.grpc)
                self.grpc_address = await self._grpc.start()
        except BaseException:
            if bound is not None:
                bound.close()
            raise
        if bound is not None:
            self._http = HttpServer(
                HttpApp(self.ingest, self._config),
                bound,
                header_timeout_s=self._config.limits.header_timeout_s,
                shutdown_timeout_s=self._config.limits.shutdown_timeout_s,
            )
            self.http_address = await self._http.start()
        _log.info("receiver.started grpc=%s http=%s", self.grpc_address, self.http_address)

    async def stop(self) -> None:
        """Stop listening and let exports under way finish."""
        if self._grpc is not None:
            await self._grpc.stop(self._config.limits.shutdown_timeout_s)
        if self._http is not None:
            await self._http.stop()
        _log.info("receiver.stopped")
