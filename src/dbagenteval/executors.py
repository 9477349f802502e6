"""Database URL to executor: a function that runs one SQL text and gives its rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dbagenteval.errors import TargetError, first_line, quoted

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Engine

__all__ = ["Executor", "distinct_names", "executor_for", "read_only_engine"]

Executor = Callable[[str], list[dict[str, Any]]]
"""Takes SQL text, gives its rows as dicts (column name to value)."""

_DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mariadb": "mysql+pymysql",
    "mysql": "mysql+pymysql",
}
_SCHEMES = "sqlite:///FILE, duckdb:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE"
_EXTRAS = {"postgresql": ("psycopg", "postgres"), "mysql": ("pymysql", "mysql")}


def executor_for(url: str) -> Executor:
    """Make an executor for a database, which opens it for reading only.

    Each call takes a connection of its own, so several cases may run at once. Columns that share
    a name are told apart as `name`, `name_2`, …, so that none hides another.

    Args:
        url: A SQLAlchemy URL, such as `sqlite:///shop.db`.

    Raises:
        TargetError: Not a URL, an unknown or missing driver, or the database can't be opened.
    """
    engine = read_only_engine(url)

    def execute(sql: str) -> list[dict[str, Any]]:
        with engine.connect() as connection:
            result = connection.exec_driver_sql(sql, execution_options={"no_parameters": True})
            if not result.returns_rows:
                raise ValueError("the statement returns no rows; a SELECT is needed")
            names = distinct_names(result.keys())
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    return execute


def read_only_engine(text: str) -> Engine:
    """Open a database for reading only.

    Raises:
        TargetError: As `executor_for`.
    """
    from sqlalchemy import create_engine  # noqa: PLC0415 loaded late: most runs need no database
    from sqlalchemy.engine import make_url  # noqa: PLC0415
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError  # noqa: PLC0415

    try:
        url = make_url(text)
    except ArgumentError:
        raise TargetError(
            f"--database: {quoted(text)} is not a database URL; expected {_SCHEMES}"
        ) from None
    shown = url.render_as_string(hide_password=True)
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    _require_driver(url, shown)
    try:
        engine = create_engine(*_read_only(url), **_options(url))
        engine.connect().close()
    except (SQLAlchemyError, ImportError, OSError) as error:
        # Drivers repeat the password in no message seen so far, but a connection string may hold
        # one anywhere, so only the first line and never the URL itself is shown.
        reason = first_line(error)
        hint = f"expected {_SCHEMES}" if isinstance(error, ArgumentError) else None
        raise TargetError(f"--database: cannot open {shown}: {reason}", hint=hint) from None
    return engine


def _require_driver(url: URL, shown: str) -> None:
    module, extra = _EXTRAS.get(url.get_backend_name(), ("", ""))
    if module and importlib.util.find_spec(module) is None:
        raise TargetError(
            f"--database: {shown} needs the package {module}",
            hint=f"pip install 'dbagenteval[{extra}]'",
        )


def _read_only(url: URL) -> tuple[URL]:
    """Rewrite a file database's URL so that a mistyped path fails instead of making a file."""
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        if url.database.startswith("file:"):
            return (url,)
        from urllib.parse import quote  # noqa: PLC0415

        return (
            url.set(database=f"file:{quote(url.database)}").update_query_dict(
                {"mode": "ro", "uri": "true"}
            ),
        )
    return (url,)


def _options(url: URL) -> dict[str, Any]:
    backend = url.get_backend_name()
    if backend == "duckdb" and url.database and url.database != ":memory:":
        return {"connect_args": {"read_only": True}}
    if backend == "postgresql":
        return {"connect_args": {"options": "-c default_transaction_read_only=on"}}
    if url.drivername == "mysql+pymysql":
        return {"connect_args": {"init_command": "SET SESSION TRANSACTION READ ONLY"}}
    return {}


def distinct_names(names: Iterable[str]) -> list[str]:
    """Tell columns that share a name apart: `name`, `name_2` and so on."""
    given = [str(name) for name in names]
    taken = set(given)
    distinct: list[str] = []
    for name in given:
        candidate, count = name, 1
        while candidate in distinct or (count > 1 and candidate in taken):
            count += 1
            candidate = f"{name}_{count}"
        distinct.append(candidate)
    return distinct
