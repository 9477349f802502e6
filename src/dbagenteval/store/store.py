"""The store: requests go in and are safe, traces come out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from dbagenteval.errors import StoreError
from dbagenteval.otlp.values import OtelTrace
from dbagenteval.store.applier import BATCH_BYTES, BATCH_RECORDS, Applier, Feed
from dbagenteval.store.care import (
    CheckReport,
    check_database,
    compact_database,
    export_parquet,
    prune,
    shrink,
)
from dbagenteval.store.database import open_database, read_meta
from dbagenteval.store.journal import Journal, segments
from dbagenteval.store.layout import Layout
from dbagenteval.store.lock import StoreLock
from dbagenteval.store.memory import MemoryLimit
from dbagenteval.store.reading import TraceReader
from dbagenteval.store.replay import JournalReader, cut_torn_tail
from dbagenteval.store.requests import Part, RequestReader
from dbagenteval.store.statements import statement
from dbagenteval.store.writer import POSITION_KEY, Applied, Writer

__all__ = ["Store", "StoreStats"]

_log = logging.getLogger(__name__)

_READER_WAIT_S = 0.5
_MAX_FAILURES = 2


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

    def __init__(self, layout: Layout, lock: StoreLock | None, *, write: bool) -> None:
        self._layout = layout
        self._lock = lock
        self._journal: Journal | None = None
        self._thread: threading.Thread | None = None
        self._applier: Applier | None = None
        if write:
            self._open(write=True)
            return
        if segments(layout.journal) or not layout.database.exists():
            self._open(write=True)
            self._replay()
            self._drop_segments()
            self._memory.close()
            self._connection.close()
            self._applier = None
        self._open(write=False)
        if lock is not None:
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
            store = cls(layout, lock, write=write)
            if write:
                store._start_journal()
        except BaseException:
            lock.release()
            raise
        return store

    @classmethod
    def adopt(cls, directory: str | Path) -> Store:
        """Open a store to write for the process that owns it; see `StoreOwner`.

        Raises:
            StoreError: It can't be opened.
        """
        return cls(Layout(Path(directory)), None, write=True)

    def _open(self, *, write: bool) -> None:
        self._connection = open_database(self._layout, write=write)
        self._memory = MemoryLimit(self._connection)
        self._applier = self._new_applier() if write else None

    def _new_applier(self) -> Applier:
        self.position = read_meta(self._connection, POSITION_KEY) or 0
        reader = JournalReader(
            self._layout.journal, position=self.position, set_aside=self._layout.set_aside
        )
        return Applier(Writer(self._connection, self._layout), reader, self._memory)

    def _start_journal(self) -> None:
        """Store what an earlier owner acknowledged and did not store; then take requests."""
        applier = self._writing()
        end = self._replay()
        self._journal = Journal(self._layout.journal, end=end)
        self._journal.mark_applied(end)
        self._thread = threading.Thread(
            target=applier.run, args=(self._journal,), name="applier", daemon=True
        )
        self._thread.start()

    def _replay(self) -> int:
        end = cut_torn_tail(self._layout.journal, self.position)
        try:
            self._writing().replay(end)
        except duckdb.Error as error:
            raise self._unwritable(error) from error
        return end

    def _writing(self) -> Applier:
        if self._applier is None:
            raise StoreError(f"store {self._layout.root}: opened for reading")
        return self._applier

    @staticmethod
    def _lock_for(layout: Layout, *, write: bool) -> StoreLock:
        """Own the store if it must be written: by us, or since its journal holds something."""
        shared = not write and not segments(layout.journal) and layout.database.exists()
        # An owner that was killed leaves a store process that ends a moment later.
        return StoreLock(layout, shared=shared, wait_s=0.0 if write else _READER_WAIT_S)

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
        if self._thread is not None:
            self._thread.join()
        self._memory.close()
        self._connection.close()
        if self._journal is not None and self._writing().failure is None:
            self._drop_segments()
        self._journal = self._thread = self._applier = None
        if self._lock is not None:
            self._lock.release()

    def _drop_segments(self) -> None:
        """Remove the journal, all of which is stored."""
        for _, path in segments(self._layout.journal):
            path.unlink(missing_ok=True)

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
        return None if self._journal is None else self._journal.problem()

    def flush(self) -> None:
        """Wait until all that was acknowledged is stored and can be read."""
        if self._journal is not None:
            self._journal.wait_applied(self._journal.durable)

    def follow(self, feed: Feed) -> None:
        """Store what a journal that another process writes holds, until its feed closes.

        Raises:
            StoreError: The database fails again and again; only opening it anew may help.
        """
        try:
            self._writing().run(feed, max_failures=_MAX_FAILURES)
        except duckdb.Error as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: duckdb.Error) -> StoreError:
        first_line = str(error).splitlines()[0]
        return StoreError(f"store {self._layout.root}: can't be written: {first_line}")

    def gauges(self) -> dict[str, float]:
        """Give figures on the journal and the writer by metric name."""
        applier = self._writing()
        journal = self._journal
        backlog = journal.durable - journal.applied if journal is not None else 0
        return {
            "dbagenteval_journal_backlog_bytes": float(backlog),
            "dbagenteval_journal_damaged_records": float(applier.damaged_count),
            "dbagenteval_store_last_commit_seconds": applier.last_commit_s,
            "dbagenteval_store_spans_added": float(applier.added.spans),
            "dbagenteval_store_logs_added": float(applier.added.logs),
            "dbagenteval_store_duplicate_spans": float(applier.added.duplicate_spans),
            "dbagenteval_store_requests_set_aside": float(applier.added.set_aside),
        }

    def load(self, requests: Iterable[tuple[str, bytes]]) -> Applied:
        """Store many checked requests without the journal, in batches; for files.

        Returns:
            What was added in all.
        """
        applier = self._writing()
        total = Applied(spans=0, logs=0, duplicate_spans=0)
        with ThreadPoolExecutor(1, "load") as pool:
            under_way: Future[Applied] | None = None
            try:
                for batch in _batches(requests):  # one is decoded while the last one is stored
                    if under_way is not None:
                        total += under_way.result()
                    under_way = pool.submit(applier.apply, list(batch), None, batch.copy)
                return total if under_way is None else total + under_way.result()
            except duckdb.Error as error:
                raise self._unwritable(error) from error

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
        with self._memory.roomy():
            yield from TraceReader(self._connection).traces(
                since_ns=since_ns, until_ns=until_ns, service=service, trace_ids=trace_ids
            )

    def requests(self) -> Iterator[tuple[str, Any]]:
        """Read everything as OTLP export requests, field for field as it came.

        Yields:
            Signal and request message, some traces at a time, in order of their start.
        """
        with self._memory.roomy():
            yield from RequestReader(self._connection).requests()

    def parts(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[Part]:
        """Read the traces that `otel_traces` would as OTLP messages, some at a time."""
        with self._memory.roomy():
            yield from RequestReader(self._connection).parts(
                since_ns=since_ns, until_ns=until_ns, service=service, trace_ids=trace_ids
            )

    # Care

    def check(self) -> CheckReport:
        """Check that everything stored fits together."""
        with self._cursor() as cursor:
            report = check_database(cursor, self._layout)
        failure = self._applier.failure if self._applier is not None else None
        if failure is None:
            return report
        blocked = f"the journal can't be stored at present: {str(failure).splitlines()[0]}"
        return CheckReport(faults=(blocked, *report.faults), set_aside=report.set_aside)

    def export_parquet(self, directory: str | Path) -> None:
        """Write all tables as Parquet files; see `care.export_parquet`."""
        with self._cursor() as cursor:
            export_parquet(cursor, Path(directory))

    def prune(self, *, before_ns: int | None = None, max_bytes: int | None = None) -> None:
        """Remove traces that ended before a time, then the oldest while it is over a size.

        Raises:
            StoreError: The database can't be written.
        """
        self._writing().care(lambda: self._prune(before_ns, max_bytes))

    def _prune(self, before_ns: int | None, max_bytes: int | None) -> None:
        try:
            with self._cursor() as cursor:
                if before_ns is not None:
                    prune(cursor, before_ns)
                if max_bytes is not None:
                    shrink(cursor, max_bytes)
        except duckdb.Error as error:
            raise self._unwritable(error) from error

    @classmethod
    def compact(cls, directory: str | Path) -> None:
        """Write the database of a store anew, smaller and in order of time.

        Raises:
            StoreLocked: Another process owns the store.
            StoreError: It can't be read or written.
        """
        cls.open(directory, write=True).close()  # stores what the journal holds
        layout = Layout(Path(directory))
        lock = StoreLock(layout, shared=False)
        try:
            compact_database(layout)
        finally:
            lock.release()

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._connection.cursor()
        try:
            cursor.execute("USE store")
            with self._memory.roomy():
                yield cursor
        finally:
            cursor.close()

    def stats(self) -> StoreStats:
        """Count what is stored."""
        with self._cursor() as cursor:
            (row,) = cursor.execute(statement("stats")).fetchall()
        files = [self._layout.database, self._layout.database_log]
        files += [path for _, path in segments(self._layout.journal)]
        return StoreStats(
            spans=row[0],
            logs=row[1],
            otel_traces=row[2],
            first_start_ns=row[3],
            last_end_ns=row[4],
            services=tuple(name for name in row[5] or () if name),
            bytes=sum(map(_size, files)),
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a part of the journal that was removed just now
        return 0


def _batches(requests: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for request in requests:
        batch.append(request)
        size += len(request[1])
        if len(batch) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
