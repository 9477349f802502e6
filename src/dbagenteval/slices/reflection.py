"""Read from a database what its tables are."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dbagenteval.slices.schema import Column, ForeignKey, Schema, Table, parents_first

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine, Inspector

__all__ = ["TableName", "read_schema"]

TableName = tuple[str | None, str]
"""Namespace (None for the default one) and name of a table."""


def read_schema(engine: Engine, names: Iterable[TableName] | None = None) -> Schema:
    """Read what a database says of tables and views, and of those that they refer to.

    Args:
        engine: The database.
        names: Which, however cased; None takes all tables of the default namespace. Those that
            the database doesn't have are left out.

    Returns:
        The tables, parents first.
    """
    source = _DuckDb(engine) if engine.dialect.name == "duckdb" else _Inspected(engine)
    spelled: dict[str | None, dict[str, str]] = {}
    tables: dict[str, Table] = {}
    todo = [(None, name) for name in source.names(None)] if names is None else list(names)
    while todo:
        namespace, given = todo.pop(0)
        if namespace not in spelled:
            spelled[namespace] = {each.lower(): each for each in source.names(namespace)}
        name = spelled[namespace].get(given.lower())
        if name is None or name in tables:
            continue
        tables[name] = source.table(name, namespace)
        todo += [(namespace, key.table) for key in tables[name].foreign_keys]
    return parents_first(tables)


class _Inspected:
    """A database that SQLAlchemy can inspect."""

    def __init__(self, engine: Engine) -> None:
        from sqlalchemy import inspect  # noqa: PLC0415 loaded late: few commands need it

        self._inspector: Inspector = inspect(engine)

    def names(self, namespace: str | None) -> list[str]:
        inspector = self._inspector
        views = inspector.get_view_names(schema=namespace)
        with contextlib.suppress(NotImplementedError):  # most databases have none of these
            views += inspector.get_materialized_view_names(schema=namespace)
        return sorted({*inspector.get_table_names(schema=namespace), *views})

    def table(self, name: str, namespace: str | None) -> Table:
        columns = self._inspector.get_columns(name, schema=namespace)
        return Table(
            name=name,
            columns=tuple(
                Column(
                    name=each["name"],
                    kind=_kind(each["type"]),
                    is_required=not each.get("nullable", True),
                )
                for each in columns
            ),
            primary_key=self._primary_key(name, namespace),
            foreign_keys=tuple(sorted(self._foreign_keys(name, namespace), key=_columns)),
            namespace=namespace,
        )

    def _primary_key(self, name: str, namespace: str | None) -> tuple[str, ...]:
        found = self._inspector.get_pk_constraint(name, schema=namespace)
        return tuple(found["constrained_columns"])

    def _foreign_keys(self, name: str, namespace: str | None) -> Iterator[ForeignKey]:
        for key in self._inspector.get_foreign_keys(name, schema=namespace):
            if key["referred_schema"] not in (None, namespace):
                continue
            parent, columns = key["referred_table"], tuple(key["constrained_columns"])
            # SQLite lets a key name a table alone: its primary key is meant.
            referred = tuple(key["referred_columns"]) or self._primary_key(parent, namespace)
            if len(referred) == len(columns):
                yield ForeignKey(columns=columns, table=parent, referred=referred)


_KINDS = {
    "Boolean": "boolean",
    "Integer": "integer",
    "Float": "float",
    "Numeric": "number",
    "DateTime": "timestamp",
    "Date": "date",
    "Time": "time",
    "Uuid": "uuid",
    "JSON": "json",
}
"""SQLAlchemy's generic types by class name, the more special first."""


def _kind(type_: Any) -> str:
    names = [each.__name__ for each in type(type_).__mro__]
    kind = next((_KINDS[name] for name in _KINDS if name in names), "text")
    return "timestamptz" if kind == "timestamp" and getattr(type_, "timezone", False) else kind


class _DuckDb:
    """A DuckDB database, which tells more than its SQLAlchemy dialect can read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def names(self, namespace: str | None) -> list[str]:
        found = self._rows(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = coalesce(?, current_schema()) ORDER BY 1",
            namespace,
        )
        return [name for (name,) in found]

    def table(self, name: str, namespace: str | None) -> Table:
        columns = self._rows(
            "SELECT column_name, data_type, is_nullable FROM duckdb_columns() WHERE schema_name = "
            "coalesce(?, current_schema()) AND table_name = ? ORDER BY column_index",
            namespace,
            name,
        )
        keys = self._rows(
            "SELECT constraint_type, constraint_column_names, referenced_table, "
            "referenced_column_names FROM duckdb_constraints() WHERE schema_name = "
            "coalesce(?, current_schema()) AND table_name = ? ORDER BY constraint_index",
            namespace,
            name,
        )
        foreign_keys = [
            ForeignKey(columns=tuple(own), table=parent, referred=tuple(referred))
            for kind, own, parent, referred in keys
            if kind == "FOREIGN KEY"
        ]
        return Table(
            name=name,
            columns=tuple(
                Column(name=column, kind=_duckdb_kind(type_), is_required=not nullable)
                for column, type_, nullable in columns
            ),
            primary_key=next((tuple(own) for kind, own, *_ in keys if kind == "PRIMARY KEY"), ()),
            foreign_keys=tuple(sorted(foreign_keys, key=_columns)),
            namespace=namespace,
        )

    def _rows(self, sql: str, *parameters: str | None) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.exec_driver_sql(sql, parameters).fetchall())


_DUCKDB_KINDS = {
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?": "integer",
    r"DECIMAL\(.*\)": "number",
    r"FLOAT|DOUBLE": "float",
    r"BOOLEAN": "boolean",
    r"DATE": "date",
    r"TIMESTAMP WITH TIME ZONE": "timestamptz",
    r"TIMESTAMP(_.*)?": "timestamp",
    r"TIME": "time",
    r"UUID": "uuid",
    r"JSON": "json",
}


def _duckdb_kind(type_: str) -> str:
    return next((kind for name, kind in _DUCKDB_KINDS.items() if re.fullmatch(name, type_)), "text")


def _columns(key: ForeignKey) -> tuple[str, ...]:
    return key.columns
