"""Start the pages on a port."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path

from dbagenteval.errors import UserError

__all__ = ["serve_results"]


def serve_results(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the results files of a folder until it is interrupted.

    Args:
        folder: Where results files are.
        host: Address to listen on; other than loopback needs a token.
        port: Port; 0 takes a free one.
        token: Who has it may read; None lets everyone on this machine.
        announce: Is called with the address once it is listened on.

    Raises:
        UserError: Not loopback and no token, or the port is taken.
    """
    if not _is_loopback(host) and not token:
        raise UserError(
            f"--host {host}: results may hold customers' data, so an address that others reach "
            "needs a token",
            hint="give --token, or DBAGENTEVAL_TOKEN",
        )
    import uvicorn  # noqa: PLC0415 only this command needs a server

    from dbagenteval.web.app import results_app  # noqa: PLC0415

    listener = _listen(host, port)
    bound = listener.getsockname()[1]
    hosts = ("127.0.0.1", "localhost", "::1") if _is_loopback(host) else ()
    app = results_app(folder, token=token, hosts=hosts)
    shown = f"[{host}]" if ":" in host else host
    if announce is not None:
        announce(f"http://{shown}:{bound}/" + (f"?token={token}" if token else ""))
    config = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UserError(f"port {port} of {host} can't be listened on: {error.strerror}") from error
    return listener


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
