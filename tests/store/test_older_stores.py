"""Stores that earlier versions made."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dbagenteval.store import Store
from tests.store.requests import traces_request


def test_an_index_without_keys_gets_them(tmp_path: Path) -> None:
    """Spans stored before are known, spans of the same trace join it, and the check passes."""
    spans = traces_request((1, 1), (1, 2)).SerializeToString()
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.append("traces", spans).result(5)
        store.flush()
    with duckdb.connect(str(tmp_path / "s" / "traces.duckdb")) as connection:
        connection.execute("ALTER TABLE trace_index DROP COLUMN trace_key")
    with Store.open(tmp_path / "s", write=True) as store:
        store.append("traces", spans).result(5)
        store.append("traces", traces_request((1, 2), (1, 3)).SerializeToString()).result(5)
        store.flush()
        assert store.stats().spans == 3
        assert store.check().faults == ()
