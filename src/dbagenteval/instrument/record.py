"""One execution of a statement, and the span that tells of its rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Status, StatusCode

from dbagenteval import semconv
from dbagenteval.instrument import open_records
from dbagenteval.instrument.cells import Cells, RowsText, Unreadable, cells_of
from dbagenteval.instrument.row_bound import at_most
from dbagenteval.instrument.statement import span_of_statement

if TYPE_CHECKING:
    from dbagenteval.instrument.recorder import Recorder

__all__ = ["Record"]

_log = logging.getLogger(__name__)

_CHUNK_ROWS = 50


class Record:
    """The rows of one execution, as the program fetches them.

    Its span starts with the execution and ends with the last fetch. It is made when the record is
    finished: when all rows are there, the cursor is closed or runs something else, or nothing
    was fetched for a while.

    Methods are called by the thread of the program, `finish` by the watching thread too.

    Attributes:
        kept: Rows that are still to be written down, which is done some at a time: rows can change
            once the program has them, and so many at once would push its own data out of the
            processor's cache. Who tells of rows may append tuples itself where each microsecond
            counts, and calls `look` when there are `look_at` of them.
        is_told: A method of the cursor runs that will tell what it fetched.
        cursor: A driver's reference to its cursor, which tells when that goes.
        watched: What the watching thread saw last: rows, and when.
    """

    __slots__ = (
        "__weakref__",
        "_beyond",
        "_context",
        "_end_ns",
        "_error",
        "_is_unreadable",
        "_is_whole",
        "_is_written",
        "_lock",
        "_outer",
        "_recorder",
        "_start_ns",
        "_total",
        "_written",
        "cursor",
        "is_finished",
        "is_told",
        "kept",
        "look_at",
        "sql",
        "watched",
    )

    def __init__(self, recorder: Recorder, sql: str, context: Any) -> None:
        self._recorder = recorder
        self._context = context
        self._start_ns = time.time_ns()
        self._end_ns = 0
        self._outer = span_of_statement(context, sql)
        self._written: RowsText | None = None
        self._total: int | None = None
        self._beyond = 0
        self._is_unreadable = False
        self._error: tuple[str, str] | None = None
        self._is_whole = False
        self._is_written = False
        self._lock = Lock()
        self.kept: list[Cells] = []
        self.look_at = 1
        self.cursor: Any = None
        self.sql = sql
        self.is_finished = False
        self.is_told = False
        self.watched = (-1, self._start_ns)

    def __del__(self) -> None:
        # This may run anywhere, also where the SDK holds its locks: the span is made elsewhere.
        if not self.is_finished:
            self._end_ns = time.time_ns()
            open_records.hand_over(self)

    def describe(self, description: Any, total: int | None = None) -> bool:
        """Take the columns from a cursor's `description`.

        Args:
            description: As DB-API has it.
            total: How many rows there are in all, if the driver says so.

        Returns:
            False if the statement gives no rows; its record is finished then.
        """
        if description is None:
            self.finish(is_whole=True)
            return False
        self._total = total
        if self._written is None:
            columns = [str(column[0]) for column in description]
            self._written = RowsText(columns, self._recorder.settings)
        return True

    def _describe_late(self) -> None:
        """Take the columns of a cursor that knew them with its first rows alone."""
        cursor = self.cursor() if self._written is None and self.cursor is not None else None
        if cursor is not None and cursor.description is not None:
            self.describe(cursor.description)

    @property
    def count(self) -> int:
        """How many rows the program has fetched."""
        return self._beyond + len(self.kept) + (self._written.count if self._written else 0)

    @property
    def room(self) -> int:
        """How many further rows would be recorded."""
        written = self._written
        if written is None or written.is_full or self._is_unreadable:
            return 0
        return self._recorder.settings.max_rows - written.count - len(self.kept)

    def skip(self, count: int) -> None:
        """Count rows that the program has fetched and nobody recorded."""
        self._beyond += count

    def give_up(self) -> None:
        """Finish without rows: the program took them in a form that can't be read twice."""
        self._is_unreadable = True
        self.finish()

    def drop(self) -> None:
        """Forget the record: nothing ran."""
        self.is_finished = True

    def take(self, rows: Sequence[Any]) -> None:
        """Take rows that the program has fetched."""
        self._describe_late()
        written, room = self._written, self.room
        taken = rows if len(rows) <= room else rows[:room]
        if taken and type(taken[0]) is tuple:  # what drivers give by default, all alike
            self.kept += taken
        elif taken and written is not None:
            try:
                self.kept += [tuple(cells_of(row, written.columns)) for row in taken]
            except Unreadable:
                self._is_unreadable = True
                self.look_at = 0
                taken = ()
        self._beyond += len(rows) - len(taken)

    def look(self, *, knows_end: bool = False) -> None:
        """Write down what was taken, see whether anything more is wanted, and finish if not.

        Args:
            knows_end: The driver is certain that no row is left.
        """
        if knows_end or self.reached_bound():
            self.finish(is_whole=True)
            return
        try:
            self._write_down()
        except Exception:  # noqa: BLE001 see `finish`
            self._is_unreadable = True
        if self._is_unreadable or self._beyond or self._written is None or self._written.is_full:
            self.finish()
            return
        # Programs that know of one row fetch no more; those that go on see the end themselves.
        left = self._recorder.settings.max_rows - self._written.count
        self.look_at = min(_CHUNK_ROWS, left)

    def reached_bound(self) -> bool:
        """Say whether the rows fetched are all that there can be."""
        bound = at_most(self.sql) if self._total is None else self._total
        return bound is not None and self.count >= bound

    def _write_down(self) -> None:
        rows, self.kept = self.kept, []
        if rows:
            self._describe_late()
        if rows and self._written is not None:
            before = self._written.count
            self._written.add(rows)
            self._beyond += len(rows) - (self._written.count - before)

    def finish(
        self,
        *,
        is_whole: bool = False,
        error: BaseException | None = None,
        end_ns: int | None = None,
    ) -> None:
        """Make the span, once; it must never disturb the program.

        Args:
            is_whole: The program has seen the end of the result.
            error: What the database raised.
            end_ns: When the last fetch was; None means now.
        """
        with self._lock:
            if self.is_finished:
                return
            self.is_finished = True
        self._end_ns = end_ns or self._end_ns or time.time_ns()
        self._is_whole = is_whole
        try:
            if error is not None:
                # Not the exception itself: its traceback would keep the program's cursor alive.
                self._error = (_name_of(type(error)), "")
                self._error = (_name_of(type(error)), str(error))
            self._write_down()
        except Exception:  # noqa: BLE001 evaluation may fail, the program may not
            self._is_unreadable = True
            _log.debug("rows.not_recorded", exc_info=True)
        if self._outer is not None and self._outer.is_recording():
            self._outer.set_attributes(self._rows())
        elif self._outer is None or (error is None and self._written is not None):
            open_records.hand_over(self)  # else the span around it tells all there is

    def write(self) -> None:
        """Make the span of a finished record, once: it may have been left twice."""
        if self._is_written:
            return
        self._is_written = True
        try:
            self._write()
        except Exception:  # noqa: BLE001 see `finish`
            _log.debug("rows.not_recorded", exc_info=True)

    def _write(self) -> None:
        span = self._recorder.tracer.start_span(
            self.sql.split(None, 1)[0].upper()[:32] if self.sql.strip() else "SQL",
            context=self._context,
            kind=SpanKind.CLIENT,
            attributes={
                semconv.DB_SYSTEM_NAME: self._recorder.system,
                semconv.DB_QUERY_TEXT: self.sql,
            },
            start_time=self._start_ns,
        )
        if span.is_recording():
            if self._error is not None:
                kind, message = self._error
                told = {"exception.type": kind, "exception.message": message}
                span.add_event("exception", told, timestamp=self._end_ns)
                span.set_status(Status(StatusCode.ERROR, message))
            else:
                span.set_attributes(self._rows())
        span.end(end_time=self._end_ns)

    def _rows(self) -> dict[str, Any]:
        written = self._written
        if written is None or self._error is not None:
            return {}
        # A record that is full is finished before the program has fetched all.
        attributes: dict[str, Any] = {}
        if self._is_whole:
            attributes[semconv.DB_RETURNED_ROWS] = self.count
        if self._is_unreadable or self._recorder.settings.max_rows < 1:
            return attributes
        if not self.count and not self._is_whole:  # the program never looked at the result
            return attributes
        attributes[semconv.ROWS] = written.text()
        if not self._is_whole or self._beyond:
            attributes[semconv.ROWS_TRUNCATED] = True
        if written.has_hidden:
            attributes[semconv.ROWS_REDACTED] = True
        return attributes


def _name_of(cls: type) -> str:
    return (
        cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    )
