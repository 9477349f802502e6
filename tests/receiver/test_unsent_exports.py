"""gRPC exports whose request never comes: nothing of it is read before it is let in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from dbagenteval.receiver import Limits, Tokens
from tests.receiver.running import METHODS, running
from tests.store.requests import traces_request

BODY = traces_request((1, 1)).SerializeToString()


def export(
    address: str, requests: Iterator[bytes], metadata: tuple[tuple[str, str], ...] = ()
) -> grpc.StatusCode:
    """Call the method as a stream, which is the same on the wire, and give the status."""
    with grpc.insecure_channel(address) as channel:
        call = channel.stream_unary(METHODS["traces"])
        try:
            call(requests, timeout=30, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK


@pytest.fixture
def never() -> Iterator[Iterator[bytes]]:
    """A request that doesn't come while the test runs."""
    over = threading.Event()

    def requests() -> Iterator[bytes]:
        over.wait(60)
        yield from ()

    yield requests()
    over.set()


def test_a_stranger_is_refused_before_the_body(tmp_path: Path, never: Iterator[bytes]) -> None:
    """Without a token nobody makes the receiver hold anything."""
    tokens = tmp_path / "tokens"
    tokens.write_text("secret-token\n")
    tokens.chmod(0o600)
    with running(tokens=Tokens(tokens, {})) as receiver:
        wrong = (("authorization", "Bearer guessed"),)
        assert export(receiver.grpc, never, wrong) is grpc.StatusCode.UNAUTHENTICATED
        right = (("authorization", "Bearer secret-token"),)
        assert export(receiver.grpc, iter([BODY]), right) is grpc.StatusCode.OK


def test_a_body_that_does_not_come_times_out(never: Iterator[bytes]) -> None:
    """It holds its place among the exports under way no longer than a body may pause."""
    with running(limits=Limits(body_timeout_s=0.3, max_inflight_requests=1)) as receiver:
        assert export(receiver.grpc, never) is grpc.StatusCode.DEADLINE_EXCEEDED
        assert export(receiver.grpc, iter([BODY])) is grpc.StatusCode.OK


def test_a_call_without_a_request_is_refused() -> None:
    """It is the client's mistake."""
    with running() as receiver:
        assert export(receiver.grpc, iter([])) is grpc.StatusCode.INVALID_ARGUMENT
        assert receiver.sink.requests == []
