"""Stores with the spans of small agents, recorded by the real SDK."""

import json
import sqlite3
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dbagenteval.store import Store

SHOP = Path(__file__).parents[2] / "examples" / "shop"


class Recorder:
    """Record turns of an agent and put them into a store."""

    def __init__(self, directory):
        self.directory = directory
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": "test-agent"}))
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")

    def turn(self, question, *, sql=None, rows=None, answer=None, **attributes):
        """Record one question with the stages that are given."""
        turn = {"dbagenteval.question": question, **attributes}
        with self.tracer.start_as_current_span("ask", attributes=turn):
            if sql is not None:
                self._stage("generate", {"db.query.text": sql})
            if rows is not None:
                self._stage("execute", {"db.query.text": sql, "dbagenteval.rows": json.dumps(rows)})
            if answer is not None:
                self._stage("answer", {"dbagenteval.output": answer})

    def _stage(self, kind, attributes):
        with self.tracer.start_as_current_span(
            kind, attributes={"dbagenteval.stage": kind, **attributes}
        ):
            pass

    def save(self):
        """Put what was recorded into the store; give its directory."""
        with Store.open(self.directory, write=True, create=True) as store:
            body = encode_spans(self._exporter.get_finished_spans()).SerializeToString()
            store.append("traces", body).result()
        self._exporter.clear()
        return str(self.directory)


@pytest.fixture
def recorder(tmp_path):
    """An empty store and a way to fill it."""
    return Recorder(tmp_path / "store")


@pytest.fixture
def shop_url(tmp_path):
    """The database of examples/shop."""
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript((SHOP / "shop.sql").read_text(encoding="utf-8"))
    database.close()
    return f"sqlite:///{tmp_path / 'shop.db'}"
