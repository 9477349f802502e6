"""Record the rows of cursor classes whose methods can be replaced.

Only `execute` and the like are replaced for good. While a record is open, its cursor is of a
subclass that looks like its class and tells of what is fetched; then it is of its own class again,
so that a long result is read as fast as ever.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import ref

from dbagenteval.instrument.lookalike import lookalike
from dbagenteval.instrument.nesting import inside, is_inside
from dbagenteval.instrument.record import Record
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.recording_class import Took, recording_members

__all__ = ["CursorMethods"]

_MAX_TOTAL = 1 << 62
"""Drivers that don't know say -1, or that as an unsigned number."""


class CursorMethods:
    """Replaces the methods of one driver's cursor classes.

    Args:
        recorder: Of the driver's database.
        knows_total: `rowcount` is the number of rows of a query.
        knows_end: Says of a cursor whether it is certain that no row is left.
        more: Further methods that fetch, and what they tell.

    Attributes:
        opened: Open records by the `id` of their cursor; a cursor that goes takes its record along.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        knows_total: bool = False,
        knows_end: Callable[[Any], bool] | None = None,
        more: Mapping[str, Took] | None = None,
    ) -> None:
        self._recorder = recorder
        self._knows_total = knows_total
        self._knows_end = knows_end
        self._more = dict(more or {})
        self.opened: dict[int, Record] = {}
        self._recording: dict[type, type | None] = {}
        self._plain: dict[type, type] = {}
        self._members: dict[type, tuple[str, ...]] = {}
        self._replaced: set[type] = set()

    def replace(self, cls: type, *, is_async: bool = False) -> None:
        """Replace the methods with which a class runs statements, where it defines them itself.

        Args:
            cls: The cursor class.
            is_async: Its methods are coroutines.
        """
        for name in ("execute", "executemany"):
            self._put(cls, name, self._aexecute if is_async else self._execute)
        self._put(cls, "stream", self._astream if is_async else self._stream)

    def ran(self, sql: Any) -> None:
        """Record a statement that ran and gives no rows."""
        record = None if is_inside.get() else self._recorder.begin(sql)
        if record is not None:
            record.finish(is_whole=True)

    @contextmanager
    def failing(self, sql: Any) -> Iterator[None]:
        """Record a statement if it fails in the block."""
        record = None if is_inside.get() else self._recorder.begin(sql)
        with inside():
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
        if is_inside.get() or self.is_recording(cursor):
            return
        with inside():
            try:
                text, columns = sql(), description()
            except Exception:  # noqa: BLE001 the fetch will raise it where the program expects it
                return
        record = self._recorder.begin(text)
        if record is not None and record.describe(columns):
            self.watch(cursor, record)

    def is_recording(self, cursor: Any) -> bool:
        """True if the record of a cursor is open."""
        return id(cursor) in self.opened or type(cursor) in self._plain

    def look(self, cursor: Any, record: Record) -> None:
        """See whether a record is due or finished; then its cursor is of its own class again."""
        if len(record.kept) >= record.look_at and not record.is_finished:
            record.look(knows_end=self._is_at_end(cursor))
        if record.is_finished:
            self.close(cursor)

    def leave(self, cursor: Any) -> None:
        """Finish the record of a cursor that is closed, moved or runs something else."""
        record = self.opened.get(id(cursor))
        if record is not None and not record.is_told:
            record.finish(is_whole=self._is_at_end(cursor) or record.reached_bound())
            self.close(cursor)

    def _is_at_end(self, cursor: Any) -> bool:
        return self._knows_end is not None and self._knows_end(cursor)

    # What a driver may extend

    def recording_members(self, own: type) -> dict[str, Any]:
        """Make the methods of the subclass that a cursor is of while its record is open."""
        return recording_members(own, self, self._more)

    def close(self, cursor: Any) -> None:
        """Let a cursor whose record is finished be of its own class again."""
        self.opened.pop(id(cursor), None)
        plain = self._plain.get(type(cursor))
        if plain is not None:
            cursor.__class__ = plain

    def watch(self, cursor: Any, record: Record) -> None:
        """Open a record: from now on the cursor tells of what is fetched."""
        own = type(cursor)
        if own not in self._recording:
            self._recording[own] = self._recording_class(own)
        recording = self._recording[own]
        if recording is not None:
            try:
                cursor.__class__ = recording
            except TypeError:  # some classes written in C (DuckDB 1) have no room for that
                self._recording[own] = None
                self._replace_fetching(own, recording)
        elif own not in self._replaced:  # a class of the program that can't be a base
            record.give_up()
            return
        key = id(cursor)
        record.cursor = ref(cursor, lambda _: self.opened.pop(key, None))
        self.opened[key] = record

    def _replace_fetching(self, own: type, recording: type) -> None:
        """Replace the methods that fetch for good, in the class that has them."""
        self._plain.pop(recording)
        self._replaced.add(own)
        for name in self._members[recording]:
            holder = next(cls for cls in own.__mro__ if name in cls.__dict__)
            setattr(holder, name, recording.__dict__[name])

    def _recording_class(self, own: type) -> type | None:
        members = self.recording_members(own)
        try:
            recording: type = lookalike(own, members)
        except Exception:  # noqa: BLE001 a class of the program may refuse subclasses
            return None
        self._plain[recording] = own
        self._members[recording] = tuple(members)
        return recording

    def _total_of(self, cursor: Any) -> int | None:
        if not self._knows_total:
            return None
        total = cursor.rowcount
        return total if isinstance(total, int) and 0 <= total < _MAX_TOTAL else None

    def _put(self, cls: type, name: str, wrap: Callable[[Any], Any]) -> None:
        original = cls.__dict__.get(name)
        if original is None or hasattr(original, "_dbagenteval_original"):
            return
        replaced = wrap(original)
        functools.update_wrapper(replaced, original, updated=())
        replaced._dbagenteval_original = original  # noqa: SLF001 our own mark
        setattr(cls, name, replaced)

    def _begin(self, cursor: Any, sql: Any) -> Record | None:
        self.leave(cursor)
        return self._recorder.begin(sql, cursor)

    def _ran(self, cursor: Any, record: Record | None, error: BaseException | None = None) -> None:
        if record is None:
            return
        if error is not None:
            record.finish(error=error)
            return
        description = cursor.description
        # A named cursor of psycopg2 knows its columns with its first rows alone.
        describes_later = description is None and getattr(cursor, "name", None) is not None
        if describes_later or record.describe(description, self._total_of(cursor)):
            self.watch(cursor, record)

    def _execute(self, original: Any) -> Any:
        def execute(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            if is_inside.get():
                return original(cursor, query, *args, **kwargs)
            record = self._begin(cursor, query)
            token = is_inside.set(True)
            try:
                result = original(cursor, query, *args, **kwargs)
            except BaseException as error:
                self._ran(cursor, record, error)
                raise
            finally:
                is_inside.reset(token)
            self._ran(cursor, record)
            return result

        return execute

    def _aexecute(self, original: Any) -> Any:
        async def execute(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            if is_inside.get():
                return await original(cursor, query, *args, **kwargs)
            record = self._begin(cursor, query)
            token = is_inside.set(True)
            try:
                result = await original(cursor, query, *args, **kwargs)
            except BaseException as error:
                self._ran(cursor, record, error)
                raise
            finally:
                is_inside.reset(token)
            self._ran(cursor, record)
            return result

        return execute

    def _stream(self, original: Any) -> Any:
        def stream(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            record = self._begin(cursor, query)
            with _ending(record):
                for row in original(cursor, query, *args, **kwargs):
                    _streamed(record, cursor, row)
                    yield row

        return stream

    def _astream(self, original: Any) -> Any:
        async def stream(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            record = self._begin(cursor, query)
            with _ending(record):
                async for row in original(cursor, query, *args, **kwargs):
                    _streamed(record, cursor, row)
                    yield row

        return stream


def _streamed(record: Record | None, cursor: Any, row: Any) -> None:
    if record is not None and not record.is_finished:
        record.describe(cursor.description)
        record.take((row,))
        if len(record.kept) >= record.look_at:
            record.look()


@contextmanager
def _ending(record: Record | None) -> Iterator[None]:
    """Finish a record when its stream ends, is left or fails."""
    try:
        yield
    except BaseException as error:
        if record is not None:
            record.finish(error=None if isinstance(error, GeneratorExit) else error)
        raise
    if record is not None:
        record.finish(is_whole=True)
