"""The HTTP server under the application: uvicorn on our socket, with a time limit for headers."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Iterator
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dbagenteval.receiver.config import Address

__all__ = ["HttpServer"]

_KEEP_ALIVE_S = 75


class _Server(uvicorn.Server):
    """Leaves signals to the receiver, and tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class _TimedProtocol(H11Protocol):
    """Closes connections that don't complete the headers of a request in time."""

    header_timeout_s: ClassVar[float]
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _is_busy(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _watch(self) -> None:
        if self._is_busy():
            self._forget()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_timeout_s, self._expire)

    def _forget(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _expire(self) -> None:
        self._header_timer = None
        if not self._is_busy():
            self.transport.close()


class HttpServer:
    """The HTTP side of the receiver.

    Args:
        app: ASGI application.
        bound: A bound socket; the server takes it over.
        tls: Context for TLS, None for plain text.
        header_timeout_s: For the headers of each request.
        shutdown_timeout_s: For requests under way when it stops.
    """

    def __init__(
        self,
        app: Any,
        bound: socket.socket,
        *,
        tls: ssl.SSLContext | None = None,
        header_timeout_s: float,
        shutdown_timeout_s: float,
    ) -> None:
        self._bound = bound
        config = uvicorn.Config(
            app,
            http=type("TimedProtocol", (_TimedProtocol,), {"header_timeout_s": header_timeout_s}),
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=math.ceil(shutdown_timeout_s),
        )
        config.load()
        config.ssl = tls
        self._server = _Server(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> Address:
        """Listen; give the address with the port that was chosen."""
        host, port = self._bound.getsockname()[:2]
        self._task = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        await self._server.listening.wait()
        return Address(host, port)

    async def stop(self) -> None:
        """Take no more requests and let those under way finish."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
