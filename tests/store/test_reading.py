"""Traces are read in order, by filter, and without holding the store in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from dbagenteval.otlp.values import OtelTrace
from dbagenteval.store import Store, selection
from tests.store.requests import logs_request, traces_request

NS = 10**18


def numbers(traces: Iterable[OtelTrace]) -> list[int]:
    return [int(trace.trace_id or "0", 16) for trace in traces]


@pytest.fixture
def store(tmp_path: Path) -> Iterable[Store]:
    with Store.open(tmp_path / "s", write=True, create=True) as opened:
        opened.load(
            (signal, request.SerializeToString())
            for signal, request in [
                ("traces", traces_request((3, 1), service="web", start_ns=NS + 300)),
                ("traces", traces_request((1, 1), service="shop", start_ns=NS + 100)),
                ("traces", traces_request((2, 1), service="shop", start_ns=NS + 200)),
                ("traces", traces_request((3, 2), service="shop", start_ns=NS + 50)),
                ("logs", logs_request((2, 1), (2, 77), (4, 1), (0, 0), start_ns=NS + 250)),
            ]
        )
        yield opened


def test_traces_come_by_start(store: Store) -> None:
    """A trace starts with its earliest span, or its log records if it has no span; loose records
    come last."""
    assert numbers(store.otel_traces()) == [3, 1, 2, 4, 0]


def test_log_records_are_joined_by_trace_id(store: Store) -> None:
    """Also those of a span that is not there."""
    found = {trace.trace_id: trace for trace in store.otel_traces()}
    second = found[f"{2:032x}"]
    assert [(log.span_id, log.body) for log in second.logs] == [
        (f"{1:016x}", "log 0"),
        (f"{77:016x}", "log 1"),
    ]
    assert found[f"{4:032x}"].spans == ()
    assert [log.body for log in found[""].logs] == ["log 3"]
    assert found[""].logs[0].trace_id == ""


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"since_ns": NS + 100}, [1, 2, 4, 0]),
        ({"since_ns": NS + 101}, [2, 4, 0]),
        ({"until_ns": NS + 200}, [3, 1]),
        ({"since_ns": NS + 100, "until_ns": NS + 101}, [1]),
        ({"service": "web"}, [3]),
        ({"service": "nobody"}, []),
        ({"trace_ids": [f"{2:032X}", f"{1:032x}", "zz", "abc"]}, [1, 2]),
        ({"trace_ids": []}, []),
    ],
)
def test_filters(store: Store, filters: dict[str, object], expected: list[int]) -> None:
    """Time filters look at the start of the trace; a service filter gives the whole trace."""
    assert numbers(store.otel_traces(**filters)) == expected


def test_a_trace_found_by_service_is_whole(store: Store) -> None:
    """Spans of other services come along."""
    (trace,) = store.otel_traces(service="web")
    assert [span.resource["service.name"] for span in trace.spans] == ["shop", "web"]


def test_chunks_join_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading in chunks of any size gives each trace once, also very long ones."""
    hour = 3600 * 10**9
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(
            ("traces", request.SerializeToString())
            for number in range(1, 40)
            for request in [
                traces_request((number, 1), (number, 2), start_ns=NS + number * 10**9),
                traces_request((number, 3), start_ns=NS + number * 10**9 + number % 3 * hour),
            ]
        )
        whole = list(store.otel_traces())
        for traces, spans in [(1, 1), (7, 5), (16, 1000)]:
            monkeypatch.setattr(selection, "_CHUNK_TRACES", traces)
            monkeypatch.setattr(selection, "_CHUNK_ROWS", spans)
            assert list(store.otel_traces()) == whole
    assert numbers(whole) == list(range(1, 40))
    assert {len(trace.spans) for trace in whole} == {3}


def test_traces_that_overlap_are_read_from_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the same with all that belongs to them, and as messages too."""
    hour = 3600 * 10**9
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for number in range(1, 60):
            request = traces_request((number, 1), start_ns=NS + number)
            span = request.resource_spans[0].scope_spans[0].spans[0]
            span.events.add(name="exception", time_unix_nano=NS)
            span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8)
            late = traces_request((number, 2), start_ns=NS + number + hour)
            store.load(
                [
                    ("traces", request.SerializeToString()),
                    ("traces", late.SerializeToString()),
                    ("logs", logs_request((number, 1)).SerializeToString()),
                ]
            )
        whole, requests = list(store.otel_traces()), list(store.requests())
        windows: list[int] = []
        opened = selection.Selection._open_window
        monkeypatch.setattr(selection, "_SPREAD_ROWS", -1)
        monkeypatch.setattr(selection, "_SPREAD", 0)
        monkeypatch.setattr(selection, "_WINDOW_ROWS", 40)
        monkeypatch.setattr(selection, "_MAX_WINDOWS", 1000)
        monkeypatch.setattr(selection, "_CHUNK_ROWS", 12)
        monkeypatch.setattr(
            selection.Selection,
            "_open_window",
            lambda self, first: (windows.append(first), opened(self, first))[1],
        )
        assert list(store.otel_traces()) == whole
        assert len(windows) > 2
        spans = {
            span.span_id + span.trace_id
            for _, request in store.requests()
            for of_resource in getattr(request, "resource_spans", ())
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
        }
    assert len(spans) == 2 * 59
    assert numbers(whole) == list(range(1, 60))
    assert all(len(trace.spans) == 2 and len(trace.logs) == 1 for trace in whole)
    assert all(trace.spans[0].events and trace.spans[0].links for trace in whole)
    assert len(requests) >= 2


def test_loose_log_records_come_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, and each once."""
    monkeypatch.setattr(selection, "_CHUNK_LOGS", 10)
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load([("logs", logs_request(*[(0, 0)] * 25).SerializeToString())])
        found = list(store.otel_traces())
    assert [len(trace.logs) for trace in found] == [10, 10, 5]
    assert len({log.body for trace in found for log in trace.logs}) == 25


def test_stats(store: Store) -> None:
    """Counts, time range and services."""
    stats = store.stats()
    assert (stats.spans, stats.logs, stats.otel_traces) == (4, 4, 4)
    assert stats.services == ("shop", "web")
    assert (stats.first_start_ns, stats.last_end_ns) == (NS + 50, NS + 800)
    assert stats.bytes > 0


def test_an_abandoned_reading_leaves_the_store_usable(store: Store) -> None:
    """A reader that stops early holds nothing back."""
    for _ in range(3):
        next(iter(store.otel_traces()))
    store.load([("traces", traces_request((9, 9)).SerializeToString())])
    assert store.stats().spans == 5


def test_extreme_times_survive(tmp_path: Path) -> None:
    """Times beyond 63 bits, zero, and an end before the start are kept as sent."""
    request = traces_request((1, 1), (1, 2), (1, 3))
    spans = request.resource_spans[0].scope_spans[0].spans
    times = [(0, 0), (2**64 - 1, 2**64 - 1), (500, 20)]
    for span, (start, end) in zip(spans, times, strict=True):
        span.start_time_unix_nano, span.end_time_unix_nano = start, end
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load([("traces", request.SerializeToString())])
        (trace,) = store.otel_traces()
        assert store.stats().last_end_ns == 2**64 - 1
    assert [(span.start_ns, span.end_ns) for span in trace.spans] == sorted(times)
