"""The other end of the conformance checks: one request, one answer, over HTTP or HTTPS."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dbagenteval.errors import UserError, quoted
from dbagenteval.otlp.decode import PROTOBUF

__all__ = ["Answer", "Fault", "Server"]

_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Fault(Exception):
    """The server does otherwise."""


class Server:
    """The server under test.

    Args:
        url: `http://HOST:PORT`, without the signal path.
        headers: Sent with every request, for credentials.
        ca_file: Certificates (PEM) to trust; None for those of the system.

    Raises:
        UserError: It is no such URL, or the file can't be used.
    """

    def __init__(self, url: str, headers: dict[str, str], ca_file: Path | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"{quoted(url)}: expected http://HOST:PORT of an OTLP/HTTP server")
        self._tls = _tls_context(ca_file) if parts.scheme == "https" else None
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        self._headers = headers

    def _connect(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT_S)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=_TIMEOUT_S, context=self._tls
        )

    def send(
        self,
        body: bytes,
        kind: str = PROTOBUF,
        *,
        path: str = "/v1/traces",
        method: str = "POST",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send one request on a connection of its own."""
        connection = self._connect()
        try:
            sent = {"Content-Type": kind, **self._headers, **(headers or {})}
            connection.request(method, self._base + path, body, sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def expect(self, code: int, *arguments: Any, **more: Any) -> Answer:
        """Send a request and expect a status code."""
        answer = self.send(*arguments, **more)
        if answer.status != code:
            raise Fault(f"answered {answer.status}, not {code}")
        return answer


def _tls_context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # also what isn't PEM
        raise UserError(
            f"{ca_file}: no certificates can be read: {error.strerror or error}"
        ) from error
