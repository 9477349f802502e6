"""What the service says to requests that can't be right: INVALID_ARGUMENT, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import grpc
import pytest

from dbagenteval.rpc.messages import SERVICE, message
from tests.receiver.serving import serve

Call = Callable[[str, bytes], tuple[str, str]]
METHODS = ["ListTraces", "GetTrace", "ExportTraces", "Score", "ReadOtelTraces", "StoreStats"]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Send bytes to a method on the receiver's port; gives code and text."""
    folder = tmp_path_factory.mktemp("rpc")
    with (
        serve(folder / "s") as served,
        grpc.insecure_channel(served.grpc.removeprefix("http://")) as channel,
    ):

        def send(method: str, body: bytes) -> tuple[str, str]:
            try:
                list(channel.unary_stream(f"/{SERVICE}/{method}")(body, timeout=30))
            except grpc.RpcError as error:
                return error.code().name, error.details()
            return "OK", ""

        yield send


@pytest.mark.parametrize("method", METHODS)
def test_bytes_that_are_no_message(call: Call, method: str) -> None:
    assert call(method, b"\xff\xff") == ("INVALID_ARGUMENT", f"the body is no {method}Request")


@pytest.mark.parametrize("trace_id", ["", "5", "x" * 32, "5" * 31 + " ", "é" * 32, "5" * 100_000])
def test_ids_that_no_trace_can_have(call: Call, trace_id: str) -> None:
    code, text = call("GetTrace", message("GetTraceRequest")(trace_id=trace_id).SerializeToString())
    assert code == "INVALID_ARGUMENT"
    assert text.endswith("expected 32 hex digits")
    assert len(text) < 300


def test_an_id_that_is_not_there(call: Call) -> None:
    request = message("GetTraceRequest")(trace_id="A" * 32)
    assert call("GetTrace", request.SerializeToString()) == ("NOT_FOUND", "no such trace")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ("", "Expecting value"),
        ("[]", "expected a JSON object"),
        ("null", "expected a JSON object"),
        ("[" * 100_000, "recursion"),
        ("{}", "missing 'question'"),
        (json.dumps({"question": "q", "wanted": 1}), "unknown field(s) ['wanted']"),
    ],
)
def test_cases_that_are_none(call: Call, fields: str, text: str) -> None:
    """The faulty one is told by its number."""
    request = message("ScoreRequest")()
    request.cases.add(fields_json='{"question": "q"}')
    request.cases.add(fields_json=fields)
    code, details = call("Score", request.SerializeToString())
    assert code == "INVALID_ARGUMENT"
    assert details.startswith("case 2: ")
    assert text in details


@pytest.mark.parametrize("method", ["ListTraces", "ExportTraces", "ReadOtelTraces", "Score"])
@pytest.mark.parametrize(
    "limits",
    [
        {"since_ns": 2**64 - 1, "until_ns": 0},
        {"service": "'; DROP TABLE spans; --\x00"},
        {"service": "x" * 5_000_000},
    ],
)
def test_filters_of_any_size_find_nothing(
    call: Call, method: str, limits: dict[str, object]
) -> None:
    request = message(f"{method}Request")(filter=message("TraceFilter")(**limits))
    assert call(method, request.SerializeToString()) == ("OK", "")
