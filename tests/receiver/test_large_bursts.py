"""Many large requests at once: memory stays bounded, and nobody loses what was acknowledged."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import grpc
import pytest
import requests

from tests.receiver.running import METHODS, PROTOBUF
from tests.receiver.serving import Served, serve
from tests.store.requests import traces_request

MIB = 1 << 20


def body(number: int) -> bytes:
    request = traces_request((number, 1))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="text").value.string_value = "x" * (60 * MIB)
    return request.SerializeToString()


def export(
    served: Served, protocol: str, number: int, start: threading.Barrier, found: list[str]
) -> None:
    """Send a request of 60 MiB when the others do, and tell how it went."""
    content = body(number)
    start.wait()
    if protocol == "http":
        headers = {"Content-Type": PROTOBUF}
        answer = requests.post(f"{served.http}/v1/traces", content, headers=headers, timeout=99)
        found.append(f"{answer.status_code} {'Retry-After' in answer.headers}")
        return
    address = served.grpc.removeprefix("http://")
    with grpc.insecure_channel(address, [("grpc.max_send_message_length", -1)]) as channel:
        try:
            channel.unary_unary(METHODS["traces"])(content, timeout=99)
        except grpc.RpcError as error:
            has_delay = "google.rpc.retryinfo-bin" in dict(error.trailing_metadata())
            found.append(f"{error.code().name} {has_delay}")
        else:
            found.append("OK")


def memory_mib(served: Served, figure: str) -> int:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith(figure))
    return int(line.split()[1]) // 1024


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "answers"),
    [("grpc", {"OK", "UNAVAILABLE True"}), ("http", {"200 False", "503 True"})],
)
def test_a_burst_of_large_requests(tmp_path: Path, protocol: str, answers: set[str]) -> None:
    """Taken, or told to come later; at most 1.5 GiB, given back when it is over."""
    found: list[str] = []
    start = threading.Barrier(30)
    with serve(tmp_path / "s") as served:
        clients = [
            threading.Thread(target=export, args=(served, protocol, number, start, found))
            for number in range(1, 31)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        counts = Counter(found)
        assert sum(counts.values()) == 30
        assert set(counts) <= answers, counts
        assert memory_mib(served, "VmHWM") < 1536
        deadline = time.monotonic() + 30
        while memory_mib(served, "VmRSS") > 400:
            assert time.monotonic() < deadline
            time.sleep(0.2)
