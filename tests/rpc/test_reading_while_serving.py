"""Every command reads while `serve` runs, and sees a consistent state."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import grpc
import pytest
import requests
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from dbagenteval.cli.main import main
from dbagenteval.errors import StoreError, StoreLocked
from dbagenteval.rpc.client import ServedStore, open_store
from dbagenteval.rpc.messages import SERVICE, message
from dbagenteval.store import Store
from tests.receiver.running import PROTOBUF
from tests.receiver.serving import Served, serve
from tests.store.requests import logs_request, traces_request

NS = 10**18
ROOT = Path(__file__).parents[2]


def post(served: Served, signal_: str, request: object) -> None:
    answer = requests.post(
        f"{served.http}/v1/{signal_}",
        request.SerializeToString(),  # type: ignore[attr-defined]
        headers={"Content-Type": PROTOBUF},
        timeout=20,
    )
    assert answer.status_code == 200


def wait_for(store: ServedStore, spans: int) -> None:
    for _ in range(400):
        if store.stats().spans >= spans:
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"{store.stats().spans} of {spans} spans stored")


def owner(directory: Path) -> tuple[str, str]:
    found = json.loads((directory / "owner.json").read_text())
    return found["address"], found["token"]


def fill(served: Served) -> None:
    request = traces_request((3, 1), (3, 2), service="web", start_ns=NS + 300)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.events.add(name="e", time_unix_nano=5).attributes.add(key="k").value.bool_value = True
    span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8, trace_state="a=b", flags=1)
    span.attributes.add(key="list").value.array_value.values.add().int_value = 7
    span.status.code, span.status.message, span.trace_state = 2, "bad", "x=y"
    post(served, "traces", request)
    post(served, "traces", traces_request((1, 1), service="shop", start_ns=NS + 100, parent=9))
    post(served, "logs", logs_request((1, 1), (4, 1), (0, 0), start_ns=NS + 250))


FILTERS = [
    {},
    {"since_ns": NS + 200},
    {"until_ns": NS + 200},
    {"service": "web"},
    {"service": ""},
    {"trace_ids": [f"{3:032x}"]},
    {"trace_ids": []},
]


def test_a_served_store_reads_as_a_closed_one(tmp_path: Path) -> None:
    """The same traces and figures, whole and by filter, to the last field."""
    directory = tmp_path / "s"
    with serve(directory) as served:
        fill(served)
        with open_store(directory) as store:
            assert isinstance(store, ServedStore)
            wait_for(store, 3)
            found = [list(store.otel_traces(**filters)) for filters in FILTERS]
            stats = store.stats()
        assert served.stop() == 0
    with open_store(directory) as closed:
        assert isinstance(closed, Store)
        assert found == [list(closed.otel_traces(**filters)) for filters in FILTERS]
        after = closed.stats()
    assert [len(traces) for traces in found] == [4, 3, 1, 1, 0, 1, 0]
    assert (stats.spans, stats.logs, stats.services) == (after.spans, after.logs, after.services)
    assert (stats.first_start_ns, stats.last_end_ns) == (after.first_start_ns, after.last_end_ns)


def test_commands_read_while_serve_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`store stats`, `traces list` and `traces export` give what is stored, and ingest goes on."""
    directory = str(tmp_path / "s")
    with serve(tmp_path / "s") as served:
        post(served, "traces", question_request())
        with ServedStore(*owner(tmp_path / "s")) as store:
            wait_for(store, 2)
        capsys.readouterr()
        assert main(["store", "stats", "--json", "--store", directory]) == 0
        assert json.loads(capsys.readouterr().out)["spans"] == 2
        assert main(["traces", "export", "--store", directory]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert json.loads(line)["question"] == "How many orders?"
        assert main(["store", "check", "--store", directory]) == 0
        assert main(["store", "export", "--otlp", str(tmp_path / "f"), "--store", directory]) == 0
        assert main(["ingest", str(tmp_path / "f"), "--store", str(tmp_path / "copy")]) == 0
        with open_store(tmp_path / "copy") as copy:
            assert copy.stats().spans == 2
        capsys.readouterr()
        assert main(["traces", "list", "--store", directory]) == 0
        assert "How many orders?" in capsys.readouterr().out
        post(served, "traces", traces_request((8, 1)))
        assert served.stop() == 0
    with open_store(tmp_path / "s") as store:
        assert store.stats().spans == 3


def test_a_reading_sees_one_state_while_spans_arrive(tmp_path: Path) -> None:
    """A stream that was started keeps to what was stored then."""
    with serve(tmp_path / "s") as served:
        for number in range(1, 700):
            if number % 100 == 0:
                first = [(trace, 1) for trace in range(number - 99, number + 1)]
                post(served, "traces", traces_request(*first, start_ns=NS + number * 10**9))
        with open_store(tmp_path / "s") as store:
            assert isinstance(store, ServedStore)
            wait_for(store, 600)
            stream = store.otel_traces()
            head = [next(stream) for _ in range(5)]
            post(served, "traces", traces_request((9999, 1), start_ns=NS + 10**13))
            wait_for(store, 601)
            rest = list(stream)
            assert len(head) + len(rest) == 600
            assert len(list(store.otel_traces())) == 601


def test_a_dead_owners_file_is_no_obstacle(tmp_path: Path) -> None:
    """After `kill -9` the next reader opens the store itself."""
    with serve(tmp_path / "s") as served:
        fill(served)
        served.stop(signal.SIGKILL)
    assert (tmp_path / "s" / "owner.json").exists()
    for _ in range(100):  # the store process ends a moment after its owner
        try:
            store = open_store(tmp_path / "s")
        except StoreLocked:
            threading.Event().wait(0.05)
        else:
            break
    with store:
        assert isinstance(store, Store)
        assert store.stats().spans == 3


HOLDER = """
import sys
from dbagenteval.store import Store
with Store.open(sys.argv[1], write=True, create=True):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("stale", [None, "{", '{"address": "127.0.0.1:9", "token": "x"}'])
def test_an_owner_that_serves_nothing_is_said_to_hold_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stale: str | None
) -> None:
    """With no file, a damaged one, or one of a process that is gone."""
    monkeypatch.setattr("dbagenteval.rpc.client._OWNER_WAIT_S", 0.5)
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "s")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            holder.stdout.readline()
            if stale is not None:
                (tmp_path / "s" / "owner.json").write_text(stale)
            with pytest.raises(StoreLocked):
                open_store(tmp_path / "s")
        finally:
            holder.kill()


def test_the_service_wants_its_token(tmp_path: Path) -> None:
    """Other users of the machine can't read through the loopback port."""
    with serve(tmp_path / "s"):
        address, token = owner(tmp_path / "s")
        assert (tmp_path / "s" / "owner.json").stat().st_mode & 0o077 == 0
        for wrong in ("", token[:-1], "x" * 40):
            with ServedStore(address, wrong) as store:
                with pytest.raises(StoreError, match="UNAUTHENTICATED"):
                    store.stats()
                with pytest.raises(StoreError, match="UNAUTHENTICATED"):
                    list(store.otel_traces())


def test_an_owner_that_ends_amid_a_reading_is_an_error(tmp_path: Path) -> None:
    """Never a short answer that looks whole."""
    with serve(tmp_path / "s") as served:
        spans = [(trace, 1) for trace in range(1, 3000)]
        post(served, "traces", traces_request(*spans))
        store = open_store(tmp_path / "s")
        assert isinstance(store, ServedStore)
        with store:
            wait_for(store, 2999)
            stream = store.otel_traces()
            next(stream)
            served.stop(signal.SIGKILL)
            try:
                count = 1 + len(list(stream))
            except StoreError:
                return
            assert count == 2999


def call(served: Served, directory: Path, method: str, request: object) -> list[object]:
    """Call a method of the service that streams."""
    address, token = owner(directory)
    with grpc.insecure_channel(address) as channel:
        stub = channel.unary_stream(
            f"/{SERVICE}/{method}",
            request_serializer=lambda found: found.SerializeToString(),
            response_deserializer=message(f"{method}Response").FromString,
        )
        metadata = (("authorization", f"Bearer {token}"),)
        return list(stub(request, metadata=metadata, timeout=30))


def question_request() -> object:
    request = traces_request((5, 1), (5, 2))
    root, answer = request.resource_spans[0].scope_spans[0].spans
    answer.parent_span_id = root.span_id
    root.attributes.add(key="dbagenteval.question").value.string_value = "How many orders?"
    root.attributes.add(key="dbagenteval.case.id").value.string_value = "orders"
    answer.attributes.add(key="dbagenteval.stage").value.string_value = "answer"
    answer.attributes.add(key="dbagenteval.output").value.string_value = "There are 12."
    return request


def test_traces_and_scores_over_the_service(tmp_path: Path) -> None:
    """ListTraces, GetTrace, ExportTraces and Score answer for a tagged trace."""
    with serve(tmp_path / "s") as served:
        post(served, "traces", question_request())
        with open_store(tmp_path / "s") as store:
            assert isinstance(store, ServedStore)
            wait_for(store, 2)
        (line,) = call(served, tmp_path / "s", "ListTraces", message("ListTracesRequest")())
        assert (line.question, list(line.stages)) == ("How many orders?", ["answer"])
        (export,) = call(served, tmp_path / "s", "ExportTraces", message("ExportTracesRequest")())
        assert json.loads(export.trace.stages[0].output_json) == "There are 12."
        fields = {"id": "orders", "question": "How many orders?", "expect": {"answer": "12"}}
        request = message("ScoreRequest")()
        request.cases.add(fields_json=json.dumps(fields))
        (scored,) = call(served, tmp_path / "s", "Score", request)
        assert scored.is_matched
        assert scored.scorecard.verdict in ("PASS", "FAIL", "SKIP", "ERROR")
        request.cases.add(fields_json='{"id": 5}')
        with pytest.raises(grpc.RpcError) as caught:
            call(served, tmp_path / "s", "Score", request)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_the_service_answers_on_the_receivers_port(tmp_path: Path) -> None:
    """With the receiver's tokens, health and reflection."""
    tokens = tmp_path / "tokens"
    tokens.write_text("reader read\nsender ingest\n")
    tokens.chmod(0o600)
    with serve(tmp_path / "s", "--token-file", str(tokens)) as served:
        address = served.grpc.removeprefix("http://")
        codes = {}
        for token in ("reader", "sender", "wrong"):
            with grpc.insecure_channel(address) as channel:
                stub = channel.unary_unary(
                    f"/{SERVICE}/StoreStats",
                    request_serializer=lambda found: found.SerializeToString(),
                    response_deserializer=message("StoreStatsResponse").FromString,
                )
                metadata = (("authorization", f"Bearer {token}"),)
                try:
                    found = stub(message("StoreStatsRequest")(), metadata=metadata, timeout=20)
                except grpc.RpcError as error:
                    codes[token] = error.code().name
                else:
                    codes[token] = found.spans
        assert codes == {"reader": 0, "sender": "PERMISSION_DENIED", "wrong": "UNAUTHENTICATED"}
        with grpc.insecure_channel(address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            answer = health.Check(health_pb2.HealthCheckRequest(service=SERVICE), timeout=20)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            names = reflection_names(channel)
    assert {SERVICE, "opentelemetry.proto.collector.trace.v1.TraceService"} <= names


def reflection_names(channel: grpc.Channel) -> set[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answer = next(stub.ServerReflectionInfo(iter([request]), timeout=20))
    return {found.name for found in answer.list_services_response.service}


def test_descriptors_are_not_stale() -> None:
    """`proto/generate.py` was run after the last change."""
    pytest.importorskip("grpc_tools")
    command = [sys.executable, str(ROOT / "proto" / "generate.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
