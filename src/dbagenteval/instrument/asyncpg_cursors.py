"""Results that asyncpg fetches in parts: `async for` over a cursor, or its `fetch`."""

from __future__ import annotations

from typing import Any

from dbagenteval.instrument.lookalike import lookalike
from dbagenteval.instrument.nesting import inside
from dbagenteval.instrument.record import Record
from dbagenteval.instrument.recorder import Recorder

__all__ = ["replace_cursors"]

_SLOT = "_dbagenteval_record"


def replace_cursors(module: Any, recorder: Recorder) -> None:
    """Let the module make cursors of subclasses, which hold the record of their result."""
    loop, cursor = module.CursorIterator, module.Cursor
    if _SLOT not in vars(cursor):
        module.CursorIterator = lookalike(
            loop, {**_begin(loop, recorder), "__anext__": _next(loop)}
        )
        module.Cursor = lookalike(cursor, {**_begin(cursor, recorder), **_fetching(cursor)})


def _begin(base: Any, recorder: Recorder) -> dict[str, Any]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 becomes a method
        base.__init__(self, *args, **kwargs)
        setattr(self, _SLOT, recorder.begin(self._query))

    return {"__slots__": (_SLOT,), "__init__": __init__}


def _next(base: Any) -> Any:
    async def __anext__(self: Any) -> Any:  # noqa: N807 becomes a method
        try:
            row = await _tried(self, base.__anext__(self))
        except StopAsyncIteration:
            _take(self, [], is_whole=True)
            raise
        _take(self, [row])
        return row

    return __anext__


def _fetching(base: Any) -> dict[str, Any]:
    async def _init(self: Any, timeout: Any) -> Any:
        return await _tried(self, base._init(self, timeout))  # noqa: SLF001 what runs it

    async def fetch(self: Any, n: int, *, timeout: Any = None) -> Any:
        rows = await _tried(self, base.fetch(self, n, timeout=timeout))
        _take(self, rows, is_whole=len(rows) < n)
        return rows

    async def fetchrow(self: Any, *, timeout: Any = None) -> Any:
        row = await _tried(self, base.fetchrow(self, timeout=timeout))
        _take(self, [] if row is None else [row], is_whole=row is None)
        return row

    async def forward(self: Any, n: int, *, timeout: Any = None) -> int:
        record = _open_record(self)
        if record is not None:
            record.finish()  # rows are passed over
        moved: int = await base.forward(self, n, timeout=timeout)
        return moved

    return {"_init": _init, "fetch": fetch, "fetchrow": fetchrow, "forward": forward}


async def _tried(cursor: Any, fetching: Any) -> Any:
    try:
        with inside():
            return await fetching
    except StopAsyncIteration:
        raise
    except BaseException as error:
        record = _open_record(cursor)
        if record is not None:
            record.finish(error=error)
        raise


def _take(cursor: Any, rows: Any, *, is_whole: bool = False) -> None:
    record = _open_record(cursor)
    if record is None:
        return
    record.describe([(name,) for name in (rows[0].keys() if rows else ())])
    record.take(rows)
    if is_whole:
        record.finish(is_whole=True)
    elif len(record.kept) >= record.look_at:
        record.look()


def _open_record(cursor: Any) -> Record | None:
    record: Record | None = getattr(cursor, _SLOT)
    return None if record is None or record.is_finished else record
