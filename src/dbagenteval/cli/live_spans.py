"""The spans of a live agent: an embedded receiver with a store, and the process's own."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from dbagenteval.receiver import Receiver, ReceiverConfig, check_addresses, parse_address
from dbagenteval.store import Store
from dbagenteval.suite.span_source import CallContext

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.otlp import OtelTrace

__all__ = ["OwnSpans", "ReceivedSpans", "case_ids_of", "receiving", "traced_in_process"]

_POLL_S = 0.2
_MAX_SPANS = 100_000
_CLOCK_NS = 50_000_000
"""Clocks of some SDKs tell milliseconds only."""
_SETTLE_S = 1.5
"""The last spans of a turn may be exported after its root; most exporters wait a second."""


def case_ids_of(cases: list[Case]) -> dict[str, str]:
    """Give the case id of each question that only one case asks."""
    found: dict[str, set[str]] = {}
    for case in cases:
        for turn in case.each_turn():
            found.setdefault(turn.question, set()).add(turn.id or "")
    return {question: ids.pop() for question, ids in found.items() if len(ids) == 1}


class ReceivedSpans:
    """Spans that a service exports to the embedded receiver.

    Args:
        store: Where the receiver puts them.
        endpoints: Where it listens, for a person.
        wait_s: How long to wait for the spans of a question.
        is_alone: True if one question is asked at a time.
    """

    def __init__(self, store: Store, endpoints: str, wait_s: float, *, is_alone: bool) -> None:
        self._store = store
        self._endpoints = endpoints
        self._wait_s = wait_s
        self.is_alone = is_alone
        self.asked = 0
        self._silent: set[str] = set()
        self._is_linked = True

    @property
    def silent(self) -> int:
        """Give the number of questions of which no span came."""
        return len(self._silent)

    def spans_of(self, call: CallContext) -> list[OtelTrace]:
        """Wait until the span of the request has come, and nothing more after it.

        A service that did not continue a request's trace before is waited for by its other traces.
        """
        until = time.monotonic() + self._wait_s
        seen, since = 0, time.monotonic()
        groups: list[OtelTrace] = []
        while True:
            self._store.flush()
            groups = list(self._store.otel_traces(trace_ids=[call.trace_id]))
            others = [] if self._is_linked else self._others_of(call)
            now = time.monotonic()
            count = sum(len(group.spans) + len(group.logs) for group in [*groups, *others])
            if count != seen:
                seen, since = count, now
            has_root = bool(others) or any(
                span.parent_span_id == call.span_id for group in groups for span in group.spans
            )
            if (has_root and now - since >= _SETTLE_S) or now >= until:
                self.asked += 1
                if not groups:
                    self._silent.add(call.trace_id)
                return groups
            time.sleep(_POLL_S)

    def others_of(self, call: CallContext) -> list[OtelTrace]:
        """Give the traces that began since a question was asked and are not that of the call."""
        others = self._others_of(call)
        if others:
            self._is_linked = False
            self._silent.discard(call.trace_id)
        return others

    def _others_of(self, call: CallContext) -> list[OtelTrace]:
        began = self._store.otel_traces(since_ns=call.asked_ns - _CLOCK_NS)
        return [group for group in began if group.trace_id not in ("", call.trace_id)]

    def why_none(self) -> str:
        """Say what a service must do."""
        return (
            f"no span of this question came within {self._wait_s:g} s: let the service export "
            f"OTLP to {self._endpoints} and continue the trace of the request (`dbagenteval "
            "instrument` and the instrumentation of its HTTP framework do both)"
        )


class OwnSpans(SpanProcessor):
    """Spans that an agent in this process emits."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Of other traces than those of calls, some must be let go.
        self._ended: deque[ReadableSpan] = deque(maxlen=_MAX_SPANS)
        self._lock = threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span until the question is answered."""
        with self._lock:
            self._ended.append(span)

    def spans_of(self, call: CallContext) -> list[OtelTrace]:
        """Give what was emitted for the call; spans of other calls wait for theirs."""
        trace_id = int(call.trace_id, 16)
        with self._lock:
            ours = [span for span in self._ended if _trace_id(span) == trace_id]
            left = [span for span in self._ended if _trace_id(span) != trace_id]
            self._ended = deque(left, maxlen=_MAX_SPANS)
        if not ours:
            return []
        self._store.append("traces", encode_spans(ours).SerializeToString()).result()
        self._store.flush()
        return list(self._store.otel_traces(trace_ids=[call.trace_id]))

    def why_none(self) -> str:
        """Say why there may be none."""
        return "the agent emitted no span for this question"


def _trace_id(span: ReadableSpan) -> int:
    return span.context.trace_id if span.context is not None else 0


@contextmanager
def _store(directory: str | None) -> Iterator[Store]:
    """Open the store that is to be kept, or one for this run only."""
    if directory is not None:
        with Store.open(directory, write=True, create=True) as store:
            yield store
        return
    with (
        tempfile.TemporaryDirectory(prefix="dbagenteval-") as folder,
        Store.open(Path(folder) / "store", write=True, create=True) as store,
    ):
        yield store


@contextmanager
def receiving(
    *, grpc: str, http: str, directory: str | None, wait_s: float, is_alone: bool
) -> Iterator[ReceivedSpans]:
    """Receive spans while the block runs.

    Raises:
        UserError: An address is in use or malformed.
        StoreError: The store can't be opened.
    """
    config = ReceiverConfig(grpc=parse_address(grpc), http=parse_address(http))
    check_addresses(config)
    with _store(directory) as store:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="receiver", daemon=True)
        thread.start()
        receiver = Receiver(store, config)
        try:
            asyncio.run_coroutine_threadsafe(receiver.start(), loop).result()
            endpoints = f"http://{receiver.http_address} or gRPC http://{receiver.grpc_address}"
            yield ReceivedSpans(store, endpoints, wait_s, is_alone=is_alone)
            asyncio.run_coroutine_threadsafe(receiver.stop(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


@contextmanager
def traced_in_process(
    agent: Callable[..., Any], case_ids: Mapping[str, str], provider: Any, directory: str | None
) -> Iterator[Callable[..., Any]]:
    """Read the spans of an in-process agent from the SDK that it has set up."""
    from dbagenteval.suite.traced_agent import traced

    with _store(directory) as store:
        spans = OwnSpans(store)
        provider.add_span_processor(spans)
        yield traced(agent, spans, case_ids)
