"""The thread that makes spans of finished records, and finishes those that programs forget.

A span costs a program some 20 µs where it runs often, and ten times that between other work; made
here, some at a time, it costs next to nothing.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from opentelemetry import trace

if TYPE_CHECKING:
    from dbagenteval.instrument.record import Record

__all__ = ["add", "flush", "hand_over"]

IDLE_S = 2.0
"""A result from which nothing was fetched for so long is taken as it is."""
_LOOK_EVERY_S = 0.25

_begun: deque[weakref.ref[Record]] = deque()
_handed_over: deque[Record] = deque()
_wanted = threading.Event()
_making = threading.RLock()
_process: int | None = None


def add(record: Record) -> None:
    """Watch a record until it is finished."""
    _begun.append(weakref.ref(record))
    if _process != os.getpid():
        _start()
    if not _wanted.is_set():
        _wanted.set()


def hand_over(record: Record) -> None:
    """Leave a finished record, or one that nobody refers to any more; takes no lock."""
    _handed_over.append(record)


def flush(*, forgotten: bool = False) -> None:
    """Make the spans of all records that were handed over.

    Args:
        forgotten: Finish all others too, as the process ends.
    """
    with _making:
        _look_after_open(forgotten=forgotten)
        while _handed_over:
            record = _handed_over.popleft()
            if record.is_finished:
                record.write()
            else:
                record.finish(is_whole=record.reached_bound())


def _look_after_open(*, forgotten: bool) -> None:
    now = time.time_ns()
    for _ in range(len(_begun)):
        reference = _begun.popleft()
        record = reference()
        if record is None or record.is_finished:
            continue
        count, since = record.watched
        if record.count != count:
            record.watched = (record.count, now)
        elif now - since > IDLE_S * 1e9:
            record.finish(is_whole=record.reached_bound(), end_ns=since)
            continue
        if forgotten:
            record.finish(is_whole=record.reached_bound())
        else:
            _begun.append(reference)


def _start() -> None:
    """Start the thread, once in each process: a fork has none."""
    global _process  # noqa: PLW0603 a thread belongs to a process
    with _making:
        if _process == os.getpid():
            return
        # Providers register their shutdown when they are made, so this one runs before it.
        atexit.register(flush, forgotten=True)
        threading.Thread(target=_watch, name="dbagenteval-rows", daemon=True).start()
        _process = os.getpid()


def _after_fork() -> None:
    """Begin anew in a child: locks may be held by threads that it doesn't have."""
    global _wanted, _making
    _wanted, _making = threading.Event(), threading.RLock()
    _begun.clear()  # the parent tells of them
    _handed_over.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _watch() -> None:
    while True:
        _wanted.wait()
        time.sleep(_LOOK_EVERY_S)
        _go_first(trace.get_tracer_provider())
        if not _begun and not _handed_over:
            _wanted.clear()
            if not _begun and not _handed_over:
                continue
            _wanted.set()
        flush()


class _FlushRecords:
    """A span processor that makes the spans that are due before the exporter is flushed."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Do nothing."""

    def _on_ending(self, span: Any) -> None:
        """Do nothing."""

    def on_end(self, span: Any) -> None:
        """Do nothing."""

    def shutdown(self) -> None:
        """Make the spans that are due."""
        flush(forgotten=True)

    def force_flush(self, timeout_millis: int = 0) -> bool:  # noqa: ARG002 the SDK's signature
        """Make the spans that are due."""
        flush()
        return True


def _go_first(provider: Any) -> None:
    """Put the processor before the others of a provider; without an SDK, there is nothing to do."""
    several: Any = getattr(provider, "_active_span_processor", None)
    known = getattr(several, "_span_processors", None)
    if isinstance(known, tuple) and not any(isinstance(one, _FlushRecords) for one in known):
        several._span_processors = (_FlushRecords(), *known)  # noqa: SLF001 there is no other way
