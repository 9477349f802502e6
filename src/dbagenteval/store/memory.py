"""How much DuckDB may hold in memory: little as a rule, more while large values go through."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from dbagenteval.store.statements import statement

__all__ = ["MemoryLimit"]

_USUAL_BYTES = 192 << 20
_ROOMY_BYTES = 3 << 30
"""One value of 256 MiB, the largest request, takes some copies of itself to store and to read."""

_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class MemoryLimit:
    """The limit of one database, which all its cursors share.

    A database is opened without a limit of ours, since what its log holds must be read in any case.

    Args:
        connection: To the database, just opened.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection.cursor()
        self._changing = threading.Lock()
        self._users = 0
        self._roomy_bytes = min(_ROOMY_BYTES, self._default_bytes())
        self._set(_USUAL_BYTES)

    def close(self) -> None:
        """Give the cursor back."""
        self._connection.close()

    @contextmanager
    def roomy(self) -> Iterator[None]:
        """Allow more until the block ends, for any number of blocks at a time."""
        with self._changing:
            self._users += 1
            if self._users == 1:
                self._set(self._roomy_bytes)
        try:
            yield
        finally:
            with self._changing:
                self._users -= 1
                if not self._users:
                    self._set(_USUAL_BYTES)

    def _set(self, size: int) -> None:
        # What is held at present may be more; then the limit stays until the next time.
        with contextlib.suppress(duckdb.OutOfMemoryException, duckdb.ConnectionException):
            self._connection.execute(statement("set_memory_limit").replace("{bytes}", str(size)))

    def _default_bytes(self) -> int:
        """Read DuckDB's own limit: most of the memory that the process may use."""
        (row,) = self._connection.execute(statement("memory_limit")).fetchall()
        number, unit = str(row[0]).split()
        return int(float(number) * _UNITS[unit])
