"""How the receiver listens and what it takes."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.errors import UserError, quoted
from dbagenteval.otlp.redaction import Redactor
from dbagenteval.receiver.auth import Tokens
from dbagenteval.receiver.tls import TlsFiles

__all__ = ["Address", "Limits", "ReceiverConfig", "parse_address"]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only processes of this machine reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the receiver takes before it refuses.

    Args:
        max_request_bytes: Of a body as received, and after decompression.
        max_inflight_bytes: Of all bodies that are being read or wait for the disk.
        max_inflight_requests: How many exports may be under way.
        header_timeout_s: A connection must send its request headers within this time.
        body_timeout_s: A body may pause for at most this time.
        shutdown_timeout_s: How long exports under way may take once the receiver stops.
    """

    max_request_bytes: int = 64 * _MIB
    max_inflight_bytes: int = 512 * _MIB
    max_inflight_requests: int = 1024
    header_timeout_s: float = 60.0
    body_timeout_s: float = 60.0
    shutdown_timeout_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverConfig:
    """All that the receiver is told.

    Args:
        grpc: Where OTLP/gRPC listens; None for nowhere.
        http: Where OTLP/HTTP listens; None for nowhere.
        limits: What it takes.
        traces_path: Path of the traces signal.
        logs_path: Path of the logs signal.
        metrics_path: Path of the metrics signal, which is answered and ignored.
        tokens: Who may send; None lets everybody.
        tls: Certificate files; None serves plain text.
        redactor: Replaces what must not be kept, before anything is written.
        services: Further gRPC services for the same port: handlers and the names they serve.
        cors_origins: Pages whose browsers may send.
        max_connection_age_s: gRPC connections are closed gently after this time; 0 for never.
    """

    grpc: Address | None = Address("127.0.0.1", 4317)
    http: Address | None = Address("127.0.0.1", 4318)
    limits: Limits = field(default_factory=Limits)
    traces_path: str = "/v1/traces"
    logs_path: str = "/v1/logs"
    metrics_path: str = "/v1/metrics"
    tokens: Tokens | None = None
    tls: TlsFiles | None = None
    redactor: Redactor | None = None
    services: tuple[tuple[Any, str], ...] = ()
    cors_origins: tuple[str, ...] = ()
    max_connection_age_s: float = 0.0

    def check_exposure(self) -> None:
        """Refuse to be reachable from other machines by everybody.

        Raises:
            UserError: An address isn't loopback, and neither a token nor a client certificate
                is asked for.
        """
        guarded = (self.tokens is not None and not self.tokens.is_empty) or (
            self.tls is not None and self.tls.client_ca is not None
        )
        for address in (self.grpc, self.http):
            if address is not None and not address.is_loopback and not guarded:
                raise UserError(
                    f"{address} is reachable from other machines and nothing guards it",
                    hint="use --token-file or --client-ca, or --insecure if you mean it",
                )


def parse_address(text: str) -> Address:
    """Parse `HOST:PORT`, `[IPv6]:PORT` or a bare port on loopback.

    Raises:
        UserError: It is no such address.
    """
    host, separator, port_text = text.rpartition(":")
    if not separator:
        host, port_text = "127.0.0.1", text
    host = host.strip("[]") if host.startswith("[") else host
    if not port_text.isascii() or not port_text.isdigit() or int(port_text) > 65535 or not host:
        raise UserError(
            f"address {quoted(text)}: expected HOST:PORT with a port from 0 to 65535",
            hint="for example 127.0.0.1:4317",
        )
    return Address(host, int(port_text))


def check_free(address: Address) -> None:
    """Check that an address can be listened on, without listening.

    Raises:
        UserError: The port is in use, or the host is not of this machine.
    """
    bind(address).close()


def bind(address: Address) -> socket.socket:
    """Bind a socket to the address; it doesn't listen yet.

    Raises:
        UserError: The port is in use, or the host is not of this machine.
    """
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UserError(f"can't listen on {address}: {error.strerror}") from error
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(target)
        if address.port:
            bound.listen(1)  # only this finds another listener on some systems
    except OSError as error:
        bound.close()
        raise UserError(
            f"can't listen on {address}: {error.strerror}",
            hint="stop what uses this port, or choose another one",
        ) from error
    return bound
