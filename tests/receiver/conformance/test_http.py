"""Checklist items 45 to 55: how the HTTP server behaves."""

from __future__ import annotations

import re
import threading
import time

import pytest
import requests

from dbagenteval.errors import (
    Forbidden,
    MalformedRequest,
    Overloaded,
    RequestTooLarge,
    Unauthenticated,
    UnsupportedMediaType,
)
from dbagenteval.otlp.status import outcome_of
from dbagenteval.receiver import Limits
from tests.receiver.running import JSON, PROTOBUF, Running, running, status_of
from tests.store.requests import traces_request

BODY = traces_request((1, 1), (1, 2)).SerializeToString()


def raw_request(body: bytes, *headers: str) -> bytes:
    lines = ["POST /v1/traces HTTP/1.1", "Host: x", f"Content-Type: {PROTOBUF}", *headers]
    if not any(line.startswith(("Transfer-Encoding", "Content-Length")) for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_answers(connection: object, count: int) -> list[tuple[int, bytes]]:
    """Read whole answers from a raw connection."""
    data = b""
    found: list[tuple[int, bytes]] = []
    while len(found) < count:
        part = connection.recv(65536)  # type: ignore[attr-defined]
        assert part, "the connection was closed"
        data += part
        while b"\r\n\r\n" in data:
            head, _, rest = data.partition(b"\r\n\r\n")
            length = int(
                re.search(rb"(?i)content-length: (\d+)", head + b"\r\ncontent-length: 0")[1]
            )
            if len(rest) < length:
                break
            found.append((int(head.split()[1]), rest[:length]))
            data = rest[length:]
    return found


def test_item_45_connections_are_kept_after_success_and_after_errors(receiver: Running) -> None:
    with receiver.connect() as connection:
        codes = []
        for body in (BODY, b"\xff", BODY):
            connection.sendall(raw_request(body))
            codes.append(read_answers(connection, 1)[0][0])
        connection.sendall(raw_request(b"", "Content-Encoding: br"))
        codes.append(read_answers(connection, 1)[0][0])
        connection.sendall(raw_request(BODY))
        codes.append(read_answers(connection, 1)[0][0])
    assert codes == [200, 400, 200, 415, 200]


def test_item_46_expect_continue(receiver: Running) -> None:
    with receiver.connect() as connection:
        connection.sendall(raw_request(b"", "Expect: 100-continue", f"Content-Length: {len(BODY)}"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(BODY)
        assert read_answers(connection, 1)[0][0] == 200
    assert receiver.sink.span_ids() == [1, 2]


def test_item_46_chunked_bodies(receiver: Running) -> None:
    chunks = [BODY[start : start + 7] for start in range(0, len(BODY), 7)]
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    with receiver.connect() as connection:
        connection.sendall(raw_request(body, "Transfer-Encoding: chunked"))
        assert read_answers(connection, 1)[0][0] == 200
    assert receiver.sink.span_ids() == [1, 2]


@pytest.mark.parametrize(
    "start", [b"", b"POST /v1/traces HT", b"POST /v1/traces HTTP/1.1\r\nHost:"]
)
def test_item_47_slow_headers_are_cut_off(start: bytes) -> None:
    """From the first connection on, and after an answered request."""
    assert Limits().header_timeout_s == 60
    with running(limits=Limits(header_timeout_s=0.3)) as receiver:
        for answered in (False, True):
            with receiver.connect() as connection:
                if answered:
                    connection.sendall(raw_request(BODY))
                    assert read_answers(connection, 1)[0][0] == 200
                begun = time.monotonic()
                for byte in start:
                    connection.sendall(bytes([byte]))
                assert connection.recv(1000) == b""
                assert time.monotonic() - begun < 5


def test_item_47_slow_bodies_get_408() -> None:
    with running(limits=Limits(body_timeout_s=0.3)) as receiver, receiver.connect() as connection:
        connection.sendall(raw_request(BODY)[: -len(BODY) // 2])
        assert read_answers(connection, 1)[0][0] == 408


def test_item_48_parallel_and_pipelined_answers_do_not_mix(receiver: Running) -> None:
    """64 connections, each with pipelined good and bad requests, in order."""
    problems: list[object] = []

    def work(number: int) -> None:
        good = traces_request((number, 1)).SerializeToString()
        with receiver.connect() as connection:
            connection.sendall(raw_request(good) + raw_request(b"\xff") + raw_request(good))
            codes = [code for code, _ in read_answers(connection, 3)]
            if codes != [200, 400, 200]:
                problems.append(codes)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 65)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert problems == []
    assert len(receiver.sink.requests) == 128


@pytest.mark.parametrize(
    ("method", "path", "kind", "code"),
    [
        ("POST", "/v1/traces", PROTOBUF, 400),
        ("POST", "/v1/traces", JSON, 400),
        ("POST", "/nowhere", PROTOBUF, 404),
        ("POST", "/nowhere", JSON, 404),
        ("PUT", "/v1/traces", PROTOBUF, 405),
        ("POST", "/v1/traces", "text/plain", 415),
    ],
)
def test_items_50_and_51_every_error_has_a_status(
    receiver: Running, method: str, path: str, kind: str, code: int
) -> None:
    headers = {"Content-Type": kind}
    response = requests.request(
        method, receiver.http + path, data=b"\xff", headers=headers, timeout=9
    )
    assert response.status_code == code
    status = status_of(response)
    assert status.message
    assert status.code


def test_item_52_overload_is_503_with_retry_after(receiver: Running) -> None:
    receiver.sink.refusal = Overloaded("busy", retry_after_s=2.1)
    response = receiver.post(BODY)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "3")


def test_item_52_too_many_exports_at_once_are_told_to_come_back() -> None:
    with running(limits=Limits(max_inflight_requests=2)) as receiver:
        receiver.sink.held = []
        threads = [threading.Thread(target=receiver.post, args=(BODY,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(receiver.sink.held) < 2:
            time.sleep(0.01)
        assert receiver.post(BODY).status_code == 503
        for future in receiver.sink.held:
            future.set_result(1)
        for thread in threads:
            thread.join(10)
        receiver.sink.held = None
        assert receiver.post(BODY).status_code == 200


def test_item_53_only_temporary_faults_have_codes_that_are_retried() -> None:
    retried_http, retried_grpc = {429, 502, 503, 504}, {1, 4, 10, 11, 14, 15}
    permanent = [
        MalformedRequest(""),
        UnsupportedMediaType(""),
        RequestTooLarge(""),
        Unauthenticated(""),
        Forbidden(""),
    ]
    for error in permanent:
        assert outcome_of(error).http_status not in retried_http
        assert outcome_of(error).grpc_code not in retried_grpc
    assert outcome_of(Overloaded("")).http_status in retried_http
    assert outcome_of(Overloaded("")).grpc_code in retried_grpc
