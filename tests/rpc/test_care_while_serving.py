"""Compaction, export and `ingest` work through the process that owns the store."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import grpc
import pytest
import requests

from dbagenteval.cli.main import main
from dbagenteval.rpc.client import open_store
from dbagenteval.rpc.messages import STORE_SERVICE
from dbagenteval.store import Store
from tests.receiver.running import PROTOBUF
from tests.receiver.serving import Served, serve
from tests.store.requests import logs_request, traces_request

NS = 10**18


def post(served: Served, number: int) -> None:
    answer = requests.post(
        f"{served.http}/v1/traces",
        traces_request((number, 1), (number, 2), start_ns=NS + number).SerializeToString(),
        headers={"Content-Type": PROTOBUF},
        timeout=20,
    )
    assert answer.status_code == 200


def otlp_file(path: Path, *numbers: int) -> str:
    bodies = [traces_request((number, 1), (number, 2)).SerializeToString() for number in numbers]
    bodies.append(logs_request((numbers[0], 1)).SerializeToString())
    path.write_bytes(b"".join(len(body).to_bytes(4, "big") + body for body in bodies))
    return str(path)


def test_compaction_loses_nothing_while_others_send_and_read(tmp_path: Path) -> None:
    """Several times under load; each trace is there once, and readers see none half."""
    directory = tmp_path / "s"
    stopping = threading.Event()
    acknowledged: list[int] = []
    seen: list[int] = []

    def send(served: Served) -> None:
        while not stopping.is_set():
            post(served, len(acknowledged) + 1)
            acknowledged.append(len(acknowledged) + 1)

    def read() -> None:
        while not stopping.is_set():
            with open_store(directory) as store:
                sizes = [len(trace.spans) for trace in store.otel_traces()]
            assert set(sizes) <= {2}
            seen.append(len(sizes))

    with serve(directory) as served:
        post(served, 10**6)
        threads = [threading.Thread(target=send, args=[served]), threading.Thread(target=read)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            assert main(["store", "compact", "--store", str(directory)]) == 0
        stopping.set()
        for thread in threads:
            thread.join(30)
        assert served.stop() == 0
    assert seen == sorted(seen)
    with Store.open(directory, write=False) as store:
        found = {int(trace.trace_id, 16): len(trace.spans) for trace in store.otel_traces()}
        assert store.check().faults == ()
    assert found == dict.fromkeys([*acknowledged, 10**6], 2)
    assert not (directory / "compact").exists()


def test_parquet_export_while_serve_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the folder that the command names, also by a path from where it runs."""
    monkeypatch.chdir(tmp_path)
    with serve(tmp_path / "s") as served:
        assert main(["ingest", otlp_file(tmp_path / "f", 1, 2), "--store", "s"]) == 0
        assert main(["store", "export", "--parquet", "out", "--store", "s"]) == 0
        (count,) = duckdb.sql("SELECT count(*) FROM 'out/spans/**/*.parquet'").fetchall()[0]
        capsys.readouterr()
        assert main(["store", "export", "--parquet", "out", "--store", "s"]) == 2
        assert "is not empty" in capsys.readouterr().err
        assert served.stop() == 0
    assert count == 4


def test_ingest_into_a_served_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside what the receiver takes, once, and under its redaction."""
    directory = str(tmp_path / "s")
    rules = tmp_path / "rules.yaml"
    rules.write_text("keys: [number]\n")
    file = otlp_file(tmp_path / "f", 1, 2)
    with serve(tmp_path / "s", "--redact", str(rules)) as served:
        post(served, 3)
        assert main(["ingest", file, "--store", directory]) == 0
        assert "stored 4 spans and 1 log records" in capsys.readouterr().out
        assert main(["ingest", file, "--store", directory]) == 0
        again = capsys.readouterr().out
        assert "stored 0 spans and 0 log records" in again
        assert "4 spans were stored before" in again
        assert served.stop() == 0
    with Store.open(directory, write=False) as store:
        traces = list(store.otel_traces())
    assert sorted(int(trace.trace_id, 16) for trace in traces) == [1, 2, 3]
    kept = {span.attributes["number"] for trace in traces for span in trace.spans}
    assert kept == {"[REDACTED]"}


def test_only_this_machine_takes_care(tmp_path: Path) -> None:
    """The receiver's port passes no call on that changes the store or writes files."""
    with serve(tmp_path / "s") as served:
        with grpc.insecure_channel(served.grpc.removeprefix("http://")) as channel:
            call = channel.unary_unary(f"/{STORE_SERVICE}/CompactStore")
            with pytest.raises(grpc.RpcError) as raised:
                call(b"", timeout=10)
        assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED
        assert served.stop() == 0
