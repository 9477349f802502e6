"""The methods of a cursor whose record is open: they fetch as ever and tell the record.

Methods of a cursor may call each other; then the outermost tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dbagenteval.instrument.record import Record

__all__ = ["OpenRecords", "Took", "recording_members"]

Took = Callable[[Record, Any, tuple[Any, ...], dict[str, Any], Any], None]
"""Tells a record what a method gave: record, cursor, arguments, keywords, result."""

_LEAVING = ("close", "scroll", "nextset")
"""What ends a result, or moves in it so that rows would come twice."""


class OpenRecords(Protocol):
    """Keeps the open records of cursors.

    Attributes:
        opened: By the `id` of the cursor.
    """

    opened: dict[int, Record]

    def look(self, cursor: Any, record: Record) -> None:
        """See whether the record is due or finished, after it was told something."""

    def leave(self, cursor: Any) -> None:
        """Finish the record."""


def recording_members(own: type, records: OpenRecords, more: Mapping[str, Took]) -> dict[str, Any]:
    """Make the methods of a subclass of a cursor class.

    Args:
        own: The cursor's class; a method that it has not is left out.
        records: Of its cursors.
        more: Further methods that fetch.
    """
    is_async = hasattr(own, "__anext__")
    fetching = {"fetchone": _took_one, "fetchmany": _took_many, "fetchall": _took_all, **more}
    fetch, leave = (_afetch, _aleave) if is_async else (_fetch, _leave)
    members = {
        name: fetch(getattr(own, name), took, records)
        for name, took in fetching.items()
        if hasattr(own, name)
    }
    members.update({n: leave(getattr(own, n), records) for n in _LEAVING if hasattr(own, n)})
    if is_async:
        members["__anext__"] = _anext(own.__anext__, records)  # type: ignore[attr-defined]
    elif hasattr(own, "__next__"):
        members["__next__"] = _next(own.__next__, records)
    return members


def _fetch(original: Any, took: Took, records: OpenRecords) -> Any:
    def fetch(cursor: Any, *args: Any, **kwargs: Any) -> Any:
        record = records.opened.get(id(cursor))
        if record is None or record.is_told:
            return original(cursor, *args, **kwargs)
        record.is_told = True
        try:
            result = original(cursor, *args, **kwargs)
            took(record, cursor, args, kwargs, result)
        except BaseException as error:
            record.finish(error=error)
            raise
        finally:
            record.is_told = False
            records.look(cursor, record)
        return result

    return fetch


def _afetch(original: Any, took: Took, records: OpenRecords) -> Any:
    async def fetch(cursor: Any, *args: Any, **kwargs: Any) -> Any:
        record = records.opened.get(id(cursor))
        if record is None or record.is_told:
            return await original(cursor, *args, **kwargs)
        record.is_told = True
        try:
            result = await original(cursor, *args, **kwargs)
            took(record, cursor, args, kwargs, result)
        except BaseException as error:
            record.finish(error=error)
            raise
        finally:
            record.is_told = False
            records.look(cursor, record)
        return result

    return fetch


def _next(original: Any, records: OpenRecords) -> Any:
    opened = records.opened

    def next_(cursor: Any) -> Any:  # runs for each row of a loop: no call that it can do without
        record = opened.get(id(cursor))
        if record is None or record.is_told:
            return original(cursor)
        record.is_told = True
        try:
            row = original(cursor)
        except BaseException as error:
            _ended(record, error)
            records.look(cursor, record)
            raise
        record.is_told = False
        if type(row) is tuple:
            record.kept.append(row)
        else:
            record.take((row,))
        if len(record.kept) >= record.look_at:
            records.look(cursor, record)
        return row

    return next_


def _anext(original: Any, records: OpenRecords) -> Any:
    async def next_(cursor: Any) -> Any:
        record = records.opened.get(id(cursor))
        if record is None or record.is_told:
            return await original(cursor)
        record.is_told = True
        try:
            row = await original(cursor)
            record.take((row,))
        except BaseException as error:
            _ended(record, error)
            raise
        finally:
            record.is_told = False
            records.look(cursor, record)
        return row

    return next_


def _ended(record: Record, error: BaseException) -> None:
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        record.finish(is_whole=True)
    else:
        record.finish(error=error)


def _leave(original: Any, records: OpenRecords) -> Any:
    def leave(cursor: Any, *args: Any, **kwargs: Any) -> Any:
        records.leave(cursor)
        return original(cursor, *args, **kwargs)

    return leave


def _aleave(original: Any, records: OpenRecords) -> Any:
    async def leave(cursor: Any, *args: Any, **kwargs: Any) -> Any:
        records.leave(cursor)
        return await original(cursor, *args, **kwargs)

    return leave


def _took_one(record: Record, cursor: Any, args: Any, kwargs: Any, row: Any) -> None:  # noqa: ARG001 a Took
    if row is None:
        record.finish(is_whole=True)
    else:
        record.take((row,))


def _took_many(record: Record, cursor: Any, args: Any, kwargs: Any, rows: Any) -> None:
    record.take(rows)
    given = next(iter((*args, *kwargs.values())), None)
    size: int = getattr(cursor, "arraysize", 1) if given is None else given
    if len(rows) < size:  # 0 means all rows, none or `arraysize`, as drivers have it
        record.finish(is_whole=True)


def _took_all(record: Record, cursor: Any, args: Any, kwargs: Any, rows: Any) -> None:  # noqa: ARG001 a Took
    record.take(rows)
    record.finish(is_whole=True)
