"""Removing what is too old or too much while a store is served, by a clock that is not fooled."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from dbagenteval.errors import StoreError
from dbagenteval.store import Store

__all__ = ["CautiousClock", "start_retention"]

_log = logging.getLogger(__name__)

_INTERVAL_S = 600.0
_SLACK_NS = 60 * 10**9
_BELIEVED_AFTER_NS = 86_400 * 10**9


def _elapsed_ns() -> int:
    """Give a time that nobody sets, and that goes on while the machine sleeps where it can."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class CautiousClock:
    """The time of day; a leap forward is believed only after it has lasted for a day.

    A clock that is set wrong for an hour must not make everything look old.

    Args:
        wall_ns: The time of day, Unix nanoseconds.
        elapsed_ns: A time that only goes by.
    """

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        elapsed_ns: Callable[[], int] = _elapsed_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._elapsed_ns = elapsed_ns
        self._offset_ns = wall_ns() - elapsed_ns()
        self._leapt_at_ns: int | None = None

    def now_ns(self) -> int:
        """Give the time, Unix nanoseconds."""
        elapsed_ns = self._elapsed_ns()
        offset_ns = self._wall_ns() - elapsed_ns
        if offset_ns <= self._offset_ns + _SLACK_NS:
            self._offset_ns, self._leapt_at_ns = offset_ns, None
        elif self._leapt_at_ns is None:
            self._leapt_at_ns = elapsed_ns
            _log.warning("store.clock_leapt seconds=%d", (offset_ns - self._offset_ns) // 10**9)
        elif elapsed_ns - self._leapt_at_ns >= _BELIEVED_AFTER_NS:
            self._offset_ns, self._leapt_at_ns = offset_ns, None
        return elapsed_ns + self._offset_ns


def start_retention(store: Store, keep_s: float | None, max_bytes: int | None) -> None:
    """Remove what is too old or too much, from time to time, in a thread of its own.

    Args:
        store: The open store.
        keep_s: Remove traces that ended longer ago; None keeps them.
        max_bytes: Remove the oldest above this size; None keeps them.
    """
    clock = CautiousClock()

    def work() -> None:
        while True:
            before_ns = None if keep_s is None else clock.now_ns() - int(keep_s * 1e9)
            try:
                store.prune(before_ns=before_ns, max_bytes=max_bytes)
            except StoreError as error:
                _log.warning("store.not_pruned error=%s", error)
            time.sleep(_INTERVAL_S)

    threading.Thread(target=work, name="retention", daemon=True).start()
