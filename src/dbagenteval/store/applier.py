"""Keeps the database up with the journal: read, store in batches, tell how far it got."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

import duckdb

from dbagenteval.store.replay import JournalReader
from dbagenteval.store.writer import Applied, Writer

__all__ = ["Applier", "Feed"]

_log = logging.getLogger(__name__)

BATCH_RECORDS = 4096
BATCH_BYTES = 64 << 20
"""About 26,000 spans of an agent: some whole row groups, so that few are written twice."""

_LINGER_S = 0.25
_RETRY_S = 1.0


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
    """

    def __init__(self, writer: Writer, reader: JournalReader) -> None:
        self._writer = writer
        self._reader = reader
        self._writing = threading.Lock()
        self.failure: duckdb.Error | None = None
        self.added = Applied(spans=0, logs=0, duplicate_spans=0)
        self.last_commit_s = 0.0

    @property
    def damaged_count(self) -> int:
        """How many parts of the journal were damaged."""
        return self._reader.damaged_count

    def apply(self, requests: list[tuple[str, bytes]], position: int | None) -> Applied:
        """Store one batch; see `Writer.apply`."""
        with self._writing:
            started = time.monotonic()
            applied = self._writer.apply(requests, position)
            self.last_commit_s = time.monotonic() - started
            self.added += applied
            return applied

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
        records = self._reader.read(limit, max_records=BATCH_RECORDS, max_bytes=BATCH_BYTES)
        position = self._reader.position
        requests = [(record.signal, record.body) for record in records]
        records.clear()
        found = bool(requests)
        if found:
            self.apply(requests, position)
        return found
