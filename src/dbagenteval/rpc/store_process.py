"""The process that stores what the receiver's journal holds, and reads it for others.

Run by `dbagenteval serve` with the store's directory and the descriptor of its lock.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import secrets
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

from dbagenteval.errors import StoreError
from dbagenteval.otlp.redaction import Redactor
from dbagenteval.rpc.retention import start_retention
from dbagenteval.rpc.service import EvaluationService
from dbagenteval.rpc.store_service import StoreService
from dbagenteval.store import PipeFeed, Store

__all__ = ["main"]

_log = logging.getLogger(__name__)

_MAX_CALLS = 8
_MAX_MESSAGE_BYTES = 512 << 20
_STOP_GRACE_S = 2.0


def main(arguments: list[str]) -> int:
    """Store until the owner closes the feed; the lock's descriptor is only held open."""
    options = _parse(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write to the pipe
    # Unbuffered: a buffer that a thread waits for makes the interpreter abort at its end.
    positions = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    feed = PipeFeed(positions, reports, 0)
    try:
        store = Store.adopt(options.directory)
    except StoreError as error:
        feed.report(error=str(error), kind=type(error).__name__, hint=error.hint)
        return 2
    feed.gauges = store.gauges
    token = secrets.token_urlsafe(32)
    redactor = None if options.redact is None else Redactor(**options.redact)
    server, port = _serve(store, token, redactor)
    feed.report(position=store.position, address=f"127.0.0.1:{port}", token=token)
    if options.keep_s or options.max_bytes:
        start_retention(store, options.keep_s, options.max_bytes)
    try:
        store.follow(feed)
    except StoreError as error:
        feed.mark_failed(str(error))
        os._exit(1)  # the owner starts another process; closing this database may fail too
    server.stop(_STOP_GRACE_S).wait()
    store.close()
    return 0


def _serve(store: Store, token: str, redactor: Redactor | None) -> tuple[grpc.Server, int]:
    """Serve on a free loopback port to those who know the token; gives the server and its port."""
    server = grpc.server(
        ThreadPoolExecutor(_MAX_CALLS),
        options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES)],
    )
    services = (EvaluationService(store), StoreService(store, redactor))
    server.add_generic_rpc_handlers(tuple(service.handlers(token) for service in services))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="store_process")
    parser.add_argument("--keep-s", type=float)
    parser.add_argument("--max-bytes", type=int)
    parser.add_argument("--redact", type=json.loads)
    parser.add_argument("directory")
    parser.add_argument("lock_descriptor", type=int)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
