"""Rows of DuckDB: its connections, which are cursors, its relations and its functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from dbagenteval.instrument.cursor_methods import CursorMethods
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings
from dbagenteval.instrument.table_rows import took_table

__all__ = ["instrument"]

_TABLES = (
    "df",
    "fetchdf",
    "fetch_df",
    "to_df",
    "pl",
    "arrow",
    "fetch_arrow_table",
    "to_arrow_table",
)
_QUERIES = ("sql", "query", "from_query")


def instrument(module: ModuleType, settings: RowSettings) -> None:
    """Replace the methods that run statements and fetch."""
    tables = dict.fromkeys(_TABLES, took_table)
    recorder = Recorder("duckdb", settings)
    CursorMethods(recorder, knows_total=False, more=tables).replace(module.DuckDBPyConnection)
    relations = _Relations(CursorMethods(recorder, knows_total=False, more=tables))
    for name in _QUERIES:
        relations.remember(module.DuckDBPyConnection, name)
    for name in ("fetchone", "fetchmany", "fetchall", *_TABLES):
        relations.begin_at(module.DuckDBPyRelation, name)
    _use_methods(module)


def _use_methods(module: ModuleType) -> None:
    """Let functions of the module go through the methods of the default connection."""

    def through_method(name: str, original: Any) -> Callable[..., Any]:
        @functools.wraps(original, updated=())
        def function(*args: Any, connection: Any = None, **kwargs: Any) -> Any:
            chosen = module.default_connection() if connection is None else connection
            return getattr(chosen, name)(*args, **kwargs)

        return function

    for name in ("execute", "fetchone", "fetchmany", "fetchall", *_TABLES, *_QUERIES):
        if hasattr(module, name) and hasattr(module.DuckDBPyConnection, name):
            setattr(module, name, through_method(name, getattr(module, name)))


class _Relations:
    """Relations run when they are fetched; their text is that of the query they were made from.

    Args:
        cursors: Replaces the methods that fetch.
    """

    def __init__(self, cursors: CursorMethods) -> None:
        self.cursors = cursors
        self._texts: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def remember(self, cls: type, name: str) -> None:
        """Note the text of each relation that a method of the connection gives."""
        original = getattr(cls, name, None)
        if original is None:
            return

        @functools.wraps(original, updated=())
        def query(connection: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
            with self.cursors.failing(text):
                relation = original(connection, text, *args, **kwargs)
            if relation is None:  # no query, so it ran at once
                self.cursors.ran(text)
            elif isinstance(text, str):
                self._texts[relation] = text
            return relation

        setattr(cls, name, query)

    def begin_at(self, cls: type, name: str) -> None:
        """Begin a record where a relation is fetched that has none open."""
        fetch = cls.__dict__.get(name)
        if fetch is None:
            return

        @functools.wraps(fetch, updated=())
        def begun(relation: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.cursors.is_recording(relation):
                self.cursors.begin_unless_open(
                    relation,
                    lambda: self._texts.get(relation) or relation.sql_query(),
                    lambda: [(column,) for column in relation.columns],
                )
                if self.cursors.is_recording(relation):
                    return getattr(relation, name)(*args, **kwargs)  # which comes back here
            return fetch(relation, *args, **kwargs)

        setattr(cls, name, begun)
