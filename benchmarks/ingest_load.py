"""The load generator of `ingest.py`: a process of its own that sends prepared requests.

`python ingest_load.py TARGET --profile genai --spans 200000` prints one JSON object: requests,
spans, seconds, latencies in milliseconds, refusals. TARGET is `grpc://HOST:PORT` or
`http://HOST:PORT/v1/traces`. Bodies are built before the clock starts (`--lazily`: as they
are sent, for more than fit into memory); one request is under way on each connection.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import http.client
import json
import random
import re
import struct
import threading
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS_PER_REQUEST = 512
WORDS = [
    "revenue",
    "region",
    "quarter",
    "orders",
    "customers",
    "churned",
    "segment",
    "enterprise",
    "monthly",
    "growth",
    "invoice",
    "payment",
    "pending",
    "shipped",
    "warehouse",
    "supplier",
    "inventory",
    "filter",
    "tenant",
    "between",
    "group",
    "descending",
    "schema",
    "query",
    "joins",
    "tables",
    "foreign",
    "key",
    "aggregates",
    "increase",
    "seasonal",
    "excluding",
    "internal",
    "rows",
]
MODELS = ["gpt-4o-2024-08-06", "claude-sonnet-4-5", "gemini-2.5-pro", "llama-3.3-70b"]
SALT = b"\xf0\x9f\xe1\xa7\xd3\xb5\xc9\x8b"
"""Every trace id starts with it; replacing it in a body gives new traces."""

TIME = struct.Struct("<Q")


class Spans:
    """Endless traces of 7 to 12 spans; half of the spans carry a text of 2 to 4 KB (genai)."""

    def __init__(self, profile: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.small = profile == "small"
        self.traces = 0
        self.spans = 0
        self.started_ns = self.now_ns = 1_790_000_000_000_000_000
        self.waiting: list[tuple[bytes, bytes, bytes, int, list[tuple[str, Any]]]] = []

    def text(self, size: int) -> str:
        words = []
        while size > 0:
            words.append(self.random.choice(WORDS))
            size -= len(words[-1]) + 1
        return " ".join(words)

    def attributes(self, number: int, conversation: str) -> list[tuple[str, Any]]:
        pick = self.random
        found: list[tuple[str, Any]] = [
            ("gen_ai.operation.name", "chat" if number % 2 else "execute_tool"),
            ("gen_ai.conversation.id", conversation),
            ("tenant.id", f"t-{pick.randint(1, 40)}"),
            ("step", number),
            ("ok", True),
        ]
        if self.small:
            return found
        found += [
            ("gen_ai.provider.name", "openai"),
            ("gen_ai.agent.name", "sql_analyst"),
            ("gen_ai.request.model", pick.choice(MODELS)),
            ("gen_ai.request.temperature", 0.1),
            ("gen_ai.usage.input_tokens", pick.randint(500, 4000)),
            ("gen_ai.usage.output_tokens", pick.randint(20, 800)),
            ("gen_ai.response.finish_reasons", ["stop"]),
            ("enduser.id", f"user-{pick.randint(1, 5000)}"),
            ("code.function.name", "agent.tools.run_sql"),
            ("thread.id", 140230 + pick.randint(0, 9)),
            ("db.query.text", f"SELECT {self.text(120)} FROM orders WHERE id = {number}"),
        ]
        if number % 2:
            found.append(("gen_ai.input.messages", self.text(pick.randint(2000, 4000))))
        else:
            found.append(("gen_ai.tool.name", "run_sql"))
        return found

    def add_trace(self) -> None:
        self.traces += 1
        trace_id = SALT + struct.pack(">Q", self.traces)
        conversation = f"conv-{self.random.getrandbits(64):016x}"
        root = b""
        self.now_ns += 25_000_000
        for number in range(self.random.randint(7, 12)):
            self.spans += 1
            span_id = struct.pack(">Q", self.spans)
            attributes = self.attributes(number, conversation)
            self.waiting.append((trace_id, span_id, root, self.now_ns + number, attributes))
            root = root or span_id

    def body(self) -> bytes:
        """One request of `SPANS_PER_REQUEST` spans."""
        while len(self.waiting) < SPANS_PER_REQUEST:
            self.add_trace()
        taken = self.waiting[:SPANS_PER_REQUEST]
        self.waiting = self.waiting[SPANS_PER_REQUEST:]
        request = ExportTraceServiceRequest()
        of_resource = request.resource_spans.add()
        put(of_resource.resource.attributes, [("service.name", "sql-analyst"), ("host", "pod-7")])
        of_scope = of_resource.scope_spans.add()
        of_scope.scope.name = "instrumentation.agent"
        for trace_id, span_id, parent, start_ns, attributes in taken:
            span = of_scope.spans.add(
                trace_id=trace_id,
                span_id=span_id,
                parent_span_id=parent,
                name="chat",
                kind=3,
                start_time_unix_nano=start_ns,
                end_time_unix_nano=start_ns + 1_000_000,
            )
            put(span.attributes, attributes)
        return request.SerializeToString()


def put(target: Any, attributes: list[tuple[str, Any]]) -> None:
    for key, content in attributes:
        value = target.add(key=key).value
        if isinstance(content, bool):
            value.bool_value = content
        elif isinstance(content, int):
            value.int_value = content
        elif isinstance(content, float):
            value.double_value = content
        elif isinstance(content, str):
            value.string_value = content
        else:
            for item in content:
                value.array_value.values.add().string_value = item


def as_json(body: bytes) -> bytes:
    message = ExportTraceServiceRequest.FromString(body)
    document = MessageToDict(message, use_integers_for_enums=True)
    for of_resource in document["resourceSpans"]:
        for of_scope in of_resource["scopeSpans"]:
            for span in of_scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return json.dumps(document, separators=(",", ":")).encode()


class Bodies:
    """The bodies to send: some made, the others copies of them with other trace ids and times."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        spans = Spans(options.profile, options.seed)
        self.count = -(-options.spans // SPANS_PER_REQUEST)
        self.made = [spans.body() for _ in range(min(self.count, 32))]
        self.times = [times_in(body, spans.started_ns) for body in self.made]
        self.round_ns = spans.now_ns - spans.started_ns
        if options.json:
            self.made = [as_json(body) for body in self.made]

    def __len__(self) -> int:
        return self.count

    def body(self, index: int) -> bytes:
        number, which = divmod(index, len(self.made))
        salt = SALT[:3] + bytes([self.options.seed & 0xFF]) + struct.pack(">I", number)
        if self.options.json:
            return self.made[which].replace(SALT.hex().encode(), salt.hex().encode())
        body = bytearray(self.made[which].replace(SALT, salt))
        for offset, time_ns in self.times[which]:
            TIME.pack_into(body, offset, time_ns + number * self.round_ns)
        return gzip.compress(body, 1) if self.options.gzip else bytes(body)

    def __iter__(self) -> Iterator[bytes]:
        return (self.body(index) for index in range(self.count))


def times_in(body: bytes, from_ns: int) -> list[tuple[int, int]]:
    """Find the start and end times in a body: their tags, and the years of no other field."""
    found = []
    for match in re.finditer(rb"[\x39\x41](?=(.{8}))", body, re.DOTALL):
        (time_ns,) = TIME.unpack(match[1])
        if from_ns <= time_ns < from_ns + 10**15:
            found.append((match.end(), time_ns))
    return found


class GrpcSender:
    def __init__(self, address: str, _: argparse.Namespace) -> None:
        channel_options = [("grpc.use_local_subchannel_pool", 1)]
        self.call = grpc.insecure_channel(address, channel_options).unary_unary(METHOD)

    def send(self, body: bytes) -> str:
        try:
            self.call(body, timeout=60)
        except grpc.RpcError as error:
            return error.code().name
        return ""


class HttpSender:
    def __init__(self, target: str, options: argparse.Namespace) -> None:
        url = urllib.parse.urlsplit(target)
        self.path = url.path
        self.connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)
        kind = "application/json" if options.json else "application/x-protobuf"
        self.headers = {"Content-Type": kind}
        if options.gzip:
            self.headers["Content-Encoding"] = "gzip"
        self.headers.update(header.split("=", 1) for header in options.header)

    def send(self, body: bytes) -> str:
        self.connection.request("POST", self.path, body, self.headers)
        response = self.connection.getresponse()
        response.read()
        return "" if response.status == 200 else str(response.status)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Send everything and measure."""
    bodies = Bodies(options)
    todo = enumerate(bodies if options.lazily else list(bodies))
    lock = threading.Lock()
    latencies: list[float] = []
    refusals: dict[str, int] = {}
    interval_s = SPANS_PER_REQUEST / options.rate if options.rate else 0.0
    ready = threading.Barrier(options.connections + 1)
    started = [0.0]
    size = [0]

    def work(_: int) -> None:
        address = options.target.removeprefix("grpc://")
        is_grpc = options.target.startswith("grpc://")
        sender = GrpcSender(address, options) if is_grpc else HttpSender(options.target, options)
        ready.wait()
        while True:
            with lock:
                number, body = next(todo, (0, b""))
            if not body:
                return
            size[0] += len(body)
            due = started[0] + number * interval_s
            time.sleep(max(0.0, due - time.perf_counter()))
            while True:
                begun = time.perf_counter()
                refusal = sender.send(body)
                if not refusal:
                    latencies.append(time.perf_counter() - begun)
                    break
                refusals[refusal] = refusals.get(refusal, 0) + 1
                time.sleep(0.2)

    with ThreadPoolExecutor(options.connections) as pool:
        jobs = [pool.submit(work, number) for number in range(options.connections)]
        started[0] = time.perf_counter()
        clock = time.time()
        ready.wait()
        for job in jobs:
            job.result()
        seconds = time.perf_counter() - started[0]
    latencies.sort()
    return {
        "spans": len(bodies) * SPANS_PER_REQUEST,
        "bytes_per_span": size[0] / len(bodies) / SPANS_PER_REQUEST,
        "started": clock,
        "seconds": seconds,
        "p50_ms": 1e3 * latencies[len(latencies) // 2],
        "p99_ms": 1e3 * latencies[min(len(latencies) - 1, int(len(latencies) * 0.99))],
        "refusals": refusals,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--profile", choices=["genai", "small"], default="genai")
    parser.add_argument("--spans", type=int, default=200_000)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--header", action="append", default=[], help="NAME=VALUE, for HTTP")
    parser.add_argument("--lazily", action="store_true", help="make bodies as they are sent")
    parser.add_argument("--rate", type=float, default=0.0, help="spans a second; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    print(json.dumps(run(parser.parse_args())))


if __name__ == "__main__":
    main()
