"""Writing the database anew, smaller and by time, while the old one is read and added to."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from types import TracebackType

import duckdb

from dbagenteval.errors import StoreError, first_line
from dbagenteval.store.database import attach, make_schema, read_meta
from dbagenteval.store.layout import Layout
from dbagenteval.store.live import LiveDatabase
from dbagenteval.store.statements import statement
from dbagenteval.store.writer import BATCH_KEY

__all__ = ["Compaction"]

_SLICE_ROWS = 100_000
"""So many rows are sorted at a time; more would need much memory or temporary files."""

_SORTED_BY = {
    "spans": "start_ns",
    "span_events": "span_start_ns",
    "span_links": "span_start_ns",
    "logs": "at_ns",
}
_OTHERS = ("resources", "scopes", "log_requests", "trace_index")
_LAST_NS = 2**64 - 1


class Compaction:
    """A new file beside the old one; leaving the block removes what is not in its place by then.

    Use it as a context manager: `copy` takes the most of it, while the store is in use; `finish`
    adds what came since then, and must be alone with the database.

    Args:
        database: The store's.
        layout: The store.
    """

    def __init__(self, database: LiveDatabase, layout: Layout) -> None:
        self._layout = layout
        self._fresh = Layout(layout.root / "compact")
        self._remove()
        self._fresh.root.mkdir(mode=0o700)
        self._memory = database.memory
        self._cursor = database.connection.cursor()
        self._last_batch = 0

    def __enter__(self) -> Compaction:  # noqa: PYI034 Self needs Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            with contextlib.suppress(duckdb.Error):  # if it isn't attached
                self._cursor.execute("USE store")
                self._cursor.execute(statement("detach_fresh"))
        self._cursor.close()
        self._remove()
        if isinstance(error, (duckdb.Error, OSError)):
            root = self._layout.root
            raise StoreError(f"store {root}: can't be compacted: {first_line(error)}") from error

    def copy(self) -> None:
        """Copy everything that is stored and not copied yet, in one consistent view."""
        with self._memory.roomy():
            if not self._fresh.database.exists():
                self._make()
            self._cursor.begin()
            last_batch = read_meta(self._cursor, BATCH_KEY) or 0
            for name in _OTHERS:
                parameters = {"after": self._last_batch} if name == "trace_index" else None
                self._cursor.execute(statement(f"copy_{name}"), parameters)
            for table, time in _SORTED_BY.items():
                self._copy_sorted(table, time)
            self._cursor.commit()
        self._last_batch = last_batch

    def _make(self) -> None:
        attach(self._cursor, self._fresh.database, name="fresh", write=True)
        make_schema(self._cursor, with_meta=False)
        self._cursor.execute("USE store")

    def _copy_sorted(self, table: str, time: str) -> None:
        def named(name: str) -> str:
            return statement(name).replace("{table}", table).replace("{time}", time)

        since = {"after": self._last_batch}
        bounds = self._cursor.execute(
            named("slice_bounds"), {**since, "rows": _SLICE_ROWS}
        ).fetchall()
        first = 0
        for last in [*(bound for (bound,) in bounds), _LAST_NS]:
            between = {**since, "first": first, "last": last}
            self._cursor.execute(named("copy_slice"), between)
            first = last + 1

    def finish(self) -> Path:
        """Copy what came since then, and close the new file.

        Returns:
            The file, to be put in the place of the old one.
        """
        self.copy()
        self._cursor.execute(statement("copy_meta"))
        self._cursor.execute(statement("checkpoint_fresh"))
        self._cursor.execute(statement("detach_fresh"))
        self._cursor.close()
        self._fresh.database.chmod(0o600)
        with self._fresh.database.open("rb") as file:
            os.fsync(file.fileno())
        return self._fresh.database

    def _remove(self) -> None:
        if self._fresh.root.is_dir():
            shutil.rmtree(self._fresh.root)
