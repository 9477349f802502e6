"""The configurations in `collector-config/` with the real Collector: what goes in comes out."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from dbagenteval.cli.main import main
from dbagenteval.receiver import Address
from dbagenteval.store import Store
from tests.collector.collecting import FOLDER, collector, send, wait
from tests.conftest import free_port
from tests.receiver.running import RecordingSink, running
from tests.store.requests import logs_request, traces_request

CONFIGS = sorted(path.name for path in FOLDER.glob("*.yaml") if path.name != "builder.yaml")


@pytest.mark.parametrize("config", CONFIGS)
def test_the_collector_accepts_each_configuration(otelcol: str, config: str) -> None:
    """As `otelcol validate` says."""
    ended = subprocess.run(
        [otelcol, "validate", "--config", str(FOLDER / config)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("config", ["agent-sidecar.yaml", "redaction.yaml", "fan-out.yaml"])
def test_spans_and_logs_pass(otelcol: str, tmp_path: Path, config: str) -> None:
    """Both signals reach the receiver, and the second backend where there is one."""
    with running() as receiver, running() as backend:
        variables = {"DBAGENTEVAL_ENDPOINT": receiver.grpc, "BACKEND_URL": backend.http}
        with collector(otelcol, config, tmp_path, **variables) as address:
            send(address, "traces", traces_request((1, 1), (1, 2)))
            send(address, "logs", logs_request((1, 1)))
            wait(lambda: receiver.sink.span_ids() == [1, 2] and len(receiver.sink.logs()) == 1)
            if config == "fan-out.yaml":
                wait(lambda: backend.sink.span_ids() == [1, 2])


def test_the_sidecar_keeps_what_it_cannot_send(otelcol: str, tmp_path: Path) -> None:
    """Over a restart of the Collector, until the receiver is there."""
    port = free_port()
    variables: Mapping[str, str] = {
        "DBAGENTEVAL_ENDPOINT": f"127.0.0.1:{port}",
        "BATCH_TIMEOUT": "100ms",
        "QUEUE_DIR": str(tmp_path / "queue"),
    }
    with collector(otelcol, "agent-sidecar.yaml", tmp_path, **variables) as address:
        send(address, "traces", traces_request((1, 1), (1, 2)))
        time.sleep(1)
    with (
        running(RecordingSink(), grpc=Address("127.0.0.1", port)) as receiver,
        collector(otelcol, "agent-sidecar.yaml", tmp_path, **variables),
    ):
        wait(lambda: receiver.sink.span_ids() == [1, 2], 60)


def test_tail_sampling_keeps_whole_agent_turns(otelcol: str, tmp_path: Path) -> None:
    """All spans of a trace in which an agent took part, whichever span says so."""
    agent = traces_request((1, 1), (1, 2), (1, 3))
    spans = agent.resource_spans[0].scope_spans[0].spans
    spans[2].attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    failed = traces_request((2, 11), (2, 12))
    failed.resource_spans[0].scope_spans[0].spans[0].status.code = 2
    others = traces_request(*[(number, number) for number in range(100, 200)])
    with running() as receiver:
        variables = {"DBAGENTEVAL_ENDPOINT": receiver.grpc, "DECISION_WAIT": "1s"}
        with collector(otelcol, "gateway-tail-sampling.yaml", tmp_path, **variables) as address:
            for request in (others, agent, failed):
                send(address, "traces", request)
            wait(lambda: {1, 2, 3, 11, 12} <= set(receiver.sink.span_ids()))
            time.sleep(2)
        rest = [number for number in receiver.sink.span_ids() if number >= 100]
    assert len(rest) < 50


def test_redaction_masks(otelcol: str, tmp_path: Path) -> None:
    """By key and by value."""
    request = traces_request((1, 1))
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    attributes.add(key="enduser.id").value.string_value = "needle-user"
    attributes.add(key="question").value.string_value = "What did needle@example.com buy?"
    with running() as receiver:
        variables = {"DBAGENTEVAL_ENDPOINT": receiver.grpc}
        with collector(otelcol, "redaction.yaml", tmp_path, **variables) as address:
            send(address, "traces", request)
            wait(lambda: receiver.sink.span_ids() == [1])
        assert b"needle" not in receiver.sink.requests[0][1]


def test_captured_files_are_ingested(otelcol: str, tmp_path: Path) -> None:
    """What the file exporter wrote is read to the last span and log record."""
    with collector(otelcol, "file-capture.yaml", tmp_path, CAPTURE_DIR=str(tmp_path)) as address:
        for number in range(1, 4):
            send(address, "traces", traces_request((number, 1), (number, 2)))
            send(address, "logs", logs_request((number, 1), text=str(number)))
    files = [str(tmp_path / name) for name in ("traces.jsonl", "logs.jsonl")]
    assert main(["ingest", *files, "--store", str(tmp_path / "s")]) == 0
    with Store.open(tmp_path / "s", write=False) as store:
        assert (store.stats().spans, store.stats().logs) == (6, 3)


def test_load_balancing_keeps_traces_together(otelcol: str, tmp_path: Path) -> None:
    """Both receivers get some, and no trace is split."""
    with running() as first, running() as second:
        variables = {"FIRST_ENDPOINT": first.grpc, "SECOND_ENDPOINT": second.grpc}
        with collector(otelcol, "load-balancing.yaml", tmp_path, **variables) as address:
            for part in (1, 2):
                spans = [(trace, part * 1000 + trace) for trace in range(1, 101)]
                send(address, "traces", traces_request(*spans))
            wait(lambda: len(first.sink.span_ids()) + len(second.sink.span_ids()) == 200)
        found = [{number % 1000 for number in r.sink.span_ids()} for r in (first, second)]
    assert found[0] & found[1] == set()
    assert all(found)
