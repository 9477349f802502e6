"""Rows of sqlite3 cursors.

sqlite3's classes are written in C and can't be changed, so `connect` gives subclasses that look
like them, and methods of those are replaced.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from types import ModuleType
from typing import Any

from dbagenteval.instrument.cursor_methods import CursorMethods
from dbagenteval.instrument.lookalike import lookalike
from dbagenteval.instrument.record import Record
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings
from dbagenteval.instrument.sqlite_end import is_at_end

__all__ = ["instrument"]

_FACTORY_POSITION = 5
_SLOT = "_dbagenteval_record"


def instrument(module: ModuleType, settings: RowSettings) -> None:
    """Make `connect` give connections whose cursors are recorded."""
    import wrapt  # noqa: PLC0415 there wherever programs are instrumented

    methods = _SqliteMethods(Recorder("sqlite", settings), knows_end=is_at_end)
    places: tuple[Any, ...] = (module, module.dbapi2)  # SQLAlchemy takes it from the latter
    for place in places:
        if not getattr(place.connect, "_self_is_recorded", False):
            place.connect = wrapt.FunctionWrapper(
                place.connect,
                lambda connect, _, args, kwargs: _connected(methods, connect, args, kwargs),
            )
            place.connect._self_is_recorded = True  # noqa: SLF001 wrapt keeps such names for us


def _connected(methods: CursorMethods, connect: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    given = list(args)
    if len(given) > _FACTORY_POSITION:
        given[_FACTORY_POSITION] = _recorded(methods, given[_FACTORY_POSITION])
    else:
        kwargs = {
            **kwargs,
            "factory": _recorded(methods, kwargs.get("factory", sqlite3.Connection)),
        }
    return connect(*given, **kwargs)


def _recorded(methods: CursorMethods, factory: Any) -> Any:
    """Give the recorded class for a connection class; any other factory stays as it is."""
    if isinstance(factory, type) and issubclass(factory, sqlite3.Connection):
        cls: Any = factory
        return _connection_class(methods, cls)
    return factory


@lru_cache(maxsize=256)
def _connection_class(methods: CursorMethods, base: type[sqlite3.Connection]) -> Any:
    def cursor(self: Any, factory: Any = sqlite3.Cursor, /) -> Any:
        if not (isinstance(factory, type) and issubclass(factory, sqlite3.Cursor)):
            return base.cursor(self, factory)
        return base.cursor(self, _cursor_class(methods, factory))

    def cursor_by_name(self: Any, *args: Any, **kwargs: Any) -> Any:
        return cursor(self, *args, *kwargs.values())  # its one parameter is `factory`

    def execute(self: Any, sql: str, *args: Any) -> Any:
        return self.cursor().execute(sql, *args)

    def executemany(self: Any, sql: str, parameters: Any, /) -> Any:
        return self.cursor().executemany(sql, parameters)

    # sqlite3's own shortcuts make plain cursors.
    members = {"cursor": cursor_by_name, "execute": execute, "executemany": executemany}
    return lookalike(base, {name: own for name, own in members.items() if not _is_own(base, name)})


def _is_own(base: type, name: str) -> bool:
    """True if a program's class overrides what sqlite3 has: it may take other arguments."""
    return getattr(base, name) is not getattr(sqlite3.Connection, name)


@lru_cache(maxsize=256)
def _cursor_class(methods: CursorMethods, base: type[sqlite3.Cursor]) -> Any:
    members = {"execute": base.execute, "executemany": base.executemany}
    cls = lookalike(base, {"__slots__": (_SLOT,), **members})
    methods.replace(cls)
    return cls


class _SqliteMethods(CursorMethods):
    """Loops over sqlite3's cursors are so fast that looking up the record would be seen."""

    def watch(self, cursor: Any, record: Record) -> None:
        """Give the cursor its record too."""
        super().watch(cursor, record)
        setattr(cursor, _SLOT, record)

    def close(self, cursor: Any) -> None:
        """Take the record away."""
        super().close(cursor)
        setattr(cursor, _SLOT, None)

    def recording_members(self, own: type) -> dict[str, Any]:
        """Add a faster loop to cursors of sqlite3's own class."""
        members = super().recording_members(own)
        if own.__base__ is sqlite3.Cursor:
            members["__next__"] = _next_tuple(members["__next__"], self)
        return members


def _next_tuple(next_row: Any, methods: CursorMethods) -> Any:
    # `fetchone` is quicker to call than `__next__`, and while rows are tuples, None is the end.
    fetchone = sqlite3.Cursor.fetchone

    def __next__(cursor: Any) -> Any:  # noqa: N807 becomes a method
        if cursor.row_factory is not None:  # which the program may change at any time
            return next_row(cursor)
        record = cursor._dbagenteval_record  # noqa: SLF001 see `_SLOT`
        try:
            row = fetchone(cursor)
        except BaseException as error:
            record.finish(error=error)
            methods.close(cursor)
            raise
        if row is None:
            record.finish(is_whole=True)
            methods.close(cursor)
            raise StopIteration
        kept = record.kept
        kept.append(row)
        if len(kept) >= record.look_at:
            methods.look(cursor, record)
        return row

    return __next__
