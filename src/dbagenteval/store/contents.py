"""What is in an open store, as others read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbagenteval.otlp.values import OtelTrace
from dbagenteval.store.care import CheckReport, check_database, export_parquet
from dbagenteval.store.layout import Layout
from dbagenteval.store.live import LiveDatabase
from dbagenteval.store.reading import TraceReader
from dbagenteval.store.records import segments
from dbagenteval.store.requests import Part, RequestReader
from dbagenteval.store.statements import statement

__all__ = ["Contents", "StoreStats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """How much a store holds.

    Args:
        spans: Stored spans.
        logs: Stored log records.
        otel_traces: Distinct trace ids, of spans or logs.
        bytes: Size of the database and the journal on disk.
        services: Values of `service.name`, sorted.
        first_start_ns: Earliest start of a span, Unix nanoseconds; None if there is none.
        last_end_ns: Latest end of a span.
    """

    spans: int
    logs: int
    otel_traces: int
    bytes: int
    services: tuple[str, ...]
    first_start_ns: int | None
    last_end_ns: int | None


class Contents:
    """Reads what is stored; each reading sees one consistent state."""

    _layout: Layout
    _database: LiveDatabase

    def otel_traces(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[OtelTrace]:
        """Read traces in order of their start, some at a time.

        Args:
            since_ns: Only traces that start at or after this time.
            until_ns: Only traces that start before this time.
            service: Only traces with a span or log record of this service; they come whole.
            trace_ids: Only these, 32 hex digits each.

        Yields:
            Traces with their spans by start time and their log records by time. At the end, log
            records that belong to no trace, some at a time under the trace id "" (none of them if
            `trace_ids` is given).
        """
        with self._database.reading() as cursor:
            yield from TraceReader(cursor).traces(
                since_ns=since_ns, until_ns=until_ns, service=service, trace_ids=trace_ids
            )

    def requests(self) -> Iterator[tuple[str, Any]]:
        """Read everything as OTLP export requests, field for field as it came.

        Yields:
            Signal and request message, some traces at a time, in order of their start.
        """
        for part in self.parts():
            if part.traces is not None:
                yield "traces", part.traces
            if part.logs is not None:
                yield "logs", part.logs

    def parts(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[Part]:
        """Read the traces that `otel_traces` would as OTLP messages, some at a time."""
        with self._database.reading() as cursor:
            yield from RequestReader(cursor).parts(
                since_ns=since_ns, until_ns=until_ns, service=service, trace_ids=trace_ids
            )

    def check(self) -> CheckReport:
        """Check that everything stored fits together."""
        with self._database.reading() as cursor:
            return check_database(cursor, self._layout)

    def export_parquet(self, directory: str | Path) -> None:
        """Write all tables as Parquet files; see `care.export_parquet`."""
        with self._database.reading() as cursor:
            export_parquet(cursor, Path(directory))

    def stats(self) -> StoreStats:
        """Count what is stored."""
        with self._database.reading() as cursor:
            (row,) = cursor.execute(statement("stats")).fetchall()
        files = [self._layout.database, self._layout.database_log]
        files += [path for _, path in segments(self._layout.journal)]
        return StoreStats(
            spans=row[0],
            logs=row[1],
            otel_traces=row[2],
            first_start_ns=row[3],
            last_end_ns=row[4],
            services=tuple(name for name in row[5] or () if name),
            bytes=sum(map(_size, files)),
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a part of the journal that was removed just now
        return 0
