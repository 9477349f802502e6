"""From journal records to rows: one batch, one transaction, nothing stored twice."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.message import DecodeError

from dbagenteval.otlp.columns import ColumnBuilder, Columns
from dbagenteval.store.database import read_meta, write_meta
from dbagenteval.store.layout import Layout, write_private
from dbagenteval.store.statements import statement

__all__ = ["BATCH_KEY", "POSITION_KEY", "Applied", "Writer"]

_log = logging.getLogger(__name__)

POSITION_KEY = "journal_position"
"""The journal is stored up to this position (`meta` table)."""

BATCH_KEY = "batch"
"""Number of the last batch; rows carry it, so that a trace is looked for in its batches only."""

_MAX_LOG_BYTES = 48 << 20

_BATCHED = frozenset({"spans", "span_events", "span_links", "logs"})
_TABLES = ("resources", "scopes", "spans", "span_events", "span_links", "logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What one batch added."""

    spans: int
    logs: int
    duplicate_spans: int
    set_aside: int = 0

    def __add__(self, other: Applied) -> Applied:
        return Applied(
            spans=self.spans + other.spans,
            logs=self.logs + other.logs,
            duplicate_spans=self.duplicate_spans + other.duplicate_spans,
            set_aside=self.set_aside + other.set_aside,
        )


