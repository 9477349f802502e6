"""How the owner and its store process tell each other how far the journal got, over two pipes.

To the store process: positions that are durable, 8 bytes each; `CLOSE` to store the rest and end.
From it: a JSON object a line, first `position` once the database is open, then `applied` after each
batch. If the owner dies the pipe ends, and the store process ends at once: the next owner replays.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

__all__ = ["CLOSE", "PipeFeed", "encode_position"]

CLOSE = 2**64 - 1
_POSITION = struct.Struct("<Q")


def encode_position(position: int) -> bytes:
    """Encode a position for the pipe."""
    return _POSITION.pack(position)


class PipeFeed:
    """The store process's end.

    Args:
        positions: From the owner.
        reports: To the owner.
        durable: How far the journal is safe at the start.
    """

    def __init__(self, positions: BinaryIO, reports: TextIO, durable: int) -> None:
        self._positions = positions
        self._reports = reports
        self._reporting = threading.Lock()
        self._changed = threading.Condition()
        self.durable = durable
        self.gauges: Callable[[], dict[str, float]] = dict
        self.is_closing = False
        threading.Thread(target=self._listen, name="positions", daemon=True).start()

    def report(self, **facts: Any) -> None:
        """Send facts to the owner."""
        with self._reporting:
            self._reports.write(json.dumps(facts) + "\n")
            self._reports.flush()

    def wait_beyond(self, position: int, timeout_s: float | None) -> bool:
        """Wait until more than `position` is durable, or the feed closes."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self.durable > position or self.is_closing, timeout_s
            )

    def mark_applied(self, position: int) -> None:
        """Tell the owner, with the figures of the writer."""
        self.report(applied=position, gauges=self.gauges())

    def mark_failed(self, problem: str) -> None:
        """Tell the owner."""
        self.report(problem=problem)

    def _listen(self) -> None:
        while True:
            data = self._positions.read(_POSITION.size)
            if len(data) < _POSITION.size:
                os._exit(0)  # the owner is gone; the journal holds what is missing
            (position,) = _POSITION.unpack(data)
            with self._changed:
                if position == CLOSE:
                    self.is_closing = True
                else:
                    self.durable = max(self.durable, position)
                self._changed.notify_all()
                if self.is_closing:
                    return
