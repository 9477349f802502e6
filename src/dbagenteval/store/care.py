"""Taking care of a store: checking, retention, export."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from dbagenteval.errors import StoreError, first_line
from dbagenteval.store.layout import Layout
from dbagenteval.store.scorecards import prune_kept
from dbagenteval.store.statements import statement

__all__ = ["CheckReport", "check_database", "export_parquet", "prune", "shrink"]

_CHECKS = {
    "check_index": "traces whose index is wrong",
    "check_duplicates": "spans stored more than once",
    "check_resources": "spans or log records without their resource or scope",
    "check_parts": "events or links without their span",
    "check_lists": "spans or log records with damaged attributes",
}
_PRUNED = (
    "spans",
    "span_events",
    "span_links",
    "logs",
    "trace_index",
    "log_requests",
    "resources",
    "scopes",
)
"""In this order: the last three are what nothing that is left needs."""

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


def prune(connection: duckdb.DuckDBPyConnection, layout: Layout, before_ns: int) -> None:
    """Remove what ended before a time: traces, loose log records, set-aside files, scorecards.

    Args:
        connection: Of the store, with no transaction open.
        layout: The store.
        before_ns: Unix nanoseconds.
    """
    connection.execute(statement("create_old_traces"), {"before_ns": before_ns})
    connection.begin()
    for name in _PRUNED:
        parameters = {"before_ns": before_ns} if name == "logs" else None
        connection.execute(statement(f"delete_old_{name}"), parameters)
    connection.commit()
    connection.execute(statement("checkpoint"))
    for path in layout.set_aside.iterdir():
        if path.stat().st_mtime_ns < before_ns:
            path.unlink(missing_ok=True)
    prune_kept(layout.root, before_ns)


def shrink(connection: duckdb.DuckDBPyConnection, layout: Layout, max_bytes: int) -> None:
    """Remove the oldest traces until the database needs at most so many bytes."""
    connection.execute(statement("checkpoint"))  # what is only in the log isn't counted
    for _ in range(_MAX_SHRINK_ROUNDS):
        if _number(connection, "used_bytes") <= max_bytes:
            return
        ((last_ns,),) = connection.execute(statement("time_of_share")).fetchall()
        if last_ns is None:
            return
        prune(connection, layout, int(last_ns) + 1)


def _number(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    ((count,),) = connection.execute(statement(name)).fetchall()
    return int(count or 0)


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
        connection.execute(statement("make_export_macros"))
        connection.begin()
        for name in _EXPORTED:
            connection.execute(statement(f"export_{name}").replace("{directory}", quoted))
        connection.commit()
    except (duckdb.Error, OSError) as error:
        raise StoreError(f"{directory}: can't be written: {first_line(error)}") from error
