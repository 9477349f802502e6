"""What row capture costs: 10,000 rows (below 5%, in a loop below 10%), and one (below 50 µs).

sqlite3 and DuckDB, and with `--postgres URL` psycopg. The SDK batches spans as in production and
its exporter throws them away. Processor time of the whole process is measured, so that the thread
that makes the spans counts and other processes don't; each figure is the median over rounds, in
which plain and recorded take turns.

    python benchmarks/row_capture.py [--json PATH] [--check] [--postgres URL]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import psycopg
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from dbagenteval.instrument import duckdb_rows, open_records, sqlite_rows
from dbagenteval.instrument.driver_rows import instrument_psycopg
from dbagenteval.instrument.row_settings import RowSettings

MANY_ROWS = 10_000
MANY = "SELECT id, customer, amount, placed, note FROM orders"
ONE = "SELECT COUNT(*), SUM(amount) FROM orders WHERE id < 10"
CREATE = (
    "CREATE TEMPORARY TABLE orders"
    " (id INTEGER, customer VARCHAR(20), amount FLOAT, placed VARCHAR(20), note VARCHAR(20))"
)
ORDERS = ", ".join(
    f"({n}, 'customer {n % 97}', {n * 1.25}, '2026-01-{n % 28 + 1:02}', 'note number {n}')"
    for n in range(MANY_ROWS)
)

Query = Callable[[str], Any]
"""Runs a statement and gives what its rows are fetched from."""

FETCHES: dict[str, Callable[[Any], object]] = {
    "fetchall": lambda cursor: cursor.fetchall(),
    "fetchmany(500)": lambda cursor: list(iter(lambda: cursor.fetchmany(500), [])),
    "iteration": lambda cursor: [None for _ in cursor],
}
LIMITS = {"fetchall": 5, "fetchmany(500)": 5, "iteration": 10, "one-row query": 50}
"""Overhead at most: percent, and microseconds for one row."""


class Discard(SpanExporter):
    def export(self, spans):  # noqa: ARG002 the SDK's signature
        return SpanExportResult.SUCCESS

    def shutdown(self):
        pass


def filled(query: Query) -> Query:
    query(CREATE)
    query(f"INSERT INTO orders VALUES {ORDERS}")
    return query


def of_sqlite3() -> tuple[Query, Query]:
    """A plain and a recorded connection, each with the orders."""
    module = SimpleNamespace(
        connect=sqlite3.connect, dbapi2=SimpleNamespace(connect=sqlite3.connect)
    )
    sqlite_rows.instrument(module, RowSettings())
    return filled(sqlite3.connect(":memory:").execute), filled(module.connect(":memory:").execute)


def of_duckdb() -> tuple[Query, Query]:
    plain = duckdb.DuckDBPyConnection.execute
    duckdb_rows.instrument(duckdb, RowSettings())
    one, other = duckdb.connect(), duckdb.connect()
    return filled(lambda sql: plain(one, sql)), filled(other.execute)


def of_psycopg(url: str) -> tuple[Query, Query]:
    plain = psycopg.Cursor.execute
    instrument_psycopg(psycopg, RowSettings())
    one, other = psycopg.connect(url), psycopg.connect(url)
    return filled(lambda sql: plain(one.cursor(), sql)), filled(other.execute)


def pairs(plain: Callable[[], object], recorded: Callable[[], object], rounds: int, inner: int):
    """Time both, in turns, so that a slow moment of the machine hits both alike."""
    times = {plain: [], recorded: []}
    for number in range(rounds):
        order = (plain, recorded) if number % 2 else (recorded, plain)
        for run in order:
            started = time.process_time()
            for _ in range(inner):
                run()
            open_records.flush()
            times[run].append((time.process_time() - started) / inner)
    return statistics.median(times[plain]), statistics.median(times[recorded])


def measure(plain: Query, recorded: Query, rounds: int) -> dict[str, dict[str, float]]:
    """Give plain and recorded time and the overhead of each way to fetch."""
    figures = {}
    for title, fetch in FETCHES.items():
        if title == "iteration" and not hasattr(plain(ONE), "__iter__"):
            continue
        before, after = pairs(
            lambda fetch=fetch: fetch(plain(MANY)),
            lambda fetch=fetch: fetch(recorded(MANY)),
            rounds,
            10,
        )
        figures[title] = {
            "plain_ms": round(before * 1e3, 3),
            "recorded_ms": round(after * 1e3, 3),
            "overhead": round((after / before - 1) * 100, 2),
        }
    before, after = pairs(
        lambda: plain(ONE).fetchone(), lambda: recorded(ONE).fetchone(), rounds, 500
    )
    figures["one-row query"] = {
        "plain_us": round(before * 1e6, 2),
        "recorded_us": round(after * 1e6, 2),
        "overhead": round((after - before) * 1e6, 2),
    }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--check", action="store_true", help="fail if a figure is above its limit")
    parser.add_argument("--postgres", metavar="URL")
    arguments = parser.parse_args()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Discard()))
    trace.set_tracer_provider(provider)
    drivers = {"sqlite3": of_sqlite3, "duckdb": of_duckdb}
    if arguments.postgres:
        drivers["psycopg"] = lambda: of_psycopg(arguments.postgres)
    figures = {name: measure(*make(), arguments.rounds) for name, make in drivers.items()}
    too_much = []
    for name, of_driver in figures.items():
        for title, values in of_driver.items():
            unit = "µs" if title == "one-row query" else "%"
            print(f"{name}, {title}: {values} ({unit}, at most {LIMITS[title]})")
            if values["overhead"] > LIMITS[title]:
                too_much.append(f"{name}, {title}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))
    if arguments.check and too_much:
        sys.exit(f"above the limit: {'; '.join(too_much)}")


if __name__ == "__main__":
    main()
