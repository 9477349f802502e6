"""The store: requests go in and are safe, traces come out."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from dbagenteval.errors import StoreError
from dbagenteval.otlp.values import OtelTrace
from dbagenteval.store.database import open_database, read_meta
from dbagenteval.store.journal import Journal, segments
from dbagenteval.store.layout import Layout
from dbagenteval.store.lock import StoreLock
from dbagenteval.store.reading import TraceReader
from dbagenteval.store.replay import JournalReader, cut_torn_tail
from dbagenteval.store.requests import RequestReader
from dbagenteval.store.statements import statement
from dbagenteval.store.writer import POSITION_KEY, Applied, Writer

__all__ = ["Store", "StoreStats"]

_log = logging.getLogger(__name__)

_BATCH_RECORDS = 512
_BATCH_BYTES = 64 << 20
_SMALL_BATCH_BYTES = 16 << 20
_LINGER_S = 0.2
_RETRY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """How much a store holds.

    Args:
        spans: Stored spans.
        logs: Stored log records.
        otel_traces: Distinct trace ids, of spans or logs.
        bytes: Size of the database and the journal on disk.
        services: Values of `service.name`, sorted.
        first_start_ns: Earliest start of a span, Unix nanoseconds; None if there is none.
        last_end_ns: Latest end of a span.
    """

    spans: int
    logs: int
    otel_traces: int
    bytes: int
    services: tuple[str, ...]
    first_start_ns: int | None
    last_end_ns: int | None


class Store:
    """One store directory, owned (`write=True`) or read beside other readers.

    Use `Store.open` as a context manager; leaving it stores what the journal still holds.
    """

    def __init__(self, layout: Layout, lock: StoreLock, *, write: bool) -> None:
        self._layout = layout
        self._lock = lock
        self._write = write
        self._failure: duckdb.Error | None = None
        self._added = Applied(spans=0, logs=0, duplicate_spans=0)
        self._last_commit_s = 0.0
        self._journal: Journal | None = None
        self._applier: threading.Thread | None = None
        if write:
            self._connection = open_database(layout, write=True)
            self._start_writing(self._replay())
            return
        if segments(layout.journal) or not layout.database.exists():
            self._connection = open_database(layout, write=True)
            self._replay()
            self._drop_segments()
            self._writer.close()
            self._connection.close()
        self._connection = open_database(layout, write=False)
        lock.share()

    @classmethod
    def open(cls, directory: str | Path, *, write: bool, create: bool = False) -> Store:
        """Open a store.

        Args:
            directory: The store's directory.
            write: True to own it and add to it, False to read it.
            create: Make it if it isn't there.

        Raises:
            StoreTooNew: A newer version made it.
            StoreLocked: Another process owns it.
            StoreError: There is no store, or it can't be opened.
        """
        layout = Layout(Path(directory))
        if not layout.check():
            if not create:
                raise StoreError(
                    f"store {layout.root}: there is no store here",
                    hint="`dbagenteval serve` and `dbagenteval ingest` make one",
                )
            layout.create()
        lock = cls._lock_for(layout, write=write)
        try:
            return cls(layout, lock, write=write)
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def _lock_for(layout: Layout, *, write: bool) -> StoreLock:
        """Own the store if it must be written: by us, or since its journal holds something."""
        shared = not write and not segments(layout.journal) and layout.database.exists()
        return StoreLock(layout, shared=shared)

    def __enter__(self) -> Store:  # noqa: PYI034 Self needs Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Store what the journal holds, and give the store back; nothing happens twice."""
        if self._journal is not None:
            self._journal.close()
        if self._applier is not None:
            self._applier.join()
        self._connection.close()
        if self._journal is not None and self._failure is None:
            self._drop_segments()
        self._journal = self._applier = None
        self._lock.release()

    # Writing

    def append(self, signal: str, body: bytes) -> Future[int]:
        """Add a checked request (`traces` or `logs`, protobuf).

        Returns:
            Done once the request is on disk and may be acknowledged; it is stored soon after.

        Raises:
            Overloaded: Too much is waiting; the exporter shall try again.
        """
        if self._journal is None:
            raise StoreError(f"store {self._layout.root}: opened for reading")
        return self._journal.append(signal, body)

    def problem(self) -> str | None:
        """Say why requests can't be stored at present, None if they can."""
        if self._failure is not None:
            return f"the database can't commit ({type(self._failure).__name__})"
        return None if self._journal is None else self._journal.problem()

    def gauges(self) -> dict[str, float]:
        """Give figures on the journal and the writer by metric name."""
        journal = self._journal
        return {
            "dbagenteval_journal_backlog_bytes": float(
                journal.durable - journal.applied if journal is not None else 0
            ),
            "dbagenteval_journal_damaged_records": float(self._reader.damaged_count),
            "dbagenteval_store_last_commit_seconds": self._last_commit_s,
            "dbagenteval_store_spans_added": float(self._added.spans),
            "dbagenteval_store_logs_added": float(self._added.logs),
            "dbagenteval_store_duplicate_spans": float(self._added.duplicate_spans),
            "dbagenteval_store_requests_set_aside": float(self._added.set_aside),
        }

    def flush(self) -> None:
        """Wait until all that was acknowledged is stored and can be read."""
        if self._journal is not None:
            self._journal.wait_applied(self._journal.durable)

    def load(self, requests: Iterable[tuple[str, bytes]]) -> Applied:
        """Store many checked requests without the journal, in batches; for files.

        Returns:
            What was added in all.
        """
        if not self._write:
            raise StoreError(f"store {self._layout.root}: opened for reading")
        total = Applied(spans=0, logs=0, duplicate_spans=0)
        with ThreadPoolExecutor(1, "load") as pool:
            under_way: Future[Applied] | None = None
            for batch in _batches(requests):  # the next one is decoded while this one is stored
                if under_way is not None:
                    total = _sum(total, under_way.result())
                under_way = pool.submit(self._apply, batch, None)
            return total if under_way is None else _sum(total, under_way.result())

    def _apply(self, requests: Sequence[tuple[str, bytes]], position: int | None) -> Applied:
        with self._writing:
            started = time.monotonic()
            applied = self._writer.apply(requests, position)
            self._last_commit_s = time.monotonic() - started
            self._added = _sum(self._added, applied)
            return applied

    def _replay(self) -> int:
        """Store what an earlier owner acknowledged and did not store; give the position."""
        self._writing = threading.Lock()
        self._writer = Writer(self._connection, self._layout)
        applied = read_meta(self._connection, POSITION_KEY) or 0
        end = cut_torn_tail(self._layout.journal, applied)
        self._reader = JournalReader(
            self._layout.journal, position=applied, set_aside=self._layout.set_aside
        )
        while self._apply_next(end):
            pass
        return end

    def _drop_segments(self) -> None:
        """Remove the journal, all of which is stored."""
        for _, path in segments(self._layout.journal):
            path.unlink(missing_ok=True)

    def _apply_next(self, limit: int) -> bool:
        """Store the next batch of the journal; False if there is none before `limit`."""
        records = self._reader.read(limit, max_records=_BATCH_RECORDS, max_bytes=_BATCH_BYTES)
        position = self._reader.position
        if records:
            self._apply([(record.signal, record.body) for record in records], position)
        return bool(records)

    def _start_writing(self, position: int) -> None:
        self._journal = Journal(self._layout.journal, end=position)
        self._journal.mark_applied(position)
        self._applier = threading.Thread(target=self._apply_all, name="applier", daemon=True)
        self._applier.start()

    def _apply_all(self) -> None:
        journal = self._journal
        if journal is None:
            return
        while True:
            journal.wait_beyond(self._reader.position, None)
            if journal.durable <= self._reader.position:
                return  # closing, and all is stored
            if journal.durable - self._reader.position < _SMALL_BATCH_BYTES:
                journal.wait_beyond(self._reader.position + _SMALL_BATCH_BYTES, _LINGER_S)
            before = self._reader.position
            try:
                self._apply_next(journal.durable)
            except duckdb.Error as error:
                self._reader.position = before
                self._failure = error
                _log.error("store.commit_failed error=%s", type(error).__name__)
                if journal.is_closing:
                    return
                threading.Event().wait(_RETRY_S)
            else:
                self._failure = None
                journal.mark_applied(self._reader.position)

    # Reading

    def otel_traces(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[OtelTrace]:
        """Read traces in order of their start, a chunk at a time, in one consistent view.

        Args:
            since_ns: Only traces that start at or after this time.
            until_ns: Only traces that start before this time.
            service: Only traces with a span or log record of this service; they come whole.
            trace_ids: Only these, 32 hex digits each.

        Yields:
            Traces with their spans by start time and their log records by time. At the end, log
            records that belong to no trace, some at a time under the trace id "" (none of them if
            `trace_ids` is given).
        """
        return TraceReader(self._connection).traces(
            since_ns=since_ns, until_ns=until_ns, service=service, trace_ids=trace_ids
        )

    def requests(self) -> Iterator[tuple[str, Any]]:
        """Read everything as OTLP export requests, field for field as it came.

        Yields:
            Signal and request message, some traces at a time, in order of their start.
        """
        return RequestReader(self._connection).requests()

    def stats(self) -> StoreStats:
        """Count what is stored."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("USE store")
            (row,) = cursor.execute(statement("stats")).fetchall()
        finally:
            cursor.close()
        files = [self._layout.database, self._layout.database.with_suffix(".duckdb.wal")]
        files += [path for _, path in segments(self._layout.journal)]
        return StoreStats(
            spans=row[0],
            logs=row[1],
            otel_traces=row[2],
            first_start_ns=row[3],
            last_end_ns=row[4],
            services=tuple(name for name in row[5] or () if name),
            bytes=sum(path.stat().st_size for path in files if path.exists()),
        )


def _batches(requests: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for request in requests:
        batch.append(request)
        size += len(request[1])
        if len(batch) >= _BATCH_RECORDS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _sum(left: Applied, right: Applied) -> Applied:
    return Applied(
        spans=left.spans + right.spans,
        logs=left.logs + right.logs,
        duplicate_spans=left.duplicate_spans + right.duplicate_spans,
        set_aside=left.set_aside + right.set_aside,
    )
