"""Bodies over gRPC don't tell their size: as many are read at a time as fit into memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import grpc
import pytest

from dbagenteval.errors import Overloaded
from dbagenteval.receiver import Limits, body_reads
from dbagenteval.receiver.body_reads import BodyReads
from tests.receiver.running import METHODS, running
from tests.store.requests import traces_request

BODY = traces_request((1, 1)).SerializeToString()
TWO_PLACES = Limits(max_request_bytes=1 << 20, max_inflight_bytes=4 << 20)


class Bodies:
    """Bodies that arrive when they are told to."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.under_way = 0
        self.most = 0

    async def one(self) -> bytes:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.arrived.wait()
        finally:
            self.under_way -= 1
        return b"body"


def test_the_others_wait_for_a_place() -> None:
    """Two fit; five are read in the end, never more than two at a time."""

    async def run() -> None:
        reads, bodies = BodyReads(TWO_PLACES), Bodies()
        tasks = [asyncio.ensure_future(reads.read(bodies.one())) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert bodies.under_way == 2
        bodies.arrived.set()
        assert await asyncio.gather(*tasks) == [b"body"] * 5
        assert bodies.most == 2

    asyncio.run(run())


def test_who_waits_in_vain_displaces_the_slowest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are told to try again; the younger one goes on, and there is a place for the next."""
    monkeypatch.setattr(body_reads, "_PATIENCE_S", 0.1)

    async def run() -> None:
        reads, slow, quick = BodyReads(TWO_PLACES), Bodies(), Bodies()
        oldest = asyncio.ensure_future(reads.read(slow.one()))
        await asyncio.sleep(0.05)
        younger = asyncio.ensure_future(reads.read(slow.one()))
        await asyncio.sleep(0)
        waiting = asyncio.ensure_future(reads.read(slow.one()))
        with pytest.raises(Overloaded):
            await waiting
        with pytest.raises(Overloaded):
            await oldest
        quick.arrived.set()
        assert await reads.read(quick.one()) == b"body"
        slow.arrived.set()
        assert await younger == b"body"

    asyncio.run(run())


def test_a_body_that_has_just_begun_is_not_displaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """It only looks slow to the one that waits."""
    monkeypatch.setattr(body_reads, "_PATIENCE_S", 0.1)

    async def run() -> None:
        reads, slow = BodyReads(TWO_PLACES), Bodies()
        tasks = [asyncio.ensure_future(reads.read(slow.one())) for _ in range(2)]
        await asyncio.sleep(0)
        reads._started = {task: found + 9 for task, found in reads._started.items()}
        with pytest.raises(Overloaded):
            await reads.read(slow.one())
        slow.arrived.set()
        assert await asyncio.gather(*tasks) == [b"body"] * 2

    asyncio.run(run())


def test_a_read_that_is_cancelled_gives_its_place_back() -> None:
    """A client that goes away, while it waits or sends."""

    async def run() -> None:
        reads, slow, quick = BodyReads(TWO_PLACES), Bodies(), Bodies()
        tasks = [asyncio.ensure_future(reads.read(slow.one())) for _ in range(4)]
        await asyncio.sleep(0.02)
        for task in tasks:
            task.cancel()
        assert all(
            isinstance(found, asyncio.CancelledError)
            for found in await asyncio.gather(*tasks, return_exceptions=True)
        )
        quick.arrived.set()
        assert await asyncio.gather(*(reads.read(quick.one()) for _ in range(2))) == [b"body"] * 2

    asyncio.run(run())


def test_clients_that_hang_shut_nobody_out_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real connections: UNAVAILABLE with the time to wait, then the export is taken."""
    monkeypatch.setattr(body_reads, "_PATIENCE_S", 0.2)
    over = threading.Event()

    def never() -> Iterator[bytes]:
        over.wait(30)
        yield from ()

    with running(limits=TWO_PLACES) as receiver, grpc.insecure_channel(receiver.grpc) as channel:
        hung = [channel.stream_unary(METHODS["traces"]).future(never()) for _ in range(2)]
        while receiver.receiver.ingest.metrics().count("inflight_requests 2") == 0:
            over.wait(0.01)
        over.wait(0.3)
        with pytest.raises(grpc.RpcError) as caught:
            receiver.call(BODY)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "google.rpc.retryinfo-bin" in dict(caught.value.trailing_metadata())
        receiver.call(BODY)
        assert [call.code() for call in hung if call.done()] == [grpc.StatusCode.UNAVAILABLE]
        over.set()
