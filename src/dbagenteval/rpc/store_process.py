"""The process that stores what the receiver's journal holds, and reads it for others.

Run by `dbagenteval serve` with the store's directory and the descriptor of its lock.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys

from dbagenteval.errors import StoreError
from dbagenteval.rpc.service import start_service
from dbagenteval.store import PipeFeed, Store

__all__ = ["main"]

_STOP_GRACE_S = 2.0


def main(arguments: list[str]) -> int:
    """Store until the owner closes the feed; the lock's descriptor is only held open."""
    directory = arguments[0]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write to the pipe
    feed = PipeFeed(sys.stdin.buffer, reports, 0)
    try:
        store = Store.adopt(directory)
    except StoreError as error:
        feed.report(error=str(error), kind=type(error).__name__, hint=error.hint)
        return 2
    feed.gauges = store.gauges
    token = secrets.token_urlsafe(32)
    server, port = start_service(store, token)
    feed.report(position=store.position, address=f"127.0.0.1:{port}", token=token)
    try:
        store.follow(feed)
    except StoreError as error:
        feed.mark_failed(str(error))
        os._exit(1)  # the owner starts another process; closing this database may fail too
    server.stop(_STOP_GRACE_S).wait()
    store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
