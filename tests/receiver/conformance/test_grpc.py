"""Checklist items 57 to 66: OTLP/gRPC."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from dbagenteval.errors import Overloaded
from dbagenteval.receiver import Address, Limits, ReceiverConfig
from tests.receiver.running import METHODS, Running, running
from tests.store.requests import logs_request, traces_request

BODY = traces_request((1, 1), (1, 2)).SerializeToString()


def refused(receiver: Running, body: bytes, **more: object) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as caught:
        receiver.call(body, **more)
    return caught.value


def details(error: grpc.RpcError) -> Status:
    trailing = dict(error.trailing_metadata())
    return Status.FromString(trailing["grpc-status-details-bin"])


def test_item_57_three_services_and_no_other(receiver: Running) -> None:
    assert ReceiverConfig().grpc == Address("127.0.0.1", 4317)
    assert receiver.call(BODY) == b""
    assert receiver.call(logs_request((1, 1)).SerializeToString(), "logs") == b""
    assert receiver.call(b"", "metrics") == b""
    assert [signal for signal, _ in receiver.sink.requests] == ["traces", "logs"]
    with grpc.insecure_channel(receiver.grpc) as channel:
        for method in ("/opentelemetry.proto.x.Service/Export", METHODS["traces"] + "2"):
            with pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary(method)(b"", timeout=10)
            assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_item_58_empty_requests_succeed(receiver: Running) -> None:
    for signal in METHODS:
        assert receiver.call(b"", signal) == b""
    assert receiver.sink.requests == []


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.NoCompression])
def test_item_59_gzip_and_identity(receiver: Running, compression: grpc.Compression) -> None:
    body = traces_request(*[(1, number) for number in range(1, 500)]).SerializeToString()
    assert receiver.call(body, compression=compression) == b""
    assert receiver.sink.requests == [("traces", body)]


def test_item_60_over_the_limit_is_resource_exhausted_without_retry_info() -> None:
    with running(limits=Limits(max_request_bytes=1 << 20)) as receiver:
        for compression in (grpc.Compression.Gzip, grpc.Compression.NoCompression):
            error = refused(receiver, bytes(2 << 20), compression=compression)
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert "google.rpc.retryinfo-bin" not in dict(error.trailing_metadata())
        assert receiver.call(BODY) == b""


def test_item_61_malformed_messages_are_invalid_argument(receiver: Running) -> None:
    for body in (b"\xff\xff", BODY[:-1], logs_request((1, 1)).SerializeToString()):
        error = refused(receiver, body)
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "Traceback" not in error.details()
        packed = BadRequest()
        assert details(error).details[0].Unpack(packed)
        assert packed.field_violations[0].description


def test_item_62_overload_is_unavailable_with_retry_info_in_both_encodings(
    receiver: Running,
) -> None:
    receiver.sink.refusal = Overloaded("busy", retry_after_s=1.5)
    error = refused(receiver, BODY)
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    packed = RetryInfo()
    assert details(error).details[0].Unpack(packed)
    trailing = dict(error.trailing_metadata())
    other = RetryInfo.FromString(trailing["google.rpc.retryinfo-bin"])
    for found in (packed, other):
        assert (found.retry_delay.seconds, found.retry_delay.nanos) == (1, 500_000_000)


def test_item_64_concurrent_calls_on_one_channel_and_on_many(receiver: Running) -> None:
    with grpc.insecure_channel(receiver.grpc) as channel:
        call = channel.unary_unary(METHODS["traces"])
        futures = [
            call.future(traces_request((number, 1)).SerializeToString(), timeout=20)
            for number in range(1, 101)
        ]
        assert {future.result() for future in futures} == {b""}
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(receiver.call, [BODY] * 64)) == {b""}
    assert len(receiver.sink.requests) == 164


def test_item_64_the_limit_of_concurrent_calls_is_retryable() -> None:
    with running(limits=Limits(max_inflight_requests=1)) as receiver:
        receiver.sink.held = []
        thread = threading.Thread(target=receiver.call, args=(BODY,))
        thread.start()
        while not receiver.sink.held:
            time.sleep(0.01)
        error = refused(receiver, BODY)
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert "google.rpc.retryinfo-bin" in dict(error.trailing_metadata())
        receiver.sink.held[0].set_result(1)
        thread.join(10)


def test_item_65_keepalive_pings_do_not_close_the_channel(receiver: Running) -> None:
    options = [
        ("grpc.keepalive_time_ms", 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    with grpc.insecure_channel(receiver.grpc, options) as channel:
        states: list[grpc.ChannelConnectivity] = []
        assert channel.unary_unary(METHODS["traces"])(BODY, timeout=10) == b""
        channel.subscribe(states.append)
        time.sleep(3.5)
        assert channel.unary_unary(METHODS["traces"])(BODY, timeout=10) == b""
    assert grpc.ChannelConnectivity.TRANSIENT_FAILURE not in states
    assert states.count(grpc.ChannelConnectivity.CONNECTING) == 0


def test_item_65_the_age_of_connections_can_be_limited() -> None:
    """An old connection is closed without losing a call."""
    with running(max_connection_age_s=0.5) as receiver, grpc.insecure_channel(receiver.grpc) as ch:
        states: list[grpc.ChannelConnectivity] = []
        ch.subscribe(states.append)
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            assert ch.unary_unary(METHODS["traces"])(BODY, timeout=10, wait_for_ready=True) == b""
            time.sleep(0.1)
    assert states.count(grpc.ChannelConnectivity.READY) > 1


def test_item_66_health_check_and_watch(receiver: Running) -> None:
    serving = health_pb2.HealthCheckResponse.SERVING
    with grpc.insecure_channel(receiver.grpc) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest()
        assert stub.Check(request, timeout=10).status == serving
        name = METHODS["traces"].split("/")[1]
        assert stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10).status == serving
        watch = stub.Watch(request, timeout=20)
        assert next(watch).status == serving
        receiver.sink.problem_text = "the database can't commit"
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        receiver.sink.problem_text = None
        assert next(watch).status == serving
        watch.cancel()


def test_partial_success_over_grpc(receiver: Running) -> None:
    answer = receiver.call(traces_request((1, 1), (0, 2)).SerializeToString())
    partial = ExportTraceServiceResponse.FromString(answer).partial_success
    assert partial.rejected_spans == 1
    answer = receiver.call(logs_request((1, 1)).SerializeToString(), "logs")
    assert not ExportLogsServiceResponse.FromString(answer).HasField("partial_success")
