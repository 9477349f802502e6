"""Writing the database anew beside those who read and store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbagenteval.errors import StoreError
from dbagenteval.store import Store
from dbagenteval.store.compaction import Compaction
from tests.store.requests import logs_request, traces_request

NS = 10**18


def traces(*spans: tuple[int, int]) -> list[tuple[str, bytes]]:
    return [("traces", traces_request(*spans, start_ns=NS + spans[0][0]).SerializeToString())]


def test_what_comes_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New traces, more of a copied one, log records, and spans that were copied already."""
    monkeypatch.setattr("dbagenteval.store.compaction._SLICE_ROWS", 3)
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(traces(*[(number, 1) for number in range(1, 12)]))
        with Compaction(store._database, store._layout) as compaction:
            compaction.copy()
            store.load(traces((5, 2), (5, 1), (12, 1)))
            store.load([("logs", logs_request((3, 1), (0, 0)).SerializeToString())])
            before = list(store.otel_traces())
            store._writing().exchange(compaction.finish)
        assert list(store.otel_traces()) == before
        assert store.check().faults == ()
        assert store.stats().spans == 13
        assert store.load(traces((5, 1), (5, 2), (13, 1))).duplicate_spans == 2
        store.append(*traces((14, 1))[0]).result(5)
        store.flush()
    with Store.open(tmp_path / "s", write=False) as store:
        assert store.stats().spans == 15
        assert store.stats().logs == 2


def test_readers_finish_on_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading under way holds the exchange up, and who never ends makes it give up."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(traces((1, 1), (2, 1)))
        reading = store.otel_traces()
        first = next(reading)
        monkeypatch.setattr("dbagenteval.store.applier._EXCHANGE_WAIT_S", 0.05)
        with pytest.raises(StoreError, match="being read"):
            store.compact()
        assert not (tmp_path / "s" / "compact").exists()
        monkeypatch.setattr("dbagenteval.store.applier._EXCHANGE_WAIT_S", 30)
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(store.compact)
            assert [first, *reading] == list(store.otel_traces())
            job.result(30)
        assert store.stats().spans == 2


def test_what_a_crash_left_is_removed(tmp_path: Path) -> None:
    """By the next compaction."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(traces((1, 1)))
        (tmp_path / "s" / "compact").mkdir()
        (tmp_path / "s" / "compact" / "traces.duckdb").write_bytes(b"half")
        store.compact()
        assert store.stats().spans == 1
    assert not (tmp_path / "s" / "compact").exists()
