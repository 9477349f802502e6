"""Both protocols in one process, started and stopped together."""

from __future__ import annotations

import asyncio
import logging
import ssl

from dbagenteval.receiver.config import Address, ReceiverConfig, bind, check_free
from dbagenteval.receiver.grpc_server import GrpcServer
from dbagenteval.receiver.heap import give_back_freed
from dbagenteval.receiver.http_app import HttpApp
from dbagenteval.receiver.http_server import HttpServer
from dbagenteval.receiver.ingest import Ingest, SpanSink

__all__ = ["Receiver", "check_addresses"]

_log = logging.getLogger(__name__)

_WATCH_INTERVAL_S = 1.0
_GIVE_BACK_BYTES = 64 << 20


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
        self.ingest = Ingest(sink, config.limits, config.redactor)
        self._grpc: GrpcServer | None = None
        self._http: HttpServer | None = None
        self.grpc_address: Address | None = None
        self.http_address: Address | None = None
        self._watch: asyncio.Task[None] | None = None
        self._bytes_given_back = 0
        self._tls_stamp = config.tls.stamp() if config.tls is not None else ()

    async def start(self) -> None:
        """Listen on all addresses, or on none.

        Raises:
            UserError: A port is in use.
        """
        tls = self._config.tls
        context = tls.http_context() if tls is not None else None
        bound = bind(self._config.http) if self._config.http is not None else None
        try:
            if self._config.grpc is not None:
                self._grpc = GrpcServer(self.ingest, self._config.grpc, self._config)
                self.grpc_address = await self._grpc.start()
        except BaseException:
            if bound is not None:
                bound.close()
            raise
        if bound is not None:
            self._http = HttpServer(
                HttpApp(self.ingest, self._config),
                bound,
                tls=context,
                header_timeout_s=self._config.limits.header_timeout_s,
                shutdown_timeout_s=self._config.limits.shutdown_timeout_s,
            )
            self.http_address = await self._http.start()
        await self._look_after(context)
        self._watch = asyncio.create_task(self._keep_watch(context))
        _log.info("receiver.started grpc=%s http=%s", self.grpc_address, self.http_address)

    async def stop(self) -> None:
        """Stop listening and let exports under way finish."""
        if self._watch is not None:
            self._watch.cancel()
        if self._grpc is not None:
            await self._grpc.stop(self._config.limits.shutdown_timeout_s)
        if self._http is not None:
            await self._http.stop()
        _log.info("receiver.stopped")

    async def _keep_watch(self, context: ssl.SSLContext | None) -> None:
        while True:
            await asyncio.sleep(_WATCH_INTERVAL_S)
            await self._look_after(context)
            await self._give_back()

    async def _give_back(self) -> None:
        """Give memory back from time to time while much arrives, and once more when it is done."""
        taken = self.ingest.bytes_taken
        if taken - self._bytes_given_back < _GIVE_BACK_BYTES:
            return
        if not self.ingest.inflight_bytes:
            self._bytes_given_back = taken
        await asyncio.to_thread(give_back_freed)

    async def _look_after(self, context: ssl.SSLContext | None) -> None:
        """Tell the health service how things stand, and follow changed certificates."""
        if self._grpc is not None:
            await self._grpc.set_ready(self.ingest.problem() is None)
        tls = self._config.tls
        if tls is not None and context is not None and tls.stamp() not in (self._tls_stamp, ()):
            self._tls_stamp = tls.stamp()
            tls.reload_into(context)
