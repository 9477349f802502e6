"""The drivers whose cursors are recorded by replaced methods."""

from __future__ import annotations

from types import ModuleType

from dbagenteval.instrument.cursor_methods import CursorMethods
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings
from dbagenteval.instrument.table_rows import took_table

__all__ = ["instrument_adbc", "instrument_psycopg", "instrument_pymysql"]


def instrument_psycopg(module: ModuleType, settings: RowSettings) -> None:
    """Record psycopg 3, whose cursors know how many rows a result has."""
    methods = CursorMethods(Recorder("postgresql", settings), knows_total=True)
    for name in ("Cursor", "ClientCursor", "ServerCursor", "RawCursor", "RawServerCursor"):
        if hasattr(module, name):
            methods.replace(getattr(module, name))
        if hasattr(module, f"Async{name}"):
            methods.replace(getattr(module, f"Async{name}"), is_async=True)


def instrument_pymysql(module: ModuleType, settings: RowSettings) -> None:
    """Record PyMySQL; an unbuffered cursor doesn't know its number of rows and says so."""
    methods = CursorMethods(Recorder("mysql", settings), knows_total=True)
    for name in ("Cursor", "DictCursorMixin", "SSCursor", "SSDictCursor"):
        if hasattr(module, name):
            methods.replace(getattr(module, name))


def instrument_adbc(module: ModuleType, settings: RowSettings) -> None:
    """Record ADBC's DB-API cursors; which database is behind them, they don't say."""
    tables = ("fetch_arrow_table", "fetchallarrow", "fetch_df", "fetch_polars")
    methods = CursorMethods(
        Recorder("other_sql", settings), knows_total=False, more=dict.fromkeys(tables, took_table)
    )
    methods.replace(module.Cursor)
