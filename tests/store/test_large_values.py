"""Large values are stored, read and never keep a store from opening."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dbagenteval.store import Applied, Store
from dbagenteval.store.records import encode_header
from dbagenteval.store.writer import Writer
from tests.store.requests import traces_request


def large_body(span: int, mib: int) -> bytes:
    request = traces_request((1, span))
    value = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="large").value
    value.string_value = f"{span:08d}" * (mib << 17)
    return request.SerializeToString()


def crashed_store(directory: Path, bodies: list[bytes]) -> Path:
    with Store.open(directory, write=True, create=True):
        pass
    content = b"".join(encode_header("traces", body, 1) + body for body in bodies)
    (directory / "journal" / f"{0:020d}.journal").write_bytes(content)
    return directory


def copy(folder: Path) -> None:
    """Copy the store as a crash would leave it, all of its journal being stored."""
    journal = shutil.ignore_patterns("*.journal")
    shutil.copytree(folder / "s", folder / "crashed", ignore=journal)


def lengths(directory: Path) -> list[int]:
    with Store.open(directory, write=False) as store:
        (trace,) = store.otel_traces()
    return [len(str(span.attributes.get("large", ""))) for span in trace.spans]


def test_many_large_spans_are_stored_and_read(tmp_path: Path) -> None:
    """Eight spans of 30 MiB, and the log that opening must replay stays small."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for span in range(1, 9):
            store.append("traces", large_body(span, 30)).result(30)
        store.flush()
        log = tmp_path / "s" / "traces.duckdb.wal"
        assert not log.exists() or log.stat().st_size < 100 << 20
        copy(tmp_path)
        assert store.check().faults == ()
    assert lengths(tmp_path / "s") == [30 << 20] * 8
    assert lengths(tmp_path / "crashed") == [30 << 20] * 8


def test_a_database_log_of_large_values_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log over the usual memory limit doesn't keep the store from opening."""
    monkeypatch.setattr("dbagenteval.store.writer._MAX_LOG_BYTES", 1 << 40)
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for span in range(1, 9):
            store.append("traces", large_body(span, 30)).result(30)
        store.flush()
        assert (tmp_path / "s" / "traces.duckdb.wal").stat().st_size > 200 << 20
        copy(tmp_path)
    assert lengths(tmp_path / "crashed") == [30 << 20] * 8


def test_one_very_large_span_is_stored(tmp_path: Path) -> None:
    """200 MiB in one value, with a plain span behind it."""
    crashed_store(tmp_path / "s", [large_body(1, 200), large_body(2, 0)])
    assert lengths(tmp_path / "s") == [200 << 20, 0]


def test_a_request_that_cannot_be_stored_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It blocks nothing: its neighbours are stored, the check names it, and nothing is lost."""
    insert = Writer._insert

    def fails_on_two(self: Writer, columns: object, set_aside: int) -> Applied:
        names = columns.tables["spans"]["name"].to_pylist()  # type: ignore[attr-defined]
        if "span 2" in names:
            raise duckdb.OutOfMemoryException("too large")
        return insert(self, columns, set_aside)  # type: ignore[arg-type]

    monkeypatch.setattr(Writer, "_insert", fails_on_two)
    bodies = [traces_request((1, span)).SerializeToString() for span in (1, 2, 3)]
    crashed_store(tmp_path / "s", bodies)
    with Store.open(tmp_path / "s", write=True) as store:
        assert store.stats().spans == 2
        assert len(store.check().set_aside) == 1
        assert store.gauges()["dbagenteval_store_requests_set_aside"] == 1
        store.append("traces", traces_request((1, 4)).SerializeToString()).result(5)
        store.flush()
        assert store.stats().spans == 3
    (kept,) = (tmp_path / "s" / "set-aside").iterdir()
    assert kept.read_bytes() == bodies[1]


def test_the_first_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that the transaction was aborted, which is what the statements behind it hear."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        writer = store._writing()._writer

        def fails(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
            writer._connection.execute("SELECT error('the first')")
            return tables

        monkeypatch.setattr(writer, "_without_known_spans", fails)
        body = traces_request((1, 1)).SerializeToString()
        with pytest.raises(duckdb.Error, match="the first"):
            writer.apply([("traces", body)], None)
