"""A sandbox over a database: temporary tables that hide guarded ones, for one connection only.

The database itself is opened for reading where the engine allows it. Temporary tables take the
guarded tables' names, so that a query reads what was put there; nothing is written to the
database and everything is gone with the connection.
"""

# ruff: noqa: S608 # table names are quoted by `_name`, values are bound

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dbagenteval.errors import TargetError, first_line, quoted

__all__ = ["Row", "Sandbox", "open_sandbox"]

Row = tuple[Any, ...]

_SQLITE_HEADER = b"SQLite format 3\x00"


class Sandbox:
    """One connection with temporary tables over guarded ones.

    Args:
        dialect: `sqlite`, `duckdb` or `postgres`.
        execute: Runs SQL with parameters and gives the rows.
        schema: Where the real tables are, as written before a table's name.
        mark: The parameter mark of the driver.
        close: Ends the connection and undoes what was done.
    """

    def __init__(
        self,
        dialect: str,
        execute: Callable[[str, Sequence[Any]], list[Row]],
        schema: str,
        mark: str,
        close: Callable[[], None],
    ) -> None:
        self.dialect = dialect
        self.schema = schema
        self.close = close
        self._execute = execute
        self._mark = mark

    def run(self, sql: str) -> list[Row]:
        """Run a query against what the sandbox holds."""
        return self._execute(sql, ())

    def tables_with(self, column: str) -> list[str]:
        """Give the base tables of the default schema that have the column."""
        if self.dialect == "sqlite":
            names = [
                row[0]
                for row in self.run("SELECT name FROM main.sqlite_master WHERE type = 'table'")
            ]
            return [name for name in names if column.lower() in map(str.lower, self.columns(name))]
        found = self._execute(
            "SELECT c.table_name FROM information_schema.columns c "
            "JOIN information_schema.tables t "
            "ON t.table_schema = c.table_schema AND t.table_name = c.table_name "
            f"WHERE c.table_schema = {self._mark} AND lower(c.column_name) = lower({self._mark}) "
            "AND t.table_type = 'BASE TABLE' ORDER BY 1",
            (self.schema.rpartition(".")[2].strip('"'), column),
        )
        return [row[0] for row in found]

    def columns(self, table: str) -> list[str]:
        """Give a table's columns in order."""
        if self.dialect == "sqlite":
            return [row[1] for row in self.run(f"PRAGMA main.table_info({_name(table)})")]
        found = self._execute(
            f"SELECT column_name FROM information_schema.columns WHERE table_schema = {self._mark} "
            f"AND table_name = {self._mark} ORDER BY ordinal_position",
            (self.schema.rpartition(".")[2].strip('"'), table),
        )
        return [row[0] for row in found]

    def real_rows(self, table: str, limit: int) -> list[Row]:
        """Read a table's rows from the database itself."""
        return self.run(f"SELECT * FROM {self.schema}.{_name(table)} LIMIT {limit}")

    def hide(self, tables: Iterable[str]) -> list[str]:
        """Make empty temporary tables that hide the real ones, and the views anew over them.

        Returns:
            Names of the views that can't be made anew; reading one would read the real tables.
        """
        # PostgreSQL writes the schema into a view's text once a table of that name hides it.
        todo = dict(self._views())
        for table in tables:
            real = f"{self.schema}.{_name(table)}"
            self.run(f"CREATE TEMP TABLE {_name(table)} AS SELECT * FROM {real} LIMIT 0")
        while todo:
            done = [name for name, body in todo.items() if self._make_view(name, body)]
            if not done:
                break
            for name in done:
                del todo[name]
        return sorted(todo)

    def fill(self, table: str, rows: Iterable[Row]) -> None:
        """Put these rows into a temporary table in place of those it held."""
        target = f"{self._temporary}.{_name(table)}"
        self.run(f"DELETE FROM {target}")
        for row in rows:
            marks = ", ".join([self._mark] * len(row))
            self._execute(f"INSERT INTO {target} VALUES ({marks})", row)

    @property
    def _temporary(self) -> str:
        return {"sqlite": "temp", "duckdb": "temp.main", "postgres": "pg_temp"}[self.dialect]

    def _views(self) -> Iterable[tuple[str, str]]:
        if self.dialect == "sqlite":
            for name, sql in self.run(
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'view'"
            ):
                yield name, sql.split(" AS ", 1)[-1] if " AS " in sql else sql.split(" as ", 1)[-1]
        elif self.dialect == "duckdb":
            for name, sql in self.run(
                "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal"
            ):
                yield name, sql.split(" AS ", 1)[-1].rstrip().rstrip(";")
        else:
            for row in self.run(
                "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'"
            ):
                yield row[0], row[1].rstrip().rstrip(";")

    def _make_view(self, name: str, body: str) -> bool:
        try:
            if self.dialect == "postgres":
                self.run("SAVEPOINT making_view")
            self.run(f"CREATE TEMP VIEW {_name(name)} AS {body}")
        except Exception:  # noqa: BLE001 # whatever the engine says, this view can't be made
            if self.dialect == "postgres":
                self.run("ROLLBACK TO making_view")
            return False
        return True


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def open_sandbox(database: str | Path, timeout_s: float) -> Sandbox:
    """Open a database for a sandbox.

    Args:
        database: A SQLite or DuckDB file, or a URL `sqlite:///FILE`, `duckdb:///FILE` or
            `postgresql://…`.
        timeout_s: Seconds that one statement may take.

    Raises:
        TargetError: There is no such database, or no sandbox for its kind.
    """
    text = str(database)
    if text.startswith("postgres"):
        return _postgres(text, timeout_s)
    for scheme, opener in (("sqlite:///", _sqlite), ("duckdb:///", _duckdb)):
        if text.startswith(scheme):
            return opener(Path(text[len(scheme) :]), timeout_s)
    if "://" in text:
        raise TargetError(
            f"{quoted(text.split('://', 1)[0] + '://…')}: tenants can be proved on SQLite, DuckDB "
            "and PostgreSQL only"
        )
    path = Path(text)
    if not path.is_file():
        raise TargetError(f"{quoted(text)}: no such database file")
    with path.open("rb") as file:
        is_sqlite = file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    return (_sqlite if is_sqlite else _duckdb)(path, timeout_s)


