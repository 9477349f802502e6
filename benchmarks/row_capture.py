"""What row capture costs: 10,000 rows (below 5%, in a loop below 10%), and one (below 50 µs).

The SDK batches spans as in production and its exporter throws them away. Processor time of the
whole process is measured, so that the thread that makes the spans counts and other processes don't;
each figure is the median over rounds, in which plain and recorded take turns.

    python benchmarks/row_capture.py [--json PATH] [--check]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from dbagenteval.instrument import open_records
from dbagenteval.instrument.row_settings import RowSettings
from dbagenteval.instrument.sqlite_rows import instrument

MANY_ROWS = 10_000
MANY = "SELECT id, customer, amount, placed, note FROM orders"
LIMITS = {
    f"{MANY_ROWS} rows, fetchall": 5,
    f"{MANY_ROWS} rows, fetchmany(500)": 5,
    f"{MANY_ROWS} rows, iteration": 10,
    "one-row query": 50,
}
"""Overhead at most: percent, and microseconds for one row."""
ONE = "SELECT COUNT(*), SUM(amount) FROM orders WHERE id < 10"


class Discard(SpanExporter):
    def export(self, spans):  # noqa: ARG002 the SDK's signature
        return SpanExportResult.SUCCESS

    def shutdown(self):
        pass


def database(folder: str) -> str:
    name = str(Path(folder) / "orders.db")
    keep = sqlite3.connect(name)
    keep.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer, amount, placed, note)")
    keep.executemany(
        "INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
        [
            (n, f"customer {n % 97}", n * 1.25, f"2026-01-{n % 28 + 1:02}", f"note number {n}")
            for n in range(MANY_ROWS)
        ],
    )
    keep.commit()
    keep.close()
    return name


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--check", action="store_true", help="fail if a figure is above its limit")
    arguments = parser.parse_args()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Discard()))
    trace.set_tracer_provider(provider)
    folder = tempfile.TemporaryDirectory()
    name = database(folder.name)
    plain = sqlite3.connect(name)
    module = SimpleNamespace(
        connect=sqlite3.connect, dbapi2=SimpleNamespace(connect=sqlite3.connect)
    )
    instrument(module, RowSettings())
    recorded = module.connect(name)

    def iterate(connection):
        for _ in connection.execute(MANY):
            pass

    figures = {}
    for title, run in {
        "fetchall": lambda c: c.execute(MANY).fetchall(),
        "iteration": iterate,
        "fetchmany(500)": lambda c: list(iter(_batches(c), [])),
    }.items():
        before, after = pairs(
            lambda run=run: run(plain), lambda run=run: run(recorded), arguments.rounds, 10
        )
        figures[f"{MANY_ROWS} rows, {title}"] = {
            "plain_ms": round(before * 1e3, 3),
            "recorded_ms": round(after * 1e3, 3),
            "overhead": round((after / before - 1) * 100, 2),
        }
    before, after = pairs(
        lambda: plain.execute(ONE).fetchone(),
        lambda: recorded.execute(ONE).fetchone(),
        arguments.rounds,
        500,
    )
    figures["one-row query"] = {
        "plain_us": round(before * 1e6, 2),
        "recorded_us": round(after * 1e6, 2),
        "overhead": round((after - before) * 1e6, 2),
    }
    for title, values in figures.items():
        unit = "µs" if title == "one-row query" else "%"
        print(f"{title}: {values} ({unit}, at most {LIMITS[title]})")
    if arguments.check:
        too_much = [
            title for title, values in figures.items() if values["overhead"] > LIMITS[title]
        ]
        if too_much:
            sys.exit(f"above the limit: {', '.join(too_much)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


def _batches(connection):
    cursor = connection.execute(MANY)
    return lambda: cursor.fetchmany(500)


if __name__ == "__main__":
    main()