class Writer:
    """Store batches of requests; only one may write to a store.

    Args:
        connection: Of the store's database; the writer takes a cursor of its own.
        layout: The store.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, layout: Layout) -> None:
        self._connection = connection.cursor()
        self._connection.execute("USE store")
        self._layout = layout
        self._builder = _column_builder()
        self._batch = 0

    def close(self) -> None:
        """Give the cursor back."""
        self._connection.close()

    def apply(self, requests: list[tuple[str, bytes]], position: int | None) -> Applied:
        """Store some requests in one transaction.

        Args:
            requests: Signal and checked protobuf body, in the order of arrival. The list is
                emptied once they are stored or decoded, since they take as much room again.
            position: Where the journal stands after them; None if they don't come from it.

        Raises:
            duckdb.Error: The database could not commit, and nothing was stored.
        """
        try:
            columns, set_aside = self._builder.build(requests), 0
        except DecodeError:
            readable = [request for request in requests if self._is_readable(request)]
            set_aside = len(requests) - len(readable)
            requests, columns = readable, self._builder.build(readable)
        self._connection.begin()
        try:
            self._batch = 1 + (read_meta(self._connection, BATCH_KEY) or 0)
            repeated = self._repeated_log_requests(requests)
            if repeated:
                kept = [request for index, request in enumerate(requests) if index not in repeated]
                columns = self._builder.build(kept)
            requests.clear()
            applied = self._insert(columns, set_aside)
            write_meta(self._connection, BATCH_KEY, self._batch)
            if position is not None:
                write_meta(self._connection, POSITION_KEY, position)
            self._connection.commit()
        except BaseException:
            with contextlib.suppress(duckdb.Error):  # a failed commit has ended it already
                self._connection.rollback()
            raise
        finally:
            for name in _TABLES:
                self._connection.unregister(f"incoming_{name}")
        return applied

    def checkpoint(self) -> None:
        """Move the log into the database file if it has grown large.

        Opening replays the log, all of it in memory, and large values go there first.
        """
        log = self._layout.database_log
        if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
            try:
                self._connection.execute(statement("checkpoint"))
            except duckdb.Error as error:
                _log.warning("store.not_checkpointed error=%s", type(error).__name__)

    def put_aside(self, signal: str, body: bytes) -> None:
        """Keep a request that can't be stored in a file for a look."""
        name = hashlib.sha256(body).hexdigest()[:16]
        write_private(self._layout.set_aside / f"request-{signal}-{name}.bin", body)
        _log.error("store.request_set_aside signal=%s bytes=%d", signal, len(body))

    def _is_readable(self, request: tuple[str, bytes]) -> bool:
        """Tell whether a request decodes; if not, it is put aside in a file."""
        signal, body = request
        try:
            self._builder.build([request])
        except DecodeError:
            self.put_aside(signal, body)
            return False
        return True

    def _insert(self, columns: Columns, set_aside: int) -> Applied:
        tables = dict(columns.tables)
        offered = tables["spans"].num_rows
        if offered:
            self._connection.register("incoming_spans", tables["spans"])
            tables = self._without_known_spans(tables)
        for name in _TABLES:
            if tables[name].num_rows:
                self._connection.register(f"incoming_{name}", tables[name])
                parameters = {"batch": self._batch} if name in _BATCHED else None
                self._connection.execute(statement(f"insert_{name}"), parameters)
        for name in ("spans", "logs"):
            if tables[name].num_rows:
                parameters = {"batch": self._batch}
                self._connection.execute(statement(f"insert_trace_index_of_{name}"), parameters)
        stored = tables["spans"].num_rows
        return Applied(
            spans=stored,
            logs=tables["logs"].num_rows,
            duplicate_spans=offered - stored,
            set_aside=set_aside,
        )

    def _without_known_spans(self, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
        """Leave out spans that are stored already or come twice in this batch."""
        first, last, first_batch, last_batch = self._known_range()
        if first is None:
            (distinct,) = self._one(statement("count_distinct_incoming"))
            if distinct == tables["spans"].num_rows:
                return tables
            first, last, first_batch, last_batch = 1, 0, 1, 0  # nothing is stored
        where = {
            "first": first,
            "last": last,
            "first_batch": first_batch,
            "last_batch": last_batch,
        }
        rows = self._connection.execute(statement("fresh_rows"), where).fetchall()
        if len(rows) == tables["spans"].num_rows:
            return tables
        fresh = pa.array([row for (row,) in rows], type=pa.uint32())
        kept = {
            name: tables[name].filter(pc.is_in(tables[name]["row"], value_set=fresh))
            for name in ("spans", "span_events", "span_links")
        }
        return {**tables, **kept}

    def _known_range(self) -> tuple[int | None, ...]:
        """Give the start times and batches between which spans of incoming traces are stored."""
        first_row, last_row = self._one(statement("known_rows"))
        if first_row is None:
            return None, None, None, None
        rows = {"first_row": first_row, "last_row": last_row}
        return self._one(statement("known_range"), rows)

    def _repeated_log_requests(self, requests: Sequence[tuple[str, bytes]]) -> set[int]:
        """Find log requests that came before, byte for byte: an exporter's second try.

        Log records have no identity of their own, so the request stands for them.
        """
        digests = {
            index: hashlib.blake2b(body, digest_size=16).digest()
            for index, (signal, body) in enumerate(requests)
            if signal == "logs"
        }
        if not digests:
            return set()
        seen = {
            digest
            for (digest,) in self._connection.execute(
                statement("known_log_requests"), {"digests": list(digests.values())}
            ).fetchall()
        }
        repeated = set()
        fresh = []
        for index, digest in digests.items():
            if digest in seen:
                repeated.add(index)
            else:
                seen.add(digest)
                fresh.append(digest)
        if fresh:
            parameters = {"digests": fresh, "batch": self._batch}
            self._connection.execute(statement("insert_log_requests"), parameters)
        return repeated

    def _one(self, sql: str, parameters: Mapping[str, Any] | None = None) -> tuple[int | None, ...]:
        (row,) = self._connection.execute(sql, parameters).fetchall()
        return tuple(row)


def _column_builder() -> ColumnBuilder:
    """Choose the fast builder if its library is there."""
    try:
        from dbagenteval.otlp.fast_columns import FastColumnBuilder  # noqa: PLC0415 optional
    except ImportError:
        return ColumnBuilder()
    return FastColumnBuilder()
