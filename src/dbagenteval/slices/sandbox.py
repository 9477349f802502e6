"""A database in memory that holds a script's tables, and queries that only read them."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from dbagenteval.executors import distinct_names
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.sql import read_sql
from dbagenteval.suite.interrupting import interrupted_after
from dbagenteval.traces import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Sandbox", "SandboxRefused"]

_MAX_ROWS = 10_000
_MAX_CELL_BYTES = 16 * 1024 * 1024
_SECONDS = 10.0
_DUCKDB: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "512MB",
    "temp_directory": "",
}


class SandboxRefused(Exception):
    """A statement took more than it may; the message says what."""


class Sandbox:
    """A database of its own, without files, network or anything else that is not in its script.

    SQL of SQLite runs on SQLite, all other on DuckDB, translated where it is of another dialect.

    Args:
        statements: What makes the tables and fills them.
        dialect: Of the queries to come, in sqlglot's words.
        seconds: That one query may take.

    Raises:
        SandboxRefused: Filling the tables took longer than one query may.
        Exception: Whatever the database says of a statement that it does not take.
    """

    def __init__(
        self, statements: Iterable[str], *, dialect: str, seconds: float = _SECONDS
    ) -> None:
        self.dialect = dialect
        self._lock = threading.Lock()
        self._engine: _Sqlite | _DuckDb
        if base_name(dialect) == "sqlite":
            self._engine = _Sqlite(seconds)
        else:
            divides = Dialect.get_or_raise(dialect).TYPED_DIVISION  # 1 / 2 is 0, as in PostgreSQL
            self._engine = _DuckDb(seconds, divides_integers=divides)
        # Whoever forgets the sandbox leaves nothing behind.
        self._finalizer = weakref.finalize(self, self._engine.close)
        try:
            self._engine.load(statements)
        except BaseException:
            self.close()
            raise

    def run(self, sql: str) -> Rows:
        """Run one query.

        Returns:
            Its rows; columns that share a name are told apart.

        Raises:
            SandboxRefused: It took too long or gave too much.
            Exception: Whatever the database raises.
        """
        text = _translated(sql, self.dialect, self._engine.dialect)
        with self._lock:
            names, rows = self._engine.query(text)
        if len(rows) > _MAX_ROWS:
            raise SandboxRefused(f"its result has more than {_MAX_ROWS} rows")
        distinct = distinct_names(names)
        return [dict(zip(distinct, row, strict=True)) for row in rows]

    def close(self) -> None:
        """Forget the database."""
        self._finalizer()


@lru_cache(maxsize=256)
def _translated(sql: str, dialect: str, target: str) -> str:
    """Write a query for the engine, without the namespaces, which the script doesn't have."""
    parsed = read_sql(sql, dialect)
    if parsed.problem or len(parsed.statements) != 1:
        return sql
    tree = parsed.statements[0]
    if any(table.args.get("db") for table in tree.find_all(exp.Table)):
        tree = tree.copy()
        for table in tree.find_all(exp.Table):
            table.set("db", None)
            table.set("catalog", None)
    elif base_name(dialect) == target:
        return sql
    return tree.sql(dialect=target)


class _Sqlite:
    dialect = "sqlite"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )

    def close(self) -> None:
        self._connection.close()

    def load(self, statements: Iterable[str]) -> None:
        connection = self._connection
        connection.set_progress_handler(lambda: time.monotonic() > self._until, 10_000)
        with self._limited():
            connection.execute("PRAGMA foreign_keys = ON")
            for statement in statements:
                connection.execute(statement)
        connection.execute("PRAGMA query_only = ON")
        if hasattr(connection, "setlimit"):  # Python 3.11 and later
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_CELL_BYTES)
        connection.set_authorizer(_only_reading)

    def query(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self._limited():
            cursor = self._connection.execute(sql)
            rows = cursor.fetchmany(_MAX_ROWS + 1)
        return [column[0] for column in cursor.description or ()], rows

    @contextmanager
    def _limited(self) -> Iterator[None]:
        self._until = time.monotonic() + self._seconds
        try:
            yield
        except sqlite3.OperationalError as error:
            if time.monotonic() > self._until:
                raise SandboxRefused(f"it took more than {self._seconds:g} s") from error
            raise
        except sqlite3.DatabaseError as error:
            if "not authorized" in str(error):
                raise SandboxRefused("it is not one statement that only reads") from error
            raise


_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


def _only_reading(action: int, _first: str | None, second: str | None, *_where: str | None) -> int:
    if action not in _READING or (second or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@lru_cache(maxsize=2)
def _duckdb_server(*, divides_integers: bool) -> DuckDBPyConnection:
    """Start DuckDB once: a new one takes 30 times as long as a new database in it."""
    import duckdb  # noqa: PLC0415 loaded late: SQL of SQLite needs none

    server = duckdb.connect(":memory:", config=_DUCKDB)
    for setting in (
        f"integer_division = {str(divides_integers).lower()}",
        "enable_external_access = false",
        "TimeZone = 'UTC'",
        "lock_configuration = true",
    ):
        server.execute(f"SET GLOBAL {setting}")
    return server


_DATABASE_NUMBERS = itertools.count(1)


class _DuckDb:
    dialect = "duckdb"

    def __init__(self, seconds: float, *, divides_integers: bool) -> None:
        self._seconds = seconds
        self._name = f"data_{next(_DATABASE_NUMBERS)}"
        self._server = _duckdb_server(divides_integers=divides_integers)
        self._connection = self._server.cursor()
        self._connection.execute(f"ATTACH ':memory:' AS {self._name}")
        self._connection.execute(f"USE {self._name}")

    def close(self) -> None:
        self._connection.close()
        self._server.cursor().execute(f"DETACH {self._name}")

    def load(self, statements: Iterable[str]) -> None:
        with self._limited():
            for statement in statements:
                self._connection.execute(statement)

    def query(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        import duckdb  # noqa: PLC0415

        statements = self._connection.extract_statements(sql)
        if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
            raise SandboxRefused("it is not one statement that only reads")
        with self._limited():
            cursor = self._connection.execute(sql)
            rows = cursor.fetchmany(_MAX_ROWS + 1)
        return [column[0] for column in cursor.description or ()], rows

    @contextmanager
    def _limited(self) -> Iterator[None]:
        import duckdb  # noqa: PLC0415

        with interrupted_after(self._seconds, self._connection.interrupt) as is_over:
            try:
                yield
            except duckdb.Error as error:
                if is_over():
                    raise SandboxRefused(f"it took more than {self._seconds:g} s") from error
                raise
