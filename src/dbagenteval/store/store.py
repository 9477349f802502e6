"""The store: requests go in and are safe, traces come out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import duckdb

from dbagenteval.errors import StoreError, first_line
from dbagenteval.store.applier import BATCH_BYTES, BATCH_RECORDS, Applier, Feed
from dbagenteval.store.care import CheckReport, prune, shrink
from dbagenteval.store.compaction import Compaction
from dbagenteval.store.contents import Contents
from dbagenteval.store.database import read_meta
from dbagenteval.store.disk_faults import disk_faults
from dbagenteval.store.journal import Journal
from dbagenteval.store.layout import Layout
from dbagenteval.store.live import LiveDatabase
from dbagenteval.store.lock import StoreLock
from dbagenteval.store.records import segments
from dbagenteval.store.replay import cut_torn_tail
from dbagenteval.store.writer import POSITION_KEY, Applied

__all__ = ["Store"]

_log = logging.getLogger(__name__)

_READER_WAIT_S = 0.5
_MAX_FAILURES = 2


class Store(Contents):
    """One store directory, owned (`write=True`) or read beside other readers.

    Use `Store.open` as a context manager; leaving it stores what the journal still holds.
    """

    def __init__(self, layout: Layout, lock: StoreLock | None, *, write: bool) -> None:
        self._layout = layout
        self._lock = lock
        self._journal: Journal | None = None
        self._thread: threading.Thread | None = None
        self._applier: Applier | None = None
        self._caring = threading.Lock()
        if write:
            self._open(write=True)
            return
        if segments(layout.journal) or not layout.database.exists():
            self._open(write=True)
            self._replay()
            self._drop_segments()
            self._applier = None
            self._database.close()
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
        self._database = LiveDatabase(self._layout, write=write)
        self._applier = None
        if write:
            self.position = read_meta(self._database.connection, POSITION_KEY) or 0
            self._applier = Applier(self._database, self._layout, self.position)

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
        try:
            with disk_faults():
                end = cut_torn_tail(
                    self._layout.journal, self.position, set_aside=self._layout.set_aside
                )
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
        self._database.close()
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
        return StoreError(f"store {self._layout.root}: can't be written: {first_line(error)}")

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

    # Care

    def check(self) -> CheckReport:
        """Check that everything stored fits together."""
        report = super().check()
        failure = self._applier.failure if self._applier is not None else None
        if failure is None:
            return report
        blocked = f"the journal can't be stored at present: {first_line(failure)}"
        return CheckReport(faults=(blocked, *report.faults), set_aside=report.set_aside)

    def prune(self, *, before_ns: int | None = None, max_bytes: int | None = None) -> None:
        """Remove traces that ended before a time, then the oldest while it is over a size.

        Raises:
            StoreError: The database can't be written.
        """
        with self._caring:
            self._writing().care(lambda: self._prune(before_ns, max_bytes))

    def _prune(self, before_ns: int | None, max_bytes: int | None) -> None:
        try:
            with disk_faults(), self._database.reading() as cursor:
                if before_ns is not None:
                    prune(cursor, self._layout, before_ns)
                if max_bytes is not None:
                    shrink(cursor, self._layout, max_bytes)
        except duckdb.Error as error:
            raise self._unwritable(error) from error

    def compact(self) -> None:
        """Write the database anew, smaller and in order of time; others read and store meanwhile.

        Raises:
            StoreError: It can't be written, or is being read all the time.
        """
        applier = self._writing()
        with self._caring, Compaction(self._database, self._layout) as compaction:
            compaction.copy()
            applier.exchange(compaction.finish)

    def prune_and_compact(self, *, before_ns: int | None, max_bytes: int | None) -> None:
        """Do both, one after the other."""
        self.prune(before_ns=before_ns, max_bytes=max_bytes)
        self.compact()


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
