"""Rows of sqlite3 cursors.

sqlite3's classes are written in C and can't be changed, so `connect` gives subclasses that look
like them. Fetching costs a Python call then; once a record needs nothing more, its cursor becomes
one of a class that overrides no fetching, so that a long result is read as fast as ever.
"""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

from dbagenteval.instrument.record import Record, Recorder
from dbagenteval.instrument.row_settings import RowSettings

__all__ = ["instrument"]

_FACTORY_POSITION = 5
_SLOT = "_dbagenteval_record"


def instrument(module: ModuleType, settings: RowSettings) -> None:
    """Make `connect` give connections whose cursors are recorded."""
    import wrapt  # noqa: PLC0415 there wherever programs are instrumented

    recorder = Recorder("sqlite", settings)
    places: tuple[Any, ...] = (module, module.dbapi2)  # SQLAlchemy takes it from the latter
    for place in places:
        if not getattr(place.connect, "_self_is_recorded", False):
            place.connect = wrapt.FunctionWrapper(
                place.connect,
                lambda connect, _, args, kwargs: _connected(recorder, connect, args, kwargs),
            )
            place.connect._self_is_recorded = True  # noqa: SLF001 wrapt keeps such names for us


def _connected(recorder: Recorder, connect: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    given = list(args)
    if len(given) > _FACTORY_POSITION:
        given[_FACTORY_POSITION] = _recorded(recorder, given[_FACTORY_POSITION])
    else:
        kwargs = {
            **kwargs,
            "factory": _recorded(recorder, kwargs.get("factory", sqlite3.Connection)),
        }
    return connect(*given, **kwargs)


def _recorded(recorder: Recorder, factory: Any) -> Any:
    """Give the recorded class for a connection class; any other factory stays as it is."""
    if isinstance(factory, type) and issubclass(factory, sqlite3.Connection):
        cls: Any = factory
        return _connection_class(recorder, cls)
    return factory


@lru_cache(maxsize=256)
def _connection_class(recorder: Recorder, base: type[sqlite3.Connection]) -> type:
    def cursor(self: Any, factory: Any = sqlite3.Cursor, /) -> Any:
        if not (isinstance(factory, type) and issubclass(factory, sqlite3.Cursor)):
            return base.cursor(self, factory)
        made = base.cursor(self, _cursor_classes(recorder, factory)[1])
        if isinstance(made, sqlite3.Cursor) and hasattr(type(made), _SLOT):
            setattr(made, _SLOT, None)
        return made

    def cursor_by_name(self: Any, *args: Any, **kwargs: Any) -> Any:
        return cursor(self, *args, *kwargs.values())  # its one parameter is `factory`

    def execute(self: Any, sql: str, *args: Any) -> Any:
        return self.cursor().execute(sql, *args)

    def executemany(self: Any, sql: str, parameters: Any, /) -> Any:
        return self.cursor().executemany(sql, parameters)

    # sqlite3's own shortcuts make plain cursors.
    members = {"cursor": cursor_by_name, "execute": execute, "executemany": executemany}
    return _subclass(base, {name: own for name, own in members.items() if not _is_own(base, name)})


def _is_own(base: type, name: str) -> bool:
    """True if a program's class overrides what sqlite3 has: it may take other arguments."""
    return getattr(base, name) is not getattr(sqlite3.Connection, name)


def _subclass(base: type, members: dict[str, Any]) -> type:
    """Make a subclass that shows as its base does."""
    shown = {
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    return type(base.__name__, (base,), {"__slots__": (), **shown, **members})


@lru_cache(maxsize=256)
def _cursor_classes(  # noqa: C901 methods of a class that is made here
    recorder: Recorder, base: type[sqlite3.Cursor]
) -> tuple[type, type]:
    """Give the classes of a cursor whose rows are recorded, and of one with no record open."""

    def execute(self: Any, sql: str, *args: Any) -> Any:
        leave(self)
        record = recorder.begin(sql)
        if record is None:
            return base.execute(self, sql, *args)
        try:
            result = base.execute(self, sql, *args)
        except BaseException as error:
            record.finish(error=error)
            raise
        if record.describe(self.description):
            setattr(self, _SLOT, record)
            is_plain = base is sqlite3.Cursor and self.row_factory is None
            self.__class__ = recording_tuples if is_plain else recording
        return result

    def executemany(self: Any, sql: str, parameters: Any, /) -> Any:
        leave(self)
        record = recorder.begin(sql)
        result = _tried(record, base.executemany, self, sql, parameters)
        if record is not None:
            record.finish(is_whole=True)
        return result

    def close(self: Any) -> None:
        leave(self)
        base.close(self)

    def leave(self: Any) -> None:
        """Finish the record of the execution before, if its rows were not all fetched."""
        record: Record | None = getattr(self, _SLOT, None)
        if record is not None:
            record.finish(is_whole=_is_done(self) or record.reached_bound())
            done(self)

    def done(self: Any) -> None:
        setattr(self, _SLOT, None)
        self.__class__ = quiet

    shared = _subclass(
        base,
        {"__slots__": (_SLOT,), "execute": execute, "executemany": executemany, "close": close},
    )
    quiet = _subclass(shared, {})
    recording = _subclass(shared, _fetching(base, done, is_plain=False))
    recording_tuples = _subclass(shared, _fetching(base, done, is_plain=True))
    return recording, quiet


def _fetching(  # noqa: C901, PLR0915 see above
    base: type[sqlite3.Cursor], done: Callable[[Any], None], *, is_plain: bool
) -> dict[str, Any]:
    """Make the methods that fetch; `done` turns the cursor into one without them.

    While a method of `base` runs, the slot is empty: a program's class may fetch by another
    method of its own, which must not count twice. `is_plain` is for cursors of sqlite3's own class
    that give tuples.
    """

    def begun(self: Any) -> Record | None:
        record: Record | None = self._dbagenteval_record
        self._dbagenteval_record = None
        return record

    def took(self: Any, record: Record) -> None:
        self._dbagenteval_record = record
        if record.is_finished or record.look(knows_end=_is_done(self)):
            done(self)

    def took_one(self: Any, record: Record, row: Any) -> None:
        if type(row) is tuple:
            record.kept.append(row)
        else:
            record.take((row,))
        if record.count >= record.look_at:
            took(self, record)
        else:
            self._dbagenteval_record = record

    def __next__(self: Any) -> Any:  # noqa: N807 becomes a method
        record = begun(self)
        try:
            row = base.__next__(self)
        except StopIteration:
            if record is not None:
                record.finish(is_whole=True)
                done(self)
            raise
        except BaseException as error:
            if record is not None:
                record.finish(error=error)
            raise
        if record is not None:
            took_one(self, record, row)
        return row

    def next_tuple(self: Any) -> Any:
        # This runs for each row of most loops, so it does without what the others share:
        # `fetchone` is quicker to call than `__next__`, and while rows are tuples, None is the end.
        if self.row_factory is not None:  # the program has set one since
            return __next__(self)
        record = self._dbagenteval_record
        try:
            row = plain_fetchone(self)
        except BaseException as error:
            record.finish(error=error)
            raise
        if row is None:
            record.finish(is_whole=True)
            done(self)
            raise StopIteration
        kept = record.kept
        kept.append(row)
        if len(kept) >= record.look_at:
            took(self, record)
        return row

    plain_fetchone = sqlite3.Cursor.fetchone

    def fetchone(self: Any) -> Any:
        record = begun(self)
        row = _tried(record, base.fetchone, self)
        if record is not None:
            if row is None:
                record.finish(is_whole=True)
                done(self)
            else:
                took_one(self, record, row)
        return row

    def fetchmany(self: Any, *args: Any, **kwargs: Any) -> Any:
        record = begun(self)
        rows = _tried(record, base.fetchmany, self, *args, **kwargs)
        if record is not None:
            record.take(rows)
            size = next(iter((*args, *kwargs.values(), self.arraysize)))
            if len(rows) < size:
                record.finish(is_whole=True)
            took(self, record)
        return rows

    def fetchall(self: Any) -> Any:
        record = begun(self)
        rows = _tried(record, base.fetchall, self)
        if record is not None:
            record.take(rows)
            record.finish(is_whole=True)
        done(self)
        return rows

    return {
        "__next__": next_tuple if is_plain else __next__,
        "fetchone": fetchone,
        "fetchmany": fetchmany,
        "fetchall": fetchall,
    }


def _tried(record: Record | None, call: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return call(*args, **kwargs)
    except BaseException as error:
        if record is not None:
            record.finish(error=error)
        raise


def _statement_left(cursor: sqlite3.Cursor) -> bool:
    return any(type(held).__name__ == "Statement" for held in gc.get_referents(cursor))


def _row_left(cursor: sqlite3.Cursor) -> bool:
    description = cursor.description
    return any(type(held) is tuple and held is not description for held in gc.get_referents(cursor))


def _unknown(cursor: sqlite3.Cursor) -> bool:  # noqa: ARG001 a signature
    return True


@lru_cache(maxsize=1)
def _sign_of_more() -> Any:
    """Find how a cursor shows that there are rows left, without fetching any.

    A cursor steps ahead: with the last row given, it has let go of its statement (Python 3.11 and
    later) or holds no next row (3.10). Neither is documented, so it is tried out once.
    """
    with_one = sqlite3.Connection(":memory:")
    with_two = sqlite3.Connection(":memory:")
    try:
        one = with_one.execute("SELECT 1")
        two = with_two.execute("SELECT 1 UNION ALL SELECT 2")
        before = [sign(one) for sign in (_statement_left, _row_left)]
        one.fetchone()
        two.fetchone()
        for sign, was in zip((_statement_left, _row_left), before):  # noqa: B905 of one length
            if was and not sign(one) and sign(two):
                return sign
        return _unknown
    finally:
        with_one.close()
        with_two.close()


def _is_done(cursor: sqlite3.Cursor) -> bool:
    """True if it is certain that no row is left."""
    return not _sign_of_more()(cursor)
