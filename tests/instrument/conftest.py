"""An SDK of its own, and recorded drivers, so that no other test sees them."""

import json
import sqlite3
from types import SimpleNamespace

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dbagenteval.instrument import open_records, sqlite_rows
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings


class Recorded:
    """Spans that were made, in the order of their executions."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("test")

    def spans(self):
        """Give the spans so far, and forget them."""
        open_records.flush()
        found = sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time)
        self.exporter.clear()
        return found

    def span(self):
        """Give the one span."""
        (span,) = self.spans()
        return span

    def rows(self):
        """Give columns, rows and whether they are cut, of the one span."""
        attributes = self.span().attributes
        said = json.loads(attributes["dbagenteval.rows"])
        return said["columns"], said["rows"], attributes.get("dbagenteval.rows.truncated", False)


@pytest.fixture
def recorded(monkeypatch):
    """Spans of everything that is recorded in the test."""
    one = Recorded()
    made = Recorder.__init__

    def init(self, system, settings):
        made(self, system, settings)
        self.tracer = one.tracer

    monkeypatch.setattr(Recorder, "__init__", init)
    open_records.flush(forgotten=True)
    one.exporter.clear()
    yield one
    open_records.flush(forgotten=True)


@pytest.fixture
def connect(recorded):
    """Make `sqlite3.connect` with recording and the given settings."""

    def make(**settings):
        module = SimpleNamespace(
            connect=sqlite3.connect, dbapi2=SimpleNamespace(connect=sqlite3.connect)
        )
        sqlite_rows.instrument(module, RowSettings(**settings))
        return module.connect

    return make
