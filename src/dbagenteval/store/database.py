"""The DuckDB file: opened with our settings, its schema made or checked."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dbagenteval.errors import StoreError, StoreTooNew, first_line
from dbagenteval.store.layout import FORMAT_VERSION, Layout
from dbagenteval.store.statements import creation_order, statement

__all__ = ["attach", "make_schema", "open_database", "read_meta", "write_meta"]

_ROW_GROUP_SIZE = 8192
"""Small row groups: one trace of millions is read from few of them."""

_SETTINGS: dict[str, str | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "checkpoint_threshold": "1GB",
    "force_compression": "zstd",  # 1,000 bytes a span become 700
    "max_vacuum_tasks": 0,  # merging row groups that are two thirds full costs half of storing
    "preserve_insertion_order": False,
}
_FORMAT_KEY = "format"


def open_database(
    layout: Layout,
    *,
    write: bool,
    threads: int = 2,
) -> duckdb.DuckDBPyConnection:
    """Open the file of a store, and make its tables when they are missing.

    Its log is replayed here, and must be whatever it holds: `MemoryLimit` limits what comes after.

    Args:
        layout: The store.
        write: False opens the file for reading only.
        threads: How many threads a statement may use.

    Raises:
        StoreTooNew: A newer version made the file.
        StoreError: It is damaged or can't be opened.
    """
    connection = duckdb.connect(
        config={
            **_SETTINGS,
            "threads": threads,
            "temp_directory": str(layout.spill),
        }
    )
    try:
        attach(connection, layout.database, write=write)
        if write:
            make_schema(connection)
            layout.database.chmod(0o600)
        found = read_meta(connection, _FORMAT_KEY)
    except duckdb.Error as error:
        connection.close()
        raise StoreError(f"store {layout.root}: {first_line(error)}") from error
    if found is None or found > FORMAT_VERSION:
        connection.close()
        raise StoreTooNew(
            f"store {layout.root}: format {found}; this version reads up to {FORMAT_VERSION}",
            hint="update dbagenteval, or use another --store",
        )
    return connection


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, name: str = "store", write: bool
) -> None:
    """Attach a file under a name, and go there."""
    quoted = str(path).replace("'", "''")
    options = f"ROW_GROUP_SIZE {_ROW_GROUP_SIZE}" if write else "READ_ONLY"
    connection.execute(f"ATTACH '{quoted}' AS {name} ({options})")
    connection.execute(f"USE {name}")


def make_schema(connection: duckdb.DuckDBPyConnection, *, with_meta: bool = True) -> None:
    """Make the tables that are missing.

    Args:
        connection: To the file.
        with_meta: Note the format version if none is noted.
    """
    for name in creation_order():
        connection.execute(statement(name))
    if with_meta and read_meta(connection, _FORMAT_KEY) is None:
        write_meta(connection, _FORMAT_KEY, FORMAT_VERSION)


def read_meta(connection: duckdb.DuckDBPyConnection, key: str) -> int | None:
    """Read one number of the `meta` table, None if it isn't there."""
    rows = connection.execute(statement("read_meta"), {"key": key}).fetchall()
    return int(rows[0][0]) if rows else None


def write_meta(connection: duckdb.DuckDBPyConnection, key: str, value: int) -> None:
    """Set one number of the `meta` table."""
    connection.execute(statement("delete_meta"), {"key": key})
    connection.execute(statement("insert_meta"), {"key": key, "value": value})
