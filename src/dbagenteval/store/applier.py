"""Keeps the database up with the journal: read, store in batches, tell how far it got."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Protocol

import duckdb
import pyarrow as pa

from dbagenteval.store.memory import MemoryLimit
from dbagenteval.store.replay import JournalReader
from dbagenteval.store.writer import Applied, Writer

__all__ = ["Applier", "Feed"]

_log = logging.getLogger(__name__)

BATCH_RECORDS = 4096
BATCH_BYTES = 64 << 20
"""About 26,000 spans of an agent: some whole row groups, so that few are written twice."""

_LINGER_S = 0.25
_RETRY_S = 1.0
_LARGE_BYTES = 8 << 20
_CONTENT_ERRORS = (duckdb.Error, pa.ArrowException, ValueError, OverflowError, MemoryError)


class Feed(Protocol):
    """Tells how far the journal is safe on disk, and hears how far it is stored."""

    @property
    def durable(self) -> int:
        """Everything before this position may be read."""

    @property
    def is_closing(self) -> bool:
        """True once nothing more will come."""

    def wait_beyond(self, position: int, timeout_s: float | None) -> bool:
        """Wait until more than `position` is durable or the feed closes."""

    def mark_applied(self, position: int) -> None:
        """Hear that everything before `position` is stored."""

    def mark_failed(self, problem: str) -> None:
        """Hear that storing fails at present, and is tried again."""


class Applier:
    """Move the journal's records into the database.

    Args:
        writer: Stores them.
        reader: Reads them.
        memory: Raised for large records.
    """

    def __init__(self, writer: Writer, reader: JournalReader, memory: MemoryLimit) -> None:
        self._writer = writer
        self._memory = memory
        self._reader = reader
        self._writing = threading.Lock()
        self.failure: duckdb.Error | None = None
        self.added = Applied(spans=0, logs=0, duplicate_spans=0)
        self.last_commit_s = 0.0

    @property
    def damaged_count(self) -> int:
        """How many parts of the journal were damaged."""
        return self._reader.damaged_count

    def apply(
        self,
        requests: list[tuple[str, bytes]],
        position: int | None,
        again: Callable[[], list[tuple[str, bytes]]],
    ) -> Applied:
        """Store one batch; if that fails store its requests one by one.

        A request that can't be stored though the database works is set aside.

        Args:
            requests: See `Writer.apply`; emptied.
            position: Where the journal stands after them.
            again: Gives the requests once more.

        Raises:
            duckdb.Error: The database can't store anything at present.
        """
        with self._writing:
            started = time.monotonic()
            try:
                with self._memory.roomy() if _has_large(requests) else nullcontext():
                    applied = self._writer.apply(requests, position)
                    self._writer.checkpoint()
            except _CONTENT_ERRORS as error:
                if isinstance(error, duckdb.IOException):
                    raise  # the disk's fault, not that of a request
                _log.warning("store.batch_failed error=%s: %s", type(error).__name__, error)
                applied = self._apply_singly(again(), position)
            self.last_commit_s = time.monotonic() - started
            self.added += applied
            return applied

    def _apply_singly(self, requests: list[tuple[str, bytes]], position: int | None) -> Applied:
        """Store requests one by one, then set the position; none is ever stored twice."""
        total = Applied(spans=0, logs=0, duplicate_spans=0)
        with self._memory.roomy():
            for signal, body in requests:
                try:
                    total += self._writer.apply([(signal, body)], None)
                except _CONTENT_ERRORS as error:
                    if isinstance(error, duckdb.IOException):
                        raise
                    self._writer.apply([], None)  # raises if nothing can be stored at all
                    _log.error("store.unstorable error=%s: %s", type(error).__name__, error)
                    self._writer.put_aside(signal, body)
                    total += Applied(spans=0, logs=0, duplicate_spans=0, set_aside=1)
                self._writer.checkpoint()
            self._writer.apply([], position)
        return total

    def care(self, work: Callable[[], None]) -> None:
        """Run work on the database while nothing is stored."""
        with self._writing:
            work()

    def replay(self, limit: int) -> None:
        """Store what the journal holds before `limit`."""
        while self._apply_next(limit):
            pass

    def run(self, feed: Feed, *, max_failures: int | None = None) -> None:
        """Follow a feed until it closes and all is stored, or it closes and nothing can be.

        Args:
            feed: The journal's.
            max_failures: Give up after so many failures in a row; None tries for ever.

        Raises:
            duckdb.Error: It gave up.
        """
        failures = 0
        while True:
            feed.wait_beyond(self._reader.position, None)
            if feed.durable <= self._reader.position:
                return
            self._gather(feed)
            before = self._reader.position
            try:
                self._apply_next(feed.durable)
            except duckdb.Error as error:
                self._reader.position = before
                self.failure = error
                failures += 1
                _log.error("store.commit_failed error=%s", type(error).__name__)
                feed.mark_failed(f"the database can't commit ({type(error).__name__})")
                if feed.is_closing:
                    return
                if failures == max_failures:
                    raise
                time.sleep(_RETRY_S)
            else:
                self.failure, failures = None, 0
                feed.mark_applied(self._reader.position)

    def _gather(self, feed: Feed) -> None:
        """Wait a moment for a larger batch; a busy journal fills it at once."""
        if not feed.is_closing:
            feed.wait_beyond(self._reader.position + BATCH_BYTES, _LINGER_S)

    def _apply_next(self, limit: int) -> bool:
        """Store the next batch; False if there is none before `limit`."""
        before = self._reader.position
        requests = self._read(limit)
        position = self._reader.position
        found = bool(requests)

        def again() -> list[tuple[str, bytes]]:
            self._reader.position = before
            return self._read(position)

        if found:
            self.apply(requests, position, again)
        return found

    def _read(self, limit: int) -> list[tuple[str, bytes]]:
        records = self._reader.read(limit, max_records=BATCH_RECORDS, max_bytes=BATCH_BYTES)
        return [(record.signal, record.body) for record in records]


def _has_large(requests: list[tuple[str, bytes]]) -> bool:
    return any(len(body) > _LARGE_BYTES for _, body in requests)