def _sqlite(path: Path, timeout_s: float) -> Sandbox:
    if not path.is_file():
        raise TargetError(f"{quoted(str(path))}: no such database file")
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None
    )
    started = [0.0]
    connection.set_progress_handler(lambda: time.monotonic() - started[0] > timeout_s, 10_000)

    def execute(sql: str, parameters: Sequence[Any]) -> list[Row]:
        started[0] = time.monotonic()
        return connection.execute(sql, tuple(parameters)).fetchall()

    return Sandbox("sqlite", execute, "main", "?", connection.close)


def _duckdb(path: Path, timeout_s: float) -> Sandbox:
    import threading  # noqa: PLC0415

    connection = _open_duckdb(path)
    catalog = connection.execute("SELECT current_database()").fetchall()[0][0]

    def execute(sql: str, parameters: Sequence[Any]) -> list[Row]:
        timer = threading.Timer(timeout_s, connection.interrupt)
        timer.start()
        try:
            return connection.execute(sql, list(parameters)).fetchall()  # type: ignore[no-any-return]
        finally:
            timer.cancel()

    return Sandbox("duckdb", execute, f"{_name(catalog)}.main", "?", connection.close)


def _open_duckdb(path: Path) -> Any:
    """Open a DuckDB file for reading only, with no way to other files or the network.

    Raises:
        TargetError: No such file, or another process holds it.
    """
    import duckdb  # noqa: PLC0415 # loaded late: most runs need none

    if not path.is_file():
        raise TargetError(f"{quoted(str(path))}: no such database file")
    try:
        connection = duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise TargetError(f"{quoted(str(path))}: {first_line(error)}") from error
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _postgres(url: str, timeout_s: float) -> Sandbox:
    try:
        import psycopg  # noqa: PLC0415
    except ImportError:
        raise TargetError(
            "PostgreSQL needs the driver psycopg", hint="pip install 'dbagenteval[postgres]'"
        ) from None
    plain = "postgresql" + url[url.index(":") :] if not url.startswith("postgresql://") else url
    try:
        connection = psycopg.connect(plain)
    except psycopg.Error as error:
        raise TargetError(f"can't connect to PostgreSQL: {type(error).__name__}") from error
    connection.execute(f"SET LOCAL statement_timeout = {int(timeout_s * 1000)}")  # type: ignore[call-overload, unused-ignore]

    def execute(sql: str, parameters: Sequence[Any]) -> list[Row]:
        cursor = connection.execute(sql, tuple(parameters) or None)  # type: ignore[call-overload, unused-ignore]
        return cursor.fetchall() if cursor.description else []

    def close() -> None:
        connection.rollback()
        connection.close()

    return Sandbox("postgres", execute, "public", "%s", close)
