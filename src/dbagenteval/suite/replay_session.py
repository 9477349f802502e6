"""Run SQL of agents in sessions that only read, for so long and with so much and no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbagenteval.executors import Executor, distinct_names, read_only_engine
from dbagenteval.suite.interrupting import interrupted_after

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = ["ReplayLimits", "ReplayRefused", "limited_executor_for"]

_BATCH_ROWS = 500
_CELL_BYTES = 64
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLimits:
    """What one statement may use.

    Args:
        seconds: Until it is interrupted.
        rows: Of its result; with more, there is no result.
        result_bytes: Of its result in this process, roughly.
        memory_bytes: Of the database while it runs, where that can be set: DuckDB and SQLite for
            the whole process, PostgreSQL for each sort or hash.
    """

    seconds: float = 10.0
    rows: int = 10_000
    result_bytes: int = 64 * _MIB
    memory_bytes: int = 512 * _MIB


class ReplayRefused(Exception):
    """A statement went beyond a limit; the message says which."""


def limited_executor_for(url: str, limits: ReplayLimits) -> Executor:
    """Make an executor for SQL that nobody has looked at.

    Args:
        url: A SQLAlchemy URL; the database is opened for reading only.
        limits: Of each statement.

    Raises:
        TargetError: As `executor_for`.
    """
    engine = read_only_engine(url)
    backend = engine.dialect.name

    def execute(sql: str) -> list[dict[str, Any]]:
        with engine.connect() as connection:
            _restrict(connection, backend, limits)
            with interrupted_after(limits.seconds, _interrupt_of(connection)) as is_over:
                try:
                    return _rows(connection, sql, limits)
                except ReplayRefused:
                    raise
                except Exception as error:
                    if is_over():
                        raise ReplayRefused(f"it took more than {limits.seconds:g} s") from error
                    raise

    return execute


def _restrict(connection: Connection, backend: str, limits: ReplayLimits) -> None:
    """Tell the database what it can keep to by itself."""
    mib = max(limits.memory_bytes // _MIB, 1)
    statements = {
        "sqlite": ["PRAGMA query_only = ON", f"PRAGMA hard_heap_limit = {limits.memory_bytes}"],
        "duckdb": [f"SET memory_limit = '{mib}MB'"],
        "postgresql": [
            "SET TRANSACTION READ ONLY",
            f"SET LOCAL statement_timeout = {int(limits.seconds * 1000) or 1}",
            f"SET LOCAL work_mem = '{mib}MB'",
        ],
    }
    for statement in statements.get(backend, ()):
        connection.exec_driver_sql(statement)
    driver: Any = connection.connection.driver_connection
    if backend == "sqlite" and hasattr(driver, "setlimit"):  # Python 3.11 and later
        import sqlite3  # noqa: PLC0415 only for its constant

        driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(limits.result_bytes, 1_000_000_000))


def _interrupt_of(connection: Connection) -> Callable[[], object]:
    """Give what interrupts a connection; drivers call it by different names."""
    driver = connection.connection.driver_connection
    names = ("interrupt", "cancel", "close")
    stop: Callable[[], object] = next(
        getattr(driver, name) for name in names if hasattr(driver, name)
    )
    return stop


def _rows(connection: Connection, sql: str, limits: ReplayLimits) -> list[dict[str, Any]]:
    options = {"no_parameters": True, "stream_results": True, "max_row_buffer": _BATCH_ROWS}
    result = connection.exec_driver_sql(sql, execution_options=options)
    if not result.returns_rows:
        raise ReplayRefused("the statement returns no rows")
    names = distinct_names(result.keys())
    rows: list[dict[str, Any]] = []
    size = 0
    while batch := result.fetchmany(_BATCH_ROWS):
        for row in batch:
            size += sum(_size(cell) for cell in row)
            rows.append(dict(zip(names, row, strict=True)))
        if len(rows) > limits.rows:
            raise ReplayRefused(f"its result has more than {limits.rows} rows")
        if size > limits.result_bytes:
            raise ReplayRefused(f"its result has more than {limits.result_bytes} bytes")
    return rows


def _size(cell: Any) -> int:
    return _CELL_BYTES + (len(cell) if isinstance(cell, (str, bytes, list, dict)) else 0)
