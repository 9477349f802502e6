"""`kill -9` of either process, a full disk: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from dbagenteval.errors import StoreLocked
from dbagenteval.store import Store
from tests.receiver.running import PROTOBUF
from tests.receiver.serving import Served, serve
from tests.store.requests import traces_request

HEADERS = {"Content-Type": PROTOBUF}


class Load(threading.Thread):
    """Sends small requests as fast as it can, and again what was refused or not answered."""

    def __init__(self, url: str, first_trace: int) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.trace = first_trace
        self.acknowledged: set[int] = set()
        self.refusals = 0
        self.stopping = threading.Event()
        self.padding = 0

    def run(self) -> None:
        session = requests.Session()
        while not self.stopping.is_set():
            request = traces_request((self.trace, 1), (self.trace, 2))
            if self.padding:
                span = request.resource_spans[0].scope_spans[0].spans[0]
                text = random.Random(self.trace).randbytes(self.padding // 2).hex()
                span.attributes.add(key="pad").value.string_value = text
            try:
                answer = session.post(
                    f"{self.url}/v1/traces",
                    request.SerializeToString(),
                    headers=HEADERS,
                    timeout=10,
                )
            except requests.RequestException:
                self.stopping.wait(0.05)
                continue
            if answer.status_code == 200:
                self.acknowledged.add(self.trace)
                self.trace += 1
            else:
                assert answer.status_code == 503
                self.refusals += 1
                self.stopping.wait(0.05)


def store_process(served: Served) -> int:
    """The process below `serve` that has the database."""
    tasks = Path(f"/proc/{served.process.pid}/task")
    children = [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    return int(children[0])


def span_counts(store: Path) -> dict[int, int]:
    for _ in range(100):
        try:
            with Store.open(store, write=False) as opened:
                return {int(t.trace_id, 16): len(t.spans) for t in opened.otel_traces()}
        except StoreLocked:
            time.sleep(0.05)
    raise AssertionError("the store stays locked")


def kill_rounds(store: Path, rounds: int, seed: int) -> None:
    """Kill one or both processes at random moments under load, then count."""
    chance = random.Random(seed)
    acknowledged: set[int] = set()
    first = 1
    for _ in range(rounds):
        with serve(store) as served:
            loads = [Load(served.http, first + 1_000_000 * number) for number in range(3)]
            for load in loads:
                load.start()
            time.sleep(chance.uniform(0.05, 0.8))
            victim = chance.choice(["owner", "store process", "both"])
            if victim != "owner":
                os.kill(store_process(served), signal.SIGKILL)
            if victim == "store process":
                time.sleep(chance.uniform(0.0, 2.5))  # acknowledging goes on
                served.stop(chance.choice([signal.SIGTERM, signal.SIGKILL]))
            else:
                served.stop(signal.SIGKILL)
            for load in loads:
                load.stopping.set()
                load.join(15)
                acknowledged |= load.acknowledged
            first = max(load.trace for load in loads[:1]) + 10
    found = span_counts(store)
    assert len(acknowledged) > rounds
    assert acknowledged - set(found) == set()
    assert {count for trace, count in found.items() if trace in acknowledged} == {2}


def test_killing_either_process_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Some rounds over one store."""
    kill_rounds(tmp_path / "s", rounds=4, seed=1)


@pytest.mark.slow
def test_fifty_rounds_of_kill(tmp_path: Path) -> None:
    """The same, often."""
    kill_rounds(tmp_path / "s", rounds=50, seed=2)


def test_serving_goes_on_while_the_store_process_is_started_again(tmp_path: Path) -> None:
    """It is not ready meanwhile, yet acknowledges; then all is stored and it is ready again."""
    with serve(tmp_path / "s") as served:
        load = Load(served.http, 1)
        load.start()
        time.sleep(0.3)
        before = store_process(served)
        os.kill(before, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while requests.get(f"{served.http}/readyz", timeout=9).status_code == 200:
            assert time.monotonic() < deadline
        while requests.get(f"{served.http}/readyz", timeout=9).status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert store_process(served) != before
        load.stopping.set()
        load.join(15)
        assert served.stop() == 0
    assert span_counts(tmp_path / "s") == dict.fromkeys(load.acknowledged, 2)


def test_a_stop_takes_no_longer_than_allowed(tmp_path: Path) -> None:
    """Even if storing hangs; the journal keeps what is left."""
    with serve(tmp_path / "s", "--shutdown-timeout", "1") as served:
        os.kill(store_process(served), signal.SIGSTOP)
        body = traces_request((1, 1), (1, 2)).SerializeToString()
        assert requests.post(f"{served.http}/v1/traces", body, headers=HEADERS, timeout=9).ok
        begun = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - begun < 15
    assert span_counts(tmp_path / "s") == {1: 2}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(mount)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a tmpfs")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=False)


def test_a_full_disk_is_503_and_the_store_is_readable_after(small_disk: Path) -> None:
    """Requests are refused while it is full; once there is room all goes on, nothing is lost."""
    filler = small_disk / "filler"
    filler.write_bytes(bytes(6 << 20))
    with serve(small_disk / "s") as served:
        load = Load(served.http, 1)
        load.padding = 100_000
        load.start()
        deadline = time.monotonic() + 60
        while load.refusals < 5:
            assert load.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        load.padding = 10
        filler.unlink()
        # Room for the database too: while nothing can be stored, requests are refused.
        remount = ["mount", "-o", "remount,size=200m", str(small_disk)]
        subprocess.run(remount, check=True)
        full = len(load.acknowledged)
        deadline = time.monotonic() + 60
        while len(load.acknowledged) < full + 5:
            assert load.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        load.stopping.set()
        load.join(15)
        served.stop()
    found = span_counts(small_disk / "s")
    assert load.acknowledged - set(found) == set()
    assert set(found.values()) == {2}
