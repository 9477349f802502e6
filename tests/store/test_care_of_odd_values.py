"""Taking care of a store that holds what no honest exporter sends."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dbagenteval.cli.main import main
from dbagenteval.store import Store
from tests.store.requests import logs_request, traces_request

DAY = 86_400 * 10**9
NS = 20_000 * DAY


@pytest.mark.parametrize("times", [(0, 0), (5, 0), (2**64 - 1, 2**64 - 1), (NS + 1, NS + 1)])
def test_shrink_ends_with_any_times(tmp_path: Path, times: tuple[int, int]) -> None:
    """Spans without times, without an end, or of the far future don't keep a store over its size."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for number in range(1, 11):
            request = traces_request((number, 1))
            span = request.resource_spans[0].scope_spans[0].spans[0]
            span.start_time_unix_nano, span.end_time_unix_nano = times
            store.load([("traces", request.SerializeToString())])
        store.prune(max_bytes=1)
        assert store.stats().spans == 0


def test_shrink_removes_log_records_without_traces(tmp_path: Path) -> None:
    """The oldest first, and only until the size fits."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for number in range(1, 41):
            text = random.Random(number).randbytes(100_000).hex()
            request = logs_request((0, 0), start_ns=NS + number * DAY, text=text)
            store.load([("logs", request.SerializeToString())])
        store.prune(max_bytes=3_000_000)
        left = [log.time_ns for trace in store.otel_traces() for log in trace.logs]
    assert 0 < len(left) < 40
    assert left == [NS + number * DAY for number in range(41 - len(left), 41)]


def test_no_span_keeps_a_store_from_being_exported(tmp_path: Path) -> None:
    """Times that no calendar has, and service names that no file system takes."""
    requests = []
    for number, (start_ns, service) in enumerate(
        [(0, "a/../b\n"), (2**63 - 1, "x" * 300), (2**64 - 1, "é" * 300), (NS, "\x00"), (NS, "..")],
        1,
    ):
        request = traces_request((number, 1), service=service)
        span = request.resource_spans[0].scope_spans[0].spans[0]
        span.start_time_unix_nano = span.end_time_unix_nano = start_ns
        span.events.add(name="e")
        requests.append(("traces", request.SerializeToString()))
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(requests)
        store.export_parquet(tmp_path / "p")
    found = pq.ParquetDataset(tmp_path / "p" / "spans", partitioning=None).read()
    assert sorted(found["start_ns"].to_pylist()) == [0, NS, NS, 2**63 - 1, 2**64 - 1]
    assert {"a/../b\n", "x" * 18 + "…", "é" * 18 + "…", "\x00", ".."} == {
        *found["service"].to_pylist()
    }
    assert len(list((tmp_path / "p" / "span_events").rglob("*.parquet"))) == 5


def test_stats_print_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of services come from outside."""
    request = traces_request((1, 1), service="a\x1b[2J\nb")
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load([("traces", request.SerializeToString())])
    assert main(["store", "stats", "--store", str(tmp_path / "s")]) == 0
    assert "services     a\\x1b[2J b\n" in capsys.readouterr().out
