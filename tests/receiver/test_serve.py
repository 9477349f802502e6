"""`dbagenteval serve` with real exporters, real sockets and real ends."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import (
    OTLPLogExporter as GrpcLogExporter,
)
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import (
    OTLPLogExporter as HttpLogExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpSpanExporter,
)
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dbagenteval.cli.main import main
from dbagenteval.store import Store
from tests.receiver.serving import serve, wait_until_free


def spans_in(store: Path) -> list[tuple[str, str]]:
    with Store.open(store, write=False) as opened:
        return [(s.trace_id, s.span_id) for trace in opened.otel_traces() for s in trace.spans]


def finished_spans(count: int) -> list[ReadableSpan]:
    """Real spans of the SDK."""
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test", "1.0")
    for number in range(count):
        with tracer.start_as_current_span(f"span {number}") as span:
            span.set_attribute("number", number)
            span.add_event("event", {"k": "v"})
    return list(memory.get_finished_spans())


@pytest.mark.parametrize("protocol", ["grpc", "http", "gzip"])
def test_real_exporters_send_spans(tmp_path: Path, protocol: str) -> None:
    """Spans of opentelemetry-sdk arrive with all that they had."""
    with serve(tmp_path / "s") as served:
        exporter = (
            HttpSpanExporter(endpoint=f"{served.http}/v1/traces", compression=Compression.Gzip)
            if protocol == "gzip"
            else served.exporter(protocol)
        )
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(exporter))
        with provider.get_tracer("test", "1.0").start_as_current_span("parent") as parent:
            parent.set_attribute("list", [1, 2])
            with provider.get_tracer("test").start_as_current_span("child"):
                pass
        provider.shutdown()
        assert served.stop() == 0
    with Store.open(tmp_path / "s", write=False) as store:
        (trace,) = store.otel_traces()
    assert [span.name for span in trace.spans] == ["parent", "child"]
    assert trace.spans[1].parent_span_id == trace.spans[0].span_id
    assert trace.spans[0].attributes == {"list": [1, 2]}
    assert trace.spans[0].scope.version == "1.0"
    assert trace.spans[0].resource["telemetry.sdk.language"] == "python"


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_real_exporters_send_logs(tmp_path: Path, protocol: str) -> None:
    """Log records of opentelemetry-sdk arrive, joined to their trace."""
    with serve(tmp_path / "s") as served:
        exporter = (
            GrpcLogExporter(endpoint=served.grpc, insecure=True)
            if protocol == "grpc"
            else HttpLogExporter(endpoint=f"{served.http}/v1/logs")
        )
        provider = LoggerProvider()
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        logger = provider.get_logger("test")
        with TracerProvider().get_tracer("test").start_as_current_span("s") as span:
            logger.emit(LogRecord(timestamp=1, body="within"))
            trace_id = f"{span.get_span_context().trace_id:032x}"
        logger.emit(LogRecord(timestamp=2, body="without"))
        provider.shutdown()
        assert served.stop() == 0
    with Store.open(tmp_path / "s", write=False) as store:
        found = [
            (trace.trace_id, [log.body for log in trace.logs]) for trace in store.otel_traces()
        ]
    assert found == [(trace_id, ["within"]), ("", ["without"])]


class Sender(threading.Thread):
    """Exports batches until it is stopped, and remembers what was acknowledged."""

    def __init__(self, exporter: SpanExporter, spans: list[ReadableSpan]) -> None:
        super().__init__(daemon=True)
        self.exporter = exporter
        self.spans = spans
        self.acknowledged: list[ReadableSpan] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        for start in range(0, len(self.spans), 50):
            if self.stopping.is_set():
                return
            batch = self.spans[start : start + 50]
            if self.exporter.export(batch) is SpanExportResult.SUCCESS:
                self.acknowledged += batch


def keys(spans: list[ReadableSpan]) -> set[tuple[str, str]]:
    contexts = [span.get_span_context() for span in spans]
    return {(f"{c.trace_id:032x}", f"{c.span_id:016x}") for c in contexts}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_acknowledged_spans_survive_the_end_of_the_process(tmp_path: Path, number: int) -> None:
    """`kill -9` and SIGTERM under load, three times over one store: every acknowledged span is
    there, once."""
    store = tmp_path / "s"
    acknowledged: set[tuple[str, str]] = set()
    for round_ in range(3):
        with serve(store) as served:
            senders = [
                Sender(served.exporter(protocol), finished_spans(4_000))
                for protocol in ("grpc", "http")
            ]
            for sender in senders:
                sender.start()
            time.sleep(random.Random(round_).uniform(0.2, 0.8))
            served.stop(number)
            for sender in senders:
                sender.stopping.set()
                sender.exporter.shutdown()
                sender.join(30)
                acknowledged |= keys(sender.acknowledged)
        wait_until_free(store)
    found = spans_in(store)
    assert len(acknowledged) > 300
    assert acknowledged <= set(found)
    assert len(found) == len(set(found))


def test_a_second_owner_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second `serve` on the same store ends with one clear line."""
    with serve(tmp_path / "s"):
        arguments = ["serve", "--store", str(tmp_path / "s")]
        assert main([*arguments, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]) == 2
        assert "in use by another process" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--grpc", "--http"])
def test_a_port_in_use_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """One clear line, exit 2, and no store on disk."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        other = "--http" if option == "--grpc" else "--grpc"
        arguments = ["serve", "--store", str(tmp_path / "s"), option, address]
        assert main([*arguments, other, "127.0.0.1:0"]) == 2
    message = capsys.readouterr().err.splitlines()[0]
    assert message.startswith(f"error: can't listen on {address}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:", "127.0.0.1:70000", ":80", "a:b"])
def test_a_wrong_address_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    """With what an address looks like."""
    assert main(["serve", "--store", str(tmp_path / "s"), "--grpc", address]) == 2
    assert "expected HOST:PORT" in capsys.readouterr().err
