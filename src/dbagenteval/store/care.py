"""Taking care of a store: checking, retention, compaction, export. Nobody else may own it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dbagenteval.errors import StoreError
from dbagenteval.store.database import make_schema, open_database
from dbagenteval.store.layout import Layout
from dbagenteval.store.statements import statement

__all__ = ["CheckReport", "check_database", "compact_database", "export_parquet", "prune", "shrink"]

_CHECKS = {
    "check_index": "traces whose index is wrong",
    "check_duplicates": "spans stored more than once",
    "check_resources": "spans or log records without their resource or scope",
    "check_parts": "events or links without their span",
    "check_lists": "spans or log records with damaged attributes",
}
_PRUNED = ("spans", "span_events", "span_links", "logs", "trace_index")
_COPIED = (
    "resources",
    "scopes",
    "spans",
    "span_events",
    "span_links",
    "logs",
    "log_requests",
    "trace_index",
)
_EXPORTED = ("spans", "span_events", "span_links", "logs", "resources", "scopes")
_MAX_SHRINK_ROUNDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found.

    Args:
        faults: One line a kind of fault.
        set_aside: Files with damaged or unreadable requests, which are kept for a look.
    """

    faults: tuple[str, ...]
    set_aside: tuple[str, ...]


def check_database(connection: duckdb.DuckDBPyConnection, layout: Layout) -> CheckReport:
    """Check that everything fits together."""
    faults = []
    for name, what in _CHECKS.items():
        count = _number(connection, name)
        if count:
            faults.append(f"{count} {what}")
    kept = (
        sorted(path.name for path in layout.set_aside.iterdir())
        if layout.set_aside.is_dir()
        else []
    )
    return CheckReport(faults=tuple(faults), set_aside=tuple(kept))


def prune(connection: duckdb.DuckDBPyConnection, before_ns: int) -> None:
    """Remove all traces and loose log records that ended before a time.

    Args:
        connection: Of the store, with no transaction open.
        before_ns: Unix nanoseconds.
    """
    connection.execute(statement("create_old_traces"), {"before_ns": before_ns})
    connection.begin()
    for name in _PRUNED:
        parameters = {"before_ns": before_ns} if name == "logs" else None
        connection.execute(statement(f"delete_old_{name}"), parameters)
    connection.commit()
    connection.execute(statement("checkpoint"))


def shrink(connection: duckdb.DuckDBPyConnection, max_bytes: int) -> None:
    """Remove the oldest traces until the database needs at most so many bytes."""
    connection.execute(statement("checkpoint"))  # what is only in the log isn't counted
    for _ in range(_MAX_SHRINK_ROUNDS):
        if _number(connection, "used_bytes") <= max_bytes:
            return
        before_ns = _number(connection, "time_of_share")
        if not before_ns:
            return
        prune(connection, before_ns + 1)


def _number(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    ((count,),) = connection.execute(statement(name)).fetchall()
    return int(count or 0)


def compact_database(layout: Layout) -> None:
    """Write the database anew, by time and without gaps; a crash leaves the old one.

    Raises:
        StoreError: It can't be read or written.
    """
    fresh = Layout(layout.root / "compact")
    _remove(fresh)
    fresh.root.mkdir(mode=0o700)
    try:
        connection = open_database(fresh, write=True, with_schema=False)
        try:
            connection.execute(statement("keep_order"))
            old = str(layout.database).replace("'", "''")
            connection.execute(f"ATTACH '{old}' AS old (READ_ONLY)")
            make_schema(connection, with_meta=False)
            connection.execute(statement("copy_meta"))
            for name in _COPIED:
                connection.execute(statement(f"copy_{name}"))
            connection.execute(statement("checkpoint"))
        finally:
            connection.close()
        fresh.database.chmod(0o600)
        with fresh.database.open("rb") as file:
            os.fsync(file.fileno())
        fresh.database.replace(layout.database)
    except (duckdb.Error, OSError) as error:
        first_line = str(error).splitlines()[0]
        raise StoreError(f"store {layout.root}: can't be compacted: {first_line}") from error
    finally:
        _remove(fresh)


def _remove(layout: Layout) -> None:
    if not layout.root.is_dir():
        return
    for path in sorted(layout.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    layout.root.rmdir()


def export_parquet(connection: duckdb.DuckDBPyConnection, directory: Path) -> None:
    """Write all tables as Parquet files, spans and log records by day and service.

    Args:
        connection: Of the store.
        directory: Must be missing or empty.

    Raises:
        StoreError: It isn't, or can't be written.
    """
    if directory.exists() and any(directory.iterdir()):
        raise StoreError(f"{directory}: is not empty", hint="name a new directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        quoted = str(directory).replace("'", "''")
        connection.begin()
        for name in _EXPORTED:
            connection.execute(statement(f"export_{name}").replace("{directory}", quoted))
        connection.commit()
    except (duckdb.Error, OSError) as error:
        raise StoreError(f"{directory}: can't be written: {str(error).splitlines()[0]}") from error
