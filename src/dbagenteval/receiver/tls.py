"""Certificates: for both protocols, read again when the files change."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from dbagenteval.errors import UserError

__all__ = ["TlsFiles"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """PEM files of the receiver.

    Args:
        certificate: The certificate chain.
        key: Its private key.
        client_ca: If given, clients must show a certificate of this authority.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def check(self) -> None:
        """Check that the files fit together.

        Raises:
            UserError: They don't, or can't be read.
        """
        self.http_context()

    def http_context(self) -> ssl.SSLContext:
        """Make the context of the HTTP server.

        Raises:
            UserError: The files can't be used.
        """
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            context.load_cert_chain(self.certificate, self.key)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        except (OSError, ssl.SSLError) as error:
            raise UserError(f"TLS files of {self.certificate}: can't be used: {error}") from error
        return context

    def reload_into(self, context: ssl.SSLContext) -> None:
        """Let new connections use the files as they are now; a broken pair changes nothing."""
        try:
            self.check()
            context.load_cert_chain(self.certificate, self.key)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
        except (UserError, OSError, ssl.SSLError):
            _log.warning("receiver.tls_not_reloaded")
        else:
            _log.info("receiver.tls_reloaded")

    def stamp(self) -> tuple[int, ...]:
        """Give a value that changes when a file does."""
        files = [self.certificate, self.key, *([self.client_ca] if self.client_ca else [])]
        try:
            return tuple(path.stat().st_mtime_ns for path in files)
        except OSError:
            return ()

    def grpc_credentials(self) -> Any:
        """Make credentials for the gRPC server that follow the files."""
        known = [self.stamp()]

        def configuration() -> Any:
            pair = (self.key.read_bytes(), self.certificate.read_bytes())
            roots = self.client_ca.read_bytes() if self.client_ca else None
            return grpc.ssl_server_certificate_configuration([pair], roots)

        def changed() -> Any:
            stamp = self.stamp()
            if stamp in (known[0], ()):
                return None
            try:
                self.check()
                fresh = configuration()
            except (UserError, OSError):
                return None
            known[0] = stamp
            return fresh

        return grpc.dynamic_ssl_server_credentials(
            configuration(), changed, require_client_authentication=self.client_ca is not None
        )
