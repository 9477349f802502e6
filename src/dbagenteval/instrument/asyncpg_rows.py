"""Rows of asyncpg, which has no cursors but for results that are fetched in parts.

Its public methods share two private ones, `Connection._execute` and that of prepared statements,
which alone see all columns where `fetchval` gives one cell. Where a release lacks one of the
methods, its statements are not recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from dbagenteval.instrument.asyncpg_cursors import replace_cursors
from dbagenteval.instrument.nesting import inside, is_inside
from dbagenteval.instrument.record import Record
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings

__all__ = ["instrument"]

_Told = Callable[[Record, Any, Sequence[Any]], None]
"""Tells a record what a method gave: record, result, the method's arguments."""

_MARK = "_dbagenteval_is_recorded"
_OWN_STATEMENTS = (
    "reset",
    "add_listener",
    "remove_listener",
    "set_type_codec",
    "reset_type_codec",
    "set_builtin_type_codec",
    "reload_schema_state",
)
_OWN_STATEMENTS_OF_TRANSACTIONS = ("start", "commit", "rollback", "__aenter__", "__aexit__")


def instrument(module: Any, settings: RowSettings) -> None:
    """Replace the methods that run statements, and the classes of cursors."""
    recorder = Recorder("postgresql", settings)
    connection, prepared = module.connection.Connection, module.prepared_stmt.PreparedStatement
    for cls, name, told in (
        (connection, "execute", _told_nothing),
        (connection, "executemany", _told_nothing),
        (connection, "fetchmany", _told_all),
        (connection, "_execute", _told_up_to(2)),
        (connection, "prepare", _told_only_errors),
        (prepared, "_PreparedStatement__bind_execute", _told_up_to(1)),
        (prepared, "executemany", _told_nothing),
        (prepared, "fetchmany", _told_all),
    ):
        _replace(cls, name, recorder, told)
    for name in _OWN_STATEMENTS:
        _leave_out(connection, name)
    for name in _OWN_STATEMENTS_OF_TRANSACTIONS:
        _leave_out(module.transaction.Transaction, name)
    replace_cursors(module.cursor, recorder)


def _replace(cls: Any, name: str, recorder: Recorder, told: _Told) -> None:
    original = cls.__dict__.get(name)
    if original is None or hasattr(original, _MARK):
        return

    @functools.wraps(original)
    async def run(target: Any, *args: Any, **kwargs: Any) -> Any:
        if is_inside.get():
            return await original(target, *args, **kwargs)
        of_prepared = getattr(target, "_query", None)
        record = recorder.begin(of_prepared or next(iter((*args, *kwargs.values())), ""))
        with inside():
            try:
                result = await original(target, *args, **kwargs)
            except BaseException as error:
                if record is not None:
                    record.finish(error=error)
                raise
        if record is not None:
            told(record, result, args)
        return result

    setattr(run, _MARK, True)
    setattr(cls, name, run)


def _leave_out(cls: Any, name: str) -> None:
    """Leave unrecorded what a method runs: the program didn't write it."""
    original = cls.__dict__.get(name)
    if original is None or hasattr(original, _MARK):
        return

    @functools.wraps(original)
    async def run(*args: Any, **kwargs: Any) -> Any:
        with inside():
            return await original(*args, **kwargs)

    setattr(run, _MARK, True)
    setattr(cls, name, run)


def _told_nothing(record: Record, result: Any, args: Sequence[Any]) -> None:  # noqa: ARG001 a _Told
    record.finish(is_whole=True)


def _told_only_errors(record: Record, result: Any, args: Sequence[Any]) -> None:  # noqa: ARG001 a _Told
    record.drop()  # it ran nothing


def _told_all(record: Record, rows: Any, args: Sequence[Any]) -> None:  # noqa: ARG001 a _Told
    _take(record, rows)
    record.finish(is_whole=True)


def _told_up_to(position: int) -> _Told:
    """Tell of rows that the argument at a position limits; 0 is no limit."""

    def told(record: Record, rows: Any, args: Sequence[Any]) -> None:
        limit = args[position]
        _take(record, rows)
        record.finish(is_whole=not limit or len(rows) < limit or record.reached_bound())

    return told


def _take(record: Record, rows: Sequence[Any]) -> None:
    names = rows[0].keys() if rows else ()
    record.describe([(name,) for name in names])
    record.take(rows)
