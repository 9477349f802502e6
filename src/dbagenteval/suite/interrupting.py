"""End what takes too long, from another thread."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["interrupted_after"]

_AGAIN_AFTER_S = 0.05


@contextmanager
def interrupted_after(seconds: float, stop: Callable[[], object]) -> Iterator[Callable[[], bool]]:
    """Interrupt what runs in the block once its time is over.

    Args:
        seconds: That it may take.
        stop: Interrupts it. It is called again and again until the block is left: an interrupt
            between two statements is lost.

    Yields:
        Says whether the time is over.
    """
    until = time.monotonic() + seconds
    finished = threading.Event()

    def watch() -> None:
        wait_s = seconds
        while not finished.wait(wait_s):
            wait_s = _AGAIN_AFTER_S
            with contextlib.suppress(Exception):
                stop()

    watcher = threading.Thread(target=watch, name="dbagenteval-limit", daemon=True)
    watcher.start()
    try:
        yield lambda: time.monotonic() >= until
    finally:
        finished.set()
        watcher.join()
