"""The rows of the traces that are read, some traces at a time.

Traces that are near each other in time are read straight from the tables. Where they overlap so
much that this would read most of the store for each of them, a window of many is first copied into
temporary tables, by trace, and read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from dbagenteval.store.statements import statement

__all__ = ["Chunk", "Selection"]

_CHUNK_TRACES = 1024
_CHUNK_ROWS = 8_000
_CHUNK_LOGS = 1_000
_LONG_TRACE_NS = 900 * 10**9
"""A trace whose spans start over a longer time is read alone, so that a chunk's range is short."""

_WINDOW_ROWS = 250_000
_MAX_WINDOWS = 16
_SPREAD = 16
_SPREAD_ROWS = 100_000
_TABLES = ("spans", "span_events", "span_links", "logs")


@dataclass(frozen=True, slots=True)
class _Trace:
    """One selected trace: its place in the order, its rows, and where to look for them."""

    number: int
    trace_id: bytes
    first_start_ns: int | None
    last_start_ns: int | None
    first_log_ns: int | None
    last_log_ns: int | None
    rows: int
    first_batch: int
    last_batch: int

    @property
    def is_long(self) -> bool:
        return (
            self.first_start_ns is not None
            and self.last_start_ns is not None
            and self.last_start_ns - self.first_start_ns > _LONG_TRACE_NS
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some traces: their ids by start, and the rows of all of them, see `sql/read_*.sql`."""

    trace_ids: list[bytes]
    spans: list[Any]
    span_events: list[Any]
    span_links: list[Any]
    logs: list[Any]


class Selection:
    """What is read of a store in one consistent view, until the cursor's transaction ends.

    Args:
        cursor: Of the store; a transaction begins.
        since_ns: Only traces that start at or after this time.
        until_ns: Only traces that start before this time.
        service: Only traces with a span or log record of this service.
        trace_ids: Only these, as hex; None for all, and for log records that belong to none.
    """

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection,
        *,
        since_ns: int | None,
        until_ns: int | None,
        service: str | None,
        trace_ids: Sequence[str] | None,
    ) -> None:
        self._cursor = cursor
        self._filters = {"since_ns": since_ns, "until_ns": until_ns, "service": service}
        self._only_ids = None if trace_ids is None else _id_bytes(trace_ids)
        self._window_end = 0
        cursor.begin()
        cursor.execute(statement("select_traces"), {**self._filters, "trace_ids": self._only_ids})
        self._count, self._rows = self._one("count_selected", {})

    def chunks(self) -> Iterator[Chunk]:
        """Read the traces in order of their start."""
        page: list[_Trace] = []
        number = 0
        while page or (page := self._page(number)):
            group = self._group(page)
            if number >= self._window_end and self._is_spread(group):
                self._open_window(number)
                group = self._group(page)
            yield self._read(group)
            number += len(group)
            page = page[len(group) :]

    def _page(self, number: int) -> list[_Trace]:
        between = {"first": number, "last": number + _CHUNK_TRACES}
        rows = self._cursor.execute(statement("select_chunk"), between).fetchall()
        return [_Trace(*row) for row in rows]

    def _group(self, page: list[_Trace]) -> list[_Trace]:
        """Take from the start of a page what is small in rows, and near in time."""
        in_window = page[0].number < self._window_end
        rows = 0
        for index, trace in enumerate(page):
            rows += trace.rows
            is_apart = not in_window and (trace.is_long or page[0].is_long)
            ends_window = in_window and trace.number >= self._window_end
            if index and (is_apart or ends_window or rows > _CHUNK_ROWS):
                return page[:index]
        return page

    def _is_spread(self, group: list[_Trace]) -> bool:
        """Tell whether reading a group reads much more than its rows, with many groups to come."""
        if self._count - group[0].number < 4 * len(group):
            return False
        (rows,) = self._one("count_between", _between(group, with_logs=True))
        return rows > _SPREAD_ROWS + _SPREAD * sum(trace.rows for trace in group)

    def _open_window(self, first: int) -> None:
        """Copy the rows of the next traces, by trace."""
        rows = max(_WINDOW_ROWS, self._rows // _MAX_WINDOWS)
        (last,) = self._one("window_end", {"first": first, "rows": rows})
        for table in _TABLES:
            sql = statement("make_window").replace("{table}", table)
            self._cursor.execute(sql, {"first": first, "last": last})
        self._window_end = last

    def _read(self, group: list[_Trace]) -> Chunk:
        ids = [trace.trace_id for trace in group]
        source = ""
        if group[0].number < self._window_end:
            source = "chunk_"
            between = {"first": group[0].number, "last": group[-1].number + 1}
            for table in _TABLES:
                self._cursor.execute(statement("take_chunk").replace("{table}", table), between)
        spans = _between(group, with_logs=False)
        logs = _between(group, with_spans=False)
        return Chunk(
            trace_ids=ids,
            spans=self._rows_of(statement("read_spans"), source, ids, spans),
            span_events=self._rows_of(statement("read_span_events"), source, ids, spans),
            span_links=self._rows_of(statement("read_span_links"), source, ids, spans),
            logs=self._rows_of(statement("read_logs"), source, ids, logs),
        )

    def _rows_of(
        self, sql: str, source: str, ids: list[bytes], between: dict[str, int] | None
    ) -> list[Any]:
        if between is None:
            return []
        parameters = {**between, "trace_ids": ids}
        return self._cursor.execute(sql.replace("{source}", source), parameters).fetchall()

    def loose_logs(self) -> Iterator[list[Any]]:
        """Read the log records that belong to no trace, some at a time."""
        after = -1
        while self._only_ids is None:
            parameters = {**self._filters, "after": after, "limit": _CHUNK_LOGS}
            rows = self._cursor.execute(statement("read_unattached_logs"), parameters).fetchall()
            if not rows:
                return
            after = rows[-1][-1]
            yield rows

    def _one(self, name: str, parameters: dict[str, Any] | None) -> tuple[int, ...]:
        (row,) = self._cursor.execute(statement(name), parameters or {}).fetchall()
        return tuple(row)


def _id_bytes(trace_ids: Sequence[str]) -> list[bytes]:
    """Give the ids as bytes, without those that no trace can have."""
    found = []
    for trace_id in trace_ids:
        try:
            found.append(bytes.fromhex(trace_id))
        except ValueError:
            continue  # no stored trace has an id that isn't hex
    return found


def _between(
    group: list[_Trace], *, with_spans: bool = True, with_logs: bool = True
) -> dict[str, int] | None:
    """Give where to look for the rows of a group: times and batches; None if it has none."""
    times = []
    for trace in group:
        times += [trace.first_start_ns, trace.last_start_ns] if with_spans else []
        times += [trace.first_log_ns, trace.last_log_ns] if with_logs else []
    known = [time for time in times if time is not None]
    if not known:
        return None
    return {
        "first": min(known),
        "last": max(known),
        "first_batch": min(trace.first_batch for trace in group),
        "last_batch": max(trace.last_batch for trace in group),
    }
