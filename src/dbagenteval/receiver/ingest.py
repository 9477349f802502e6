"""What both protocols do with an export request: check it, make it safe, answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from dbagenteval.errors import ExportRefused, Overloaded
from dbagenteval.otlp.decode import JSON, Decoded, decode_json, decode_protobuf
from dbagenteval.otlp.redaction import Redactor
from dbagenteval.otlp.status import outcome_of
from dbagenteval.receiver.config import Limits
from dbagenteval.receiver.metrics import render_metrics

__all__ = ["Accepted", "Ingest", "SpanSink"]

_THREAD_BYTES = 256 << 10
"""Larger JSON bodies are decoded beside the event loop."""


class SpanSink(Protocol):
    """Where checked requests go."""

    def append(self, signal: str, body: bytes) -> Future[int]:
        """Add a request; done once it may be acknowledged.

        Raises:
            Overloaded: Not now; the exporter shall try again.
        """

    def problem(self) -> str | None:
        """Say why requests can't be stored at present, None if they can."""

    def gauges(self) -> Mapping[str, float]:
        """Give figures on its state by metric name."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An export that may be acknowledged: how many items were left out, and why."""

    rejected: int = 0
    message: str = ""


class Ingest:
    """Take export requests from any protocol and count them.

    Args:
        sink: Where they go.
        limits: What is taken.
        redactor: Replaces what must not be kept, before the sink sees it.
    """

    def __init__(self, sink: SpanSink, limits: Limits, redactor: Redactor | None = None) -> None:
        self._redactor = redactor
        self._sink = sink
        self.limits = limits
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.inflight_bytes = 0
        self._inflight_requests = 0

    def problem(self) -> str | None:
        """Say why the receiver isn't ready, None if it is."""
        return self._sink.problem()

    @property
    def bytes_taken(self) -> int:
        """How many bytes of requests were taken so far, of all signals."""
        return sum(count for key, count in self.counts.items() if key[0] == "bytes")

    def metrics(self) -> str:
        """Render all figures for Prometheus."""
        gauges = {
            **self._sink.gauges(),
            "dbagenteval_receiver_inflight_requests": float(self._inflight_requests),
            "dbagenteval_receiver_inflight_bytes": float(self.inflight_bytes),
            "dbagenteval_receiver_ready": float(self.problem() is None),
        }
        return render_metrics(self.counts, gauges)

    @contextmanager
    def admit(self) -> Iterator[_Admission]:
        """Account for one export while it is under way.

        Raises:
            Overloaded: Too many are.
        """
        if self._inflight_requests >= self.limits.max_inflight_requests:
            raise Overloaded("too many exports are under way")
        admission = _Admission(self)
        self._inflight_requests += 1
        try:
            yield admission
        finally:
            self._inflight_requests -= 1
            self.inflight_bytes -= admission.size

    def grow(self, size: int) -> None:
        """Account for bytes of a body.

        Raises:
            Overloaded: All bodies together are over the limit.
        """
        if self.inflight_bytes + size > self.limits.max_inflight_bytes:
            raise Overloaded("too many bytes are under way")
        self.inflight_bytes += size

    async def take(self, signal: str, body: bytes, media: str) -> Accepted:
        """Check a request, and give the answer once it is safe on disk.

        Args:
            signal: `traces`, `logs` or `metrics`; metrics are counted and ignored.
            body: The request, decompressed.
            media: `PROTOBUF` or `JSON`.

        Raises:
            ExportRefused: It can't be taken.
        """
        self.counts["bytes", signal] += len(body)
        if signal == "metrics":
            self.counts["requests", signal, "ignored"] += 1
            return Accepted()
        try:
            decoded = await _decode(signal, body, media)
            if decoded.accepted:
                kept = await self._redacted(signal, decoded.body)
                await asyncio.wrap_future(self._sink.append(signal, kept))
        except ExportRefused as error:
            self.refused(signal, error)
            raise
        self.counts["requests", signal, "accepted"] += 1
        self.counts["items", signal, "accepted"] += decoded.accepted
        self.counts["items", signal, "rejected"] += decoded.rejected
        return Accepted(decoded.rejected, decoded.message)

    async def _redacted(self, signal: str, body: bytes) -> bytes:
        if self._redactor is None:
            return body
        return await asyncio.to_thread(self._redactor.redact, signal, body)

    def refused(self, signal: str, error: ExportRefused) -> None:
        """Count a request that is answered with an error."""
        self.counts["requests", signal, f"refused_{outcome_of(error).http_status}"] += 1


class _Admission:
    """The share that one export has in what is under way."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self.size = 0

    def grow(self, size: int) -> None:
        self._ingest.grow(size)
        self.size += size


async def _decode(signal: str, body: bytes, media: str) -> Decoded:
    if media != JSON:
        return decode_protobuf(signal, body)
    if len(body) > _THREAD_BYTES:
        return await asyncio.to_thread(decode_json, signal, body)
    return decode_json(signal, body)
