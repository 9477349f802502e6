"""Keeps the database up with the journal: read, store in batches, tell how far it got."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow as pa

from dbagenteval.store.attempts import Attempts
from dbagenteval.store.disk_faults import disk_faults, is_passing
from dbagenteval.store.layout import Layout
from dbagenteval.store.live import LiveDatabase
from dbagenteval.store.replay import JournalReader
from dbagenteval.store.writer import Applied, Writer

__all__ = ["Applier", "Feed"]

_log = logging.getLogger(__name__)

BATCH_RECORDS = 4096
BATCH_BYTES = 48 << 20
"""About 22,000 spans of an agent: some whole row groups, so that few are written twice."""

_LINGER_S = 0.25
_RETRY_S = 1.0
_EXCHANGE_WAIT_S = 600.0
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
        database: Where to.
        layout: The store.
        position: The journal is stored up to there.
    """

    def __init__(self, database: LiveDatabase, layout: Layout, position: int) -> None:
        self._database = database
        self._layout = layout
        self._writer = Writer(database.connection, layout)
        self._reader = JournalReader(layout.journal, position=position, set_aside=layout.set_aside)
        self._attempts = Attempts(layout.attempt, BATCH_RECORDS)
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
        with self._writing, disk_faults():
            started = time.monotonic()
            try:
                with self._database.memory.roomy() if _has_large(requests) else nullcontext():
                    applied = self._writer.apply(requests, position)
                    self._writer.checkpoint()
            except _CONTENT_ERRORS as error:
                if is_passing(error):
                    raise  # not the fault of a request
                _log.warning("store.batch_failed error=%s", type(error).__name__)
                applied = self._apply_singly(again(), position)
            self.last_commit_s = time.monotonic() - started
            self.added += applied
            return applied

    def _apply_singly(self, requests: list[tuple[str, bytes]], position: int | None) -> Applied:
        """Store requests one by one, then set the position; none is ever stored twice."""
        total = Applied(spans=0, logs=0, duplicate_spans=0)
        with self._database.memory.roomy():
            for signal, body in requests:
                try:
                    total += self._writer.apply([(signal, body)], None)
                except _CONTENT_ERRORS as error:
                    if is_passing(error):
                        raise
                    self._writer.apply([], None)  # raises if nothing can be stored at all
                    _log.error("store.unstorable error=%s", type(error).__name__)
                    self._writer.put_aside(signal, body)
                    total += Applied(spans=0, logs=0, duplicate_spans=0, set_aside=1)
                self._writer.checkpoint()
            self._writer.apply([], position)
        return total

    def care(self, work: Callable[[], None]) -> None:
        """Run work on the database while nothing is stored."""
        with self._writing:
            work()

    def exchange(self, finish: Callable[[], Path]) -> None:
        """Put another file in the place of the database: nobody reads or stores meanwhile.

        Args:
            finish: Completes the file.

        Raises:
            StoreError: The database is being read all the time.
        """
        with self._database.without_readers(_EXCHANGE_WAIT_S), self._writing:
            file = finish()
            self._writer.close()
            try:
                self._database.replace(file)
            finally:
                self._writer = Writer(self._database.connection, self._layout)

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
                self._database.check_there()
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
        with disk_faults():
            return self._apply_batch(limit)

    def _apply_batch(self, limit: int) -> bool:
        before = self._reader.position
        requests = self._read(limit, self._attempts.records_at(before))
        position = self._reader.position
        count = len(requests)

        def again() -> list[tuple[str, bytes]]:
            self._reader.position = before
            return self._read(position, count)

        if not requests:
            return False
        if count == 1 and self._attempts.is_fatal(before, position):
            self._set_aside(*requests[0], position)
            return True
        with self._attempts.under_way(before, position, count):
            self.apply(requests, position, again)
        return True

    def _set_aside(self, signal: str, body: bytes, position: int) -> None:
        """Pass a record that ends the process whenever it is stored."""
        with self._writing:
            _log.error("store.fatal_request position=%d", position)
            self._writer.put_aside(signal, body)
            self._writer.apply([], position)
            self.added += Applied(spans=0, logs=0, duplicate_spans=0, set_aside=1)

    def _read(self, limit: int, max_records: int) -> list[tuple[str, bytes]]:
        records = self._reader.read(limit, max_records=max_records, max_bytes=BATCH_BYTES)
        return [(record.signal, record.body) for record in records]


def _has_large(requests: list[tuple[str, bytes]]) -> bool:
    return any(len(body) > _LARGE_BYTES for _, body in requests)
