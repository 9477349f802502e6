"""Checklist items 42, 43, 49, 54, 56, 67, 75 to 77: what is on disk afterwards."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import requests

from dbagenteval.errors import Overloaded
from dbagenteval.otlp.values import OtelTrace
from dbagenteval.store import Store
from tests.receiver.running import METHODS, PROTOBUF, Running, running, status_of
from tests.receiver.serving import serve
from tests.store.requests import traces_request

HEADERS = {"Content-Type": PROTOBUF}
BODY = traces_request((1, 1), (1, 2)).SerializeToString()


def traces_in(store: Path) -> list[OtelTrace]:
    with Store.open(store, write=False) as opened:
        return list(opened.otel_traces())


def test_item_42_the_same_span_twice_is_stored_once(tmp_path: Path) -> None:
    """Over both protocols, and both are told success; the same span id elsewhere is another."""
    with serve(tmp_path / "s") as served:
        for body in (BODY, BODY, traces_request((2, 1)).SerializeToString()):
            answer = requests.post(f"{served.http}/v1/traces", body, headers=HEADERS, timeout=10)
            assert (answer.status_code, answer.content) == (200, b"")
        with grpc.insecure_channel(served.grpc.removeprefix("http://")) as channel:
            assert channel.unary_unary(METHODS["traces"])(BODY, timeout=10) == b""
        assert served.stop() == 0
    found = [(trace.trace_id[-1], len(trace.spans)) for trace in traces_in(tmp_path / "s")]
    assert sorted(found) == [("1", 2), ("2", 1)]


def test_item_43_any_order_over_requests_gives_the_same_trace(tmp_path: Path) -> None:
    parts = [
        traces_request((1, number), start_ns=10**18 + number).SerializeToString()
        for number in range(1, 9)
    ]
    found = []
    for name in ("a", "b"):
        with serve(tmp_path / name) as served:
            for body in parts:
                assert requests.post(
                    f"{served.http}/v1/traces", body, headers=HEADERS, timeout=10
                ).ok
            assert served.stop() == 0
        found.append(traces_in(tmp_path / name))
        random.Random(3).shuffle(parts)
    assert found[0] == found[1]
    assert len(found[0][0].spans) == 8


def test_item_49_a_client_that_goes_away_leaves_all_or_nothing(receiver: Running) -> None:
    """Half a body is never stored; a whole one is stored whole, or not if the client closed."""
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\n"
    head += f"Content-Length: {len(BODY)}\r\n\r\n"
    with receiver.connect() as connection:
        connection.sendall(head.encode() + BODY[: len(BODY) // 2])
    assert receiver.post(traces_request((9, 9)).SerializeToString()).ok
    assert receiver.sink.span_ids() == [9]
    with receiver.connect() as connection:
        connection.sendall(head.encode() + BODY)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(100)
    assert receiver.sink.span_ids() in ([9], [9, 1, 2])
    receiver.sink.held = []
    with receiver.connect() as connection:
        connection.sendall(head.encode() + BODY)
        while not receiver.sink.held:
            time.sleep(0.01)
    receiver.sink.held.pop().set_result(1)  # the answer finds nobody
    assert receiver.sink.span_ids()[-2:] == [1, 2]
    receiver.sink.held = None
    assert receiver.post(BODY).ok


def test_item_54_and_56_a_failing_store_is_503_and_never_success(receiver: Running) -> None:
    """Before and after the request was handed over."""
    for refusal in ("refusal", "late_refusal"):
        setattr(receiver.sink, refusal, Overloaded("no space left on disk", retry_after_s=5))
        response = receiver.post(BODY)
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"
        assert status_of(response).message == "no space left on disk"
        with pytest.raises(grpc.RpcError) as caught:
            receiver.call(BODY)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        setattr(receiver.sink, refusal, None)
    assert receiver.post(BODY).status_code == 200


def test_item_67_a_deadline_leaves_no_half_trace() -> None:
    """The request is stored whole although the client gave up."""
    with running() as receiver:
        receiver.sink.held = []
        with (
            pytest.raises(grpc.RpcError) as caught,
            grpc.insecure_channel(receiver.grpc) as channel,
        ):
            channel.unary_unary(METHODS["traces"])(BODY, timeout=0.3)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        for future in receiver.sink.held:
            future.set_result(1)
        assert receiver.sink.span_ids() == [1, 2]
        receiver.sink.held = None
        assert receiver.call(BODY) == b""


def test_item_77_faults_are_told_before_any_port_is_opened(tmp_path: Path) -> None:
    """An unwritable store and a file in its place: a message, exit 2, and nothing listens."""
    (tmp_path / "file").write_text("x")
    command = [sys.executable, "-m", "dbagenteval", "serve", "--store"]
    ports = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    for store in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        ended = subprocess.run(
            [*command, str(store), *ports], capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 2
        assert ended.stdout == ""
        assert ended.stderr.startswith(f"error: store {store}: ")
        assert len(ended.stderr.splitlines()) <= 2


def test_items_75_and_76_are_shown_under_load() -> None:
    """By the kill test in `test_serve`; this keeps its name from vanishing unnoticed."""
    from tests.receiver import test_serve

    marks = test_serve.test_acknowledged_spans_survive_the_end_of_the_process.pytestmark
    assert marks[0].args[1] == [signal.SIGKILL, signal.SIGTERM]
