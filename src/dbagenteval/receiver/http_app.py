"""OTLP/HTTP: the signal paths, protobuf and JSON on one port.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from google.rpc.status_pb2 import Status
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dbagenteval.errors import (
    ExportRefused,
    Overloaded,
    RequestTooLarge,
    Unauthenticated,
    UnsupportedMediaType,
)
from dbagenteval.otlp.compression import decompress
from dbagenteval.otlp.decode import JSON, media_type
from dbagenteval.otlp.response import encode, export_response
from dbagenteval.otlp.status import outcome_of, status_of
from dbagenteval.receiver.auth import INGEST, READ
from dbagenteval.receiver.config import ReceiverConfig
from dbagenteval.receiver.cors import Cors
from dbagenteval.receiver.ingest import Ingest
from dbagenteval.receiver.metrics import CONTENT_TYPE

__all__ = ["HttpApp"]

_OPERATIONS = ("/healthz", "/readyz", "/metrics")
_NOT_FOUND = 5
_UNIMPLEMENTED = 12
_DEADLINE_EXCEEDED = 4
_DRAIN_FIRST_WAIT_S = 0.2
_DRAIN_TIMEOUT_S = 10.0
_DRAIN_FACTOR = 4
_THREAD_BYTES = 64 << 10


class _ClientGone(Exception):
    """The client closed the connection before its body was complete."""


class _BodyTimeout(Exception):
    """The body paused for too long."""


class HttpApp:
    """The ASGI application of the receiver.

    Args:
        ingest: What takes the requests.
        config: Paths and limits.
    """

    def __init__(self, ingest: Ingest, config: ReceiverConfig) -> None:
        self._ingest = ingest
        self._limits = config.limits
        self._tokens = config.tokens
        self._cors = Cors(config.cors_origins)
        self._signals = {
            config.traces_path.rstrip("/"): "traces",
            config.logs_path.rstrip("/"): "logs",
            config.metrics_path.rstrip("/"): "metrics",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            response = await self._respond(scope, receive)
        except _ClientGone:
            return
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        headers = Headers(scope=scope)
        path = scope["path"].rstrip("/")
        signal = self._signals.get(path)
        media = _response_media(headers)
        if path in _OPERATIONS:
            return self._operation(path, scope["method"], headers, media)
        if signal is None:
            return _failure(404, _NOT_FOUND, "no such path", media)
        if scope["method"] == "OPTIONS":
            preflight = self._cors.preflight(headers)
            if preflight is not None:
                return Response(status_code=204, headers=preflight)
        if scope["method"] != "POST":
            message = "export requests use POST"
            return _failure(405, _UNIMPLEMENTED, message, media, {"Allow": "POST"})
        response = await self._answer(signal, headers, receive, media)
        response.headers.update(self._cors.headers(headers))
        return response

    def _operation(self, path: str, method: str, headers: Headers, media: str) -> Response:
        """Answer a question on the receiver's state."""
        if method not in ("GET", "HEAD"):
            return _failure(405, _UNIMPLEMENTED, "use GET", media, {"Allow": "GET, HEAD"})
        if path == "/healthz":
            return Response("ok\n", media_type="text/plain")
        if path == "/readyz":
            problem = self._ingest.problem()
            if problem is None:
                return Response("ready\n", media_type="text/plain")
            return Response(f"{problem}\n", 503, media_type="text/plain")
        try:
            if self._tokens is not None:
                self._tokens.check(headers, READ)
        except ExportRefused as error:
            return _refusal(error, media)
        return Response(self._ingest.metrics(), headers={"Content-Type": CONTENT_TYPE})

    async def _answer(
        self, signal: str, headers: Headers, receive: Receive, media: str
    ) -> Response:
        try:
            if self._tokens is not None:
                self._tokens.check(headers, INGEST)
            return await self._export(signal, headers, receive)
        except ExportRefused as error:
            return _refusal(error, media)
        except _BodyTimeout:
            message = "the body did not arrive in time"
            return _failure(408, _DEADLINE_EXCEEDED, message, media, {"Connection": "close"})

    async def _export(self, signal: str, headers: Headers, receive: Receive) -> Response:
        try:
            media = media_type(headers.get("content-type", ""))
            with self._ingest.admit() as admission:
                body = await self._read_body(headers, receive, admission)
                encoding = headers.get("content-encoding", "")
                body = await self._decompress(body, encoding)
                accepted = await self._ingest.take(signal, body, media)
        except (UnsupportedMediaType, RequestTooLarge) as error:
            self._ingest.refused(signal, error)
            raise
        response = export_response(signal, accepted.rejected, accepted.message)
        return Response(encode(response, media), media_type=media)

    async def _decompress(self, body: bytes, encoding: str) -> bytes:
        limit = self._limits.max_request_bytes
        if encoding and len(body) > _THREAD_BYTES:
            return await asyncio.to_thread(decompress, body, encoding, limit)
        return decompress(body, encoding, limit)

    async def _read_body(self, headers: Headers, receive: Receive, admission: Any) -> bytes:
        limit = self._limits.max_request_bytes
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            if headers.get("expect", "").lower() != "100-continue":
                await self._drain(receive, _DRAIN_FIRST_WAIT_S)
            raise RequestTooLarge(f"the request is over the limit of {limit} bytes")
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive(receive)
            part = message.get("body", b"")
            size += len(part)
            if size > limit:
                parts.clear()
                await self._drain(receive, _DRAIN_TIMEOUT_S)
                raise RequestTooLarge(f"the request is over the limit of {limit} bytes")
            admission.grow(len(part))
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _receive(self, receive: Receive) -> Message:
        try:
            message = await asyncio.wait_for(receive(), self._limits.body_timeout_s)
        except (TimeoutError, asyncio.TimeoutError):
            raise _BodyTimeout from None
        if message["type"] == "http.disconnect":
            raise _ClientGone
        return message

    async def _drain(self, receive: Receive, first_wait_s: float) -> None:
        """Read on and drop it, within bounds: a client that still sends won't read an answer."""
        left = _DRAIN_FACTOR * self._limits.max_request_bytes
        wait_s = first_wait_s
        try:
            while left > 0:
                message = await asyncio.wait_for(receive(), wait_s)
                if message["type"] == "http.disconnect":
                    raise _ClientGone
                if not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
                wait_s = _DRAIN_TIMEOUT_S
        except (TimeoutError, asyncio.TimeoutError):
            return


def _response_media(headers: Headers) -> str:
    """Answer in the request's type; in JSON if it has none that we know."""
    try:
        return media_type(headers.get("content-type", ""))
    except UnsupportedMediaType:
        return JSON


def _refusal(error: ExportRefused, media: str) -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, Overloaded):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RequestTooLarge):
        headers["Connection"] = "close"
    body = encode(status_of(error), media)
    return Response(body, outcome_of(error).http_status, headers, media)


def _failure(
    http_status: int,
    code: int,
    message: str,
    media: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    body = encode(Status(code=code, message=message), media)
    return Response(body, http_status, headers, media)
