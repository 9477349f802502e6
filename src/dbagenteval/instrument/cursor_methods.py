"""Record the rows of cursor classes whose methods can be replaced, so that no type changes."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from dbagenteval.instrument.record import Record, Recorder

__all__ = ["CursorMethods"]

_MAX_TOTAL = 1 << 62
"""Drivers that don't know say -1, or that as an unsigned number."""

# Methods of cursors call each other; only the one that the program called counts.
_is_inside: ContextVar[bool] = ContextVar("dbagenteval_is_inside", default=False)

Took = Callable[[Record, Any, tuple[Any, ...], dict[str, Any], Any], None]
"""Tells a record what a method gave: record, cursor, arguments, keywords, result."""


class CursorMethods:
    """Replaces the methods of one driver's cursor classes.

    Args:
        recorder: Of the driver's database.
        knows_total: `rowcount` is the number of rows of a query.
    """

    def __init__(self, recorder: Recorder, *, knows_total: bool) -> None:
        self._recorder = recorder
        self._knows_total = knows_total
        self._records: WeakKeyDictionary[Any, Record] = WeakKeyDictionary()

    def replace(
        self, cls: type, *, is_async: bool = False, more: Mapping[str, Took] | None = None
    ) -> None:
        """Replace the methods that a class defines itself.

        Args:
            cls: The cursor class.
            is_async: Its methods are coroutines.
            more: Further methods that fetch, and what they tell.
        """
        fetching: dict[str, Took] = {
            "fetchone": self._took_one,
            "fetchmany": self._took_many,
            "fetchall": self._took_all,
            **(more or {}),
        }
        for name, took in fetching.items():
            self._put(cls, name, self._fetch(took, is_async=is_async))
        self._put(cls, "__anext__" if is_async else "__next__", self._next(is_async=is_async))
        for name in ("execute", "executemany"):
            self._put(cls, name, self._execute(is_async=is_async))
        for name in ("close", "scroll", "nextset"):
            self._put(cls, name, self._leave(is_async=is_async))
        self._put(cls, "stream", self._astream if is_async else self._stream)

    def ran(self, sql: Any) -> None:
        """Record a statement that ran and gives no rows."""
        record = None if _is_inside.get() else self._recorder.begin(sql)
        if record is not None:
            record.finish(is_whole=True)

    @contextmanager
    def failing(self, sql: Any) -> Iterator[None]:
        """Record a statement if it fails in the block."""
        if _is_inside.get():
            yield
            return
        record = self._recorder.begin(sql)
        with _Inside():
            try:
                yield
            except BaseException as error:
                if record is not None:
                    record.finish(error=error)
                raise
        if record is not None:
            record.drop()

    def begin_unless_open(
        self, cursor: Any, sql: Callable[[], str], description: Callable[[], Any]
    ) -> None:
        """Begin the record of something that runs when it is fetched."""
        if _is_inside.get() or self._records.get(cursor) is not None:
            return
        with _Inside():
            try:
                text, columns = sql(), description()
            except Exception:  # noqa: BLE001 the fetch will raise it where the program expects it
                return
        record = self._recorder.begin(text)
        if record is not None and record.describe(columns):
            self._records[cursor] = record

    def total_of(self, cursor: Any) -> int | None:
        """Give how many rows a result has, if the driver knows."""
        if not self._knows_total:
            return None
        total = cursor.rowcount
        return total if isinstance(total, int) and 0 <= total < _MAX_TOTAL else None

    def _put(self, cls: type, name: str, wrap: Callable[[Any], Any]) -> None:
        original = cls.__dict__.get(name)
        if original is None or hasattr(original, "_dbagenteval_original"):
            return
        replaced = wrap(original)
        try:
            functools.update_wrapper(replaced, original)
        except (AttributeError, TypeError):  # methods written in C
            replaced.__name__ = name
        replaced._dbagenteval_original = original  # noqa: SLF001 our own mark
        setattr(cls, name, replaced)

    def _begin(self, cursor: Any, sql: Any) -> Record | None:
        record = self._records.pop(cursor, None)
        if record is not None:
            record.finish(is_whole=record.reached_bound())
        return self._recorder.begin(sql)

    def _ran(self, cursor: Any, record: Record | None, error: BaseException | None) -> None:
        if record is None:
            return
        if error is not None:
            record.finish(error=error)
        elif record.describe(cursor.description):
            self._records[cursor] = record

    def _execute(self, *, is_async: bool) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def execute(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
                if _is_inside.get():
                    return original(cursor, query, *args, **kwargs)
                record = self._begin(cursor, query)
                with _Inside():
                    try:
                        result = original(cursor, query, *args, **kwargs)
                    except BaseException as error:
                        self._ran(cursor, record, error)
                        raise
                self._ran(cursor, record, None)
                return result

            async def aexecute(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
                record = self._begin(cursor, query)
                with _Inside():
                    try:
                        result = await original(cursor, query, *args, **kwargs)
                    except BaseException as error:
                        self._ran(cursor, record, error)
                        raise
                self._ran(cursor, record, None)
                return result

            return aexecute if is_async else execute

        return wrap

    def _fetch(self, took: Took, *, is_async: bool) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def fetch(cursor: Any, *args: Any, **kwargs: Any) -> Any:
                record = None if _is_inside.get() else self._records.get(cursor)
                if record is None:
                    return original(cursor, *args, **kwargs)
                with _Inside(), _Failing(record):
                    result = original(cursor, *args, **kwargs)
                self._tell(took, record, cursor, args, kwargs, result)
                return result

            async def afetch(cursor: Any, *args: Any, **kwargs: Any) -> Any:
                record = None if _is_inside.get() else self._records.get(cursor)
                if record is None:
                    return await original(cursor, *args, **kwargs)
                with _Inside(), _Failing(record):
                    result = await original(cursor, *args, **kwargs)
                self._tell(took, record, cursor, args, kwargs, result)
                return result

            return afetch if is_async else fetch

        return wrap

    def _next(self, *, is_async: bool) -> Callable[[Any], Any]:
        end: type[BaseException] = StopAsyncIteration if is_async else StopIteration

        def ended(cursor: Any, record: Record, error: BaseException) -> None:
            self._records.pop(cursor, None)
            is_end = isinstance(error, end)
            record.finish(is_whole=is_end, error=None if is_end else error)

        def wrap(original: Any) -> Any:
            def next_(cursor: Any) -> Any:
                record = None if _is_inside.get() else self._records.get(cursor)
                if record is None:
                    return original(cursor)
                with _Inside():
                    try:
                        row = original(cursor)
                    except BaseException as error:
                        ended(cursor, record, error)
                        raise
                self._tell(self._took_one, record, cursor, (), {}, row)
                return row

            async def anext_(cursor: Any) -> Any:
                record = None if _is_inside.get() else self._records.get(cursor)
                if record is None:
                    return await original(cursor)
                with _Inside():
                    try:
                        row = await original(cursor)
                    except BaseException as error:
                        ended(cursor, record, error)
                        raise
                self._tell(self._took_one, record, cursor, (), {}, row)
                return row

            return anext_ if is_async else next_

        return wrap

    def _leave(self, *, is_async: bool) -> Callable[[Any], Any]:
        """Wrap what ends a result, or moves in it so that rows would come twice."""

        def leave(cursor: Any) -> None:
            record = None if _is_inside.get() else self._records.pop(cursor, None)
            if record is not None:
                record.finish(is_whole=record.reached_bound())

        def wrap(original: Any) -> Any:
            def method(cursor: Any, *args: Any, **kwargs: Any) -> Any:
                leave(cursor)
                return original(cursor, *args, **kwargs)

            async def amethod(cursor: Any, *args: Any, **kwargs: Any) -> Any:
                leave(cursor)
                return await original(cursor, *args, **kwargs)

            return amethod if is_async else method

        return wrap

    def _stream(self, original: Any) -> Any:
        def stream(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            record = self._begin(cursor, query)
            if record is None:
                yield from original(cursor, query, *args, **kwargs)
                return
            with _Failing(record):
                for row in original(cursor, query, *args, **kwargs):
                    _streamed(record, cursor, row)
                    yield row
            record.finish(is_whole=True)

        return stream

    def _astream(self, original: Any) -> Any:
        async def stream(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            record = self._begin(cursor, query)
            with _Failing(record):
                async for row in original(cursor, query, *args, **kwargs):
                    if record is not None:
                        _streamed(record, cursor, row)
                    yield row
            if record is not None:
                record.finish(is_whole=True)

        return stream

    def _tell(
        self, took: Took, record: Record, cursor: Any, args: Any, kwargs: Any, result: Any
    ) -> None:
        took(record, cursor, args, kwargs, result)
        if record.is_finished:
            self._records.pop(cursor, None)

    def _took_one(self, record: Record, cursor: Any, args: Any, kwargs: Any, row: Any) -> None:  # noqa: ARG002 a Took
        if row is None:
            record.finish(is_whole=True)
            return
        record.take((row,))
        total = self.total_of(cursor)
        if record.count >= record.look_at or (total is not None and record.count >= total):
            record.look(total)

    def _took_many(self, record: Record, cursor: Any, args: Any, kwargs: Any, rows: Any) -> None:
        record.take(rows)
        size = next(iter((*args, *kwargs.values())), None)
        size = size or getattr(cursor, "arraysize", 1) or 1
        if len(rows) < size:
            record.finish(is_whole=True)
        else:
            record.look(self.total_of(cursor))

    def _took_all(self, record: Record, cursor: Any, args: Any, kwargs: Any, rows: Any) -> None:  # noqa: ARG002 a Took
        record.take(rows)
        record.finish(is_whole=True)


def _streamed(record: Record, cursor: Any, row: Any) -> None:
    record.describe(cursor.description)
    record.take((row,))
    if record.count >= record.look_at and not record.is_finished:
        record.look()


class _Inside:
    """Marks that a replaced method runs."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _is_inside.set(True)

    def __exit__(self, *_: object) -> None:
        _is_inside.reset(self._token)


class _Failing:
    """Finishes a record with what is raised in the block; leaving a generator is no failure."""

    __slots__ = ("_record",)

    def __init__(self, record: Record | None) -> None:
        self._record = record

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if error is None or self._record is None:
            return
        is_left = isinstance(error, GeneratorExit)
        self._record.finish(error=None if is_left else error)
