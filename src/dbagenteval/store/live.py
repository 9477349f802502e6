"""The open database of a store: read by many, and replaced while nobody reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from dbagenteval.errors import StoreError
from dbagenteval.store.database import open_database
from dbagenteval.store.layout import Layout, sync_folder
from dbagenteval.store.memory import MemoryLimit
from dbagenteval.store.statements import statement

__all__ = ["LiveDatabase"]


class LiveDatabase:
    """Gives cursors to those who read.

    Args:
        layout: The store.
        write: False opens it for reading only.

    Raises:
        StoreError: It can't be opened.
    """

    def __init__(self, layout: Layout, *, write: bool) -> None:
        self._layout = layout
        self._write = write
        self._changed = threading.Condition()
        self._readers = 0
        self._is_closed_to_readers = False
        self._open()

    def _open(self) -> None:
        self.connection = open_database(self._layout, write=self._write)
        self.memory = MemoryLimit(self.connection)

    def check_there(self) -> None:
        """Make sure that what was committed can be found again.

        Raises:
            duckdb.IOException: Somebody removed the file; what is open has no name any more.
        """
        if not self._layout.database.exists():
            raise duckdb.IOException("the database file was removed")

    def close(self) -> None:
        """Close the file."""
        self.memory.close()
        self.connection.close()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor for one consistent view, with room for large values."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed_to_readers)
            self._readers += 1
        try:
            cursor = self.connection.cursor()
            try:
                cursor.execute("USE store")
                with self.memory.roomy():
                    yield cursor
            finally:
                cursor.close()
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def without_readers(self, wait_s: float) -> Iterator[None]:
        """Wait for a moment in which nobody reads; who wants to then waits until the block ends.

        Raises:
            StoreError: There was no such moment.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: not self._readers, wait_s):
                raise StoreError(f"store {self._layout.root}: it is being read all the time")
            self._is_closed_to_readers = True
        try:
            yield
        finally:
            with self._changed:
                self._is_closed_to_readers = False
                self._changed.notify_all()

    def replace(self, file: Path) -> None:
        """Put a file in the place of this one and open it.

        Nobody may read, and no other cursor may be open: the old file must be let go of, since its
        log has the name that the new one's will have.
        """
        self.connection.execute(statement("checkpoint"))
        self.close()
        try:
            self._layout.database_log.unlink(missing_ok=True)
            file.replace(self._layout.database)
            sync_folder(self._layout.root)  # or a log could outlive the file that it is of
        finally:
            self._open()
