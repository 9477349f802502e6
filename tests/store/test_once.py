"""Nothing is stored twice."""

from __future__ import annotations

from pathlib import Path

from dbagenteval.store import Store
from tests.store.requests import logs_request, traces_request


def load(store: Store, *requests: tuple[str, object]) -> tuple[int, int]:
    applied = store.load((signal, r.SerializeToString()) for signal, r in requests)
    return applied.spans, applied.duplicate_spans


def ids(store: Store) -> list[tuple[int, list[int]]]:
    return [
        (int(trace.trace_id, 16), [int(span.span_id, 16) for span in trace.spans])
        for trace in store.otel_traces()
    ]


def test_same_ids_are_stored_once(tmp_path: Path) -> None:
    """A span sent twice is stored once: in one request, one batch, a later one, after reopening."""
    request = "traces", traces_request((1, 1), (1, 2), (1, 1))
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        assert load(store, request, request) == (2, 4)
        assert load(store, request) == (0, 3)
    with Store.open(tmp_path / "s", write=True) as store:
        assert load(store, request) == (0, 3)
        assert ids(store) == [(1, [1, 2])]
        assert store.stats().spans == 2


def test_same_span_id_in_another_trace_is_another_span(tmp_path: Path) -> None:
    """Only trace id and span id together name a span."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        assert load(store, ("traces", traces_request((1, 1), (2, 1)))) == (2, 0)
        assert load(store, ("traces", traces_request((3, 1), (1, 1)))) == (1, 1)
        assert sorted(ids(store)) == [(1, [1]), (2, [1]), (3, [1])]


def test_second_version_of_a_span_far_away_in_time_is_found(tmp_path: Path) -> None:
    """The same ids with another start time are still the same span; the first one stays."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        load(store, ("traces", traces_request((1, 1), start_ns=10**18)))
        load(store, ("traces", traces_request((9, 9), start_ns=5 * 10**17)))
        assert load(store, ("traces", traces_request((1, 1), start_ns=3 * 10**17))) == (0, 1)
        (first,) = store.otel_traces(trace_ids=[f"{1:032x}"])
        assert first.spans[0].start_ns == 10**18


def test_events_and_links_of_a_repeated_span_are_not_doubled(tmp_path: Path) -> None:
    """Parts of a span go with it."""
    request = traces_request((1, 1), (1, 2), (1, 1))
    for span in request.resource_spans[0].scope_spans[0].spans:
        span.events.add(name=f"event of {span.name}", time_unix_nano=1)
        span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8)
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        load(store, ("traces", request), ("traces", request))
        (trace,) = store.otel_traces()
    assert [[event.name for event in span.events] for span in trace.spans] == [
        ["event of span 1"],
        ["event of span 2"],
    ]
    assert [len(span.links) for span in trace.spans] == [1, 1]


def test_a_logs_request_sent_again_is_stored_once(tmp_path: Path) -> None:
    """An exporter's second try, byte for byte the same, adds no log records."""
    first, other = logs_request((1, 1), (0, 0)), logs_request((1, 1), text="other")
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        load(store, ("logs", first), ("logs", first), ("logs", other))
        load(store, ("logs", first))
        assert store.stats().logs == 3


def test_a_trace_is_the_same_in_any_order_of_arrival(tmp_path: Path) -> None:
    """Spans spread over requests and batches give one trace, by start time."""
    parts = [traces_request((1, number), start_ns=10**18 + number) for number in (3, 1, 4, 2)]
    with Store.open(tmp_path / "a", write=True, create=True) as store:
        load(store, *(("traces", part) for part in parts))
        together = list(store.otel_traces())
    with Store.open(tmp_path / "b", write=True, create=True) as store:
        for part in reversed(parts):
            load(store, ("traces", part))
        apart = list(store.otel_traces())
    assert together == apart
    assert [span.name for span in apart[0].spans] == ["span 1", "span 2", "span 3", "span 4"]
