"""An agent that only gives text is verified by the rows of its own spans."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from dbagenteval.cli.main import main
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.agent.spans import completed
from dbagenteval.store import Store
from dbagenteval.traces import Trace

ROWS = [
    {"city": "Oslo", "customers": 2},
    {"city": "Bergen", "customers": 1},
    {"city": "Bodø", "customers": 1},
]


@pytest.fixture
def traced_agent(tmp_path):
    """An instrumented agent over HTTP that puts its spans into a store and answers text alone."""
    directory = tmp_path / "store"
    Store.open(directory, write=True, create=True).close()
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))["question"]
            parent = TraceContextTextMapPropagator().extract(dict(self.headers))
            with tracer.start_as_current_span(
                "ask", context=parent, attributes={"dbagenteval.question": question}
            ):
                stage = {
                    "dbagenteval.stage": "execute",
                    "db.query.text": "SELECT city FROM x",
                    "dbagenteval.rows": json.dumps(ROWS),
                }
                tracer.start_span("execute", attributes=stage).end()
            with Store.open(directory, write=True) as store:
                store.append(
                    "traces", encode_spans(exporter.get_finished_spans()).SerializeToString()
                ).result()
            exporter.clear()
            body = b'{"text": "See the table."}'
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", str(directory)
    server.shutdown()
    server.server_close()


def test_rows_come_from_the_spans_of_the_call(folder, traced_agent, capsys) -> None:
    """With `--store` the rows and SQL of the agent's spans are compared; without, nothing is seen."""
    url, store = traced_agent
    folder.make_database()
    arguments = ["test", "-p", str(folder.root), "--agent", url, "--select", "customers_by_city"]
    assert main(arguments) == 1
    assert main([*arguments, "--store", store]) == 0, capsys.readouterr().out
    newest = max((folder.root / "tests/outputs").glob("results_*.json"))
    result = json.loads(newest.read_text("utf-8"))["results"][0]
    assert result["details"]["actual_from"] == "spans"
    assert result["details"]["executed_sql"] == ["SELECT city FROM x"]
    assert main([*arguments, "--store", store + "-missing"]) == 2


def test_what_the_agent_says_itself_stays() -> None:
    """Spans fill gaps; they do not replace rows, text or tokens of the reply."""
    trace = Trace.simple("q", answer="b", sql="SELECT 2", rows=[{"n": 2}])
    trace.meta["tokens"] = {"input": 5, "output": 1}
    own = AgentReply(text="a", rows=[{"n": 1}], rows_from="rows", tokens=9)
    merged = completed(own, trace)
    assert (merged.text, merged.rows, merged.rows_from, merged.tokens) == (
        "a",
        [{"n": 1}],
        "rows",
        9,
    )
    assert merged.sqls == ("SELECT 2",)
    filled = completed(AgentReply(), trace)
    assert (filled.text, filled.rows, filled.rows_from, filled.tokens) == (
        "b",
        [{"n": 2}],
        "spans",
        6,
    )
