"""Retention, compaction, checking and export of a store."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
import requests

from dbagenteval.cli.amounts import parse_age_s, parse_size
from dbagenteval.cli.main import main
from dbagenteval.errors import StoreError, StoreLocked, UserError
from dbagenteval.store import Store
from dbagenteval.store.scorecards import ScorecardRun, kept_cards
from tests.receiver.serving import serve
from tests.store.requests import logs_request, traces_request

DAY = 86_400 * 10**9
NS = 20_000 * DAY


def make(directory: Path) -> None:
    """Traces 1 to 5, one a day, with events, links and log records."""
    with Store.open(directory, write=True, create=True) as store:
        batch = []
        for number in range(1, 6):
            request = traces_request((number, 1), (number, 2), start_ns=NS + number * DAY)
            span = request.resource_spans[0].scope_spans[0].spans[0]
            span.events.add(name="e", time_unix_nano=1)
            span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8)
            batch.append(("traces", request.SerializeToString()))
            logs = logs_request((number, 1), (0, 0), start_ns=NS + number * DAY, text=str(number))
            batch.append(("logs", logs.SerializeToString()))
        late = traces_request((2, 3), start_ns=NS + 5 * DAY)  # trace 2 goes on until day 5
        store.load([*batch, ("traces", late.SerializeToString())])


def content(directory: Path) -> list[object]:
    with Store.open(directory, write=False) as store:
        return list(store.otel_traces())


def sql(directory: Path, statement: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(directory / "traces.duckdb")) as connection:
        return connection.execute(statement).fetchall()


def compact(directory: Path) -> None:
    with Store.open(directory, write=True) as store:
        store.compact()


def test_prune_removes_whole_traces_by_their_end(tmp_path: Path) -> None:
    """With all their parts; a trace that went on stays whole."""
    make(tmp_path / "s")
    with Store.open(tmp_path / "s", write=True) as store:
        store.prune(before_ns=NS + 4 * DAY)
        assert store.check().faults == ()
    found = content(tmp_path / "s")
    assert [(t.trace_id[-1:], len(t.spans), len(t.logs)) for t in found] == [
        ("2", 3, 1),
        ("4", 2, 1),
        ("5", 2, 1),
        ("", 0, 2),
    ]
    for table, count in [("span_events", 3), ("span_links", 3), ("logs", 5)]:
        assert sql(tmp_path / "s", f"SELECT count(*) FROM {table}") == [(count,)]


def test_what_was_pruned_can_come_again(tmp_path: Path) -> None:
    """A span that was removed is no duplicate."""
    make(tmp_path / "s")
    with Store.open(tmp_path / "s", write=True) as store:
        store.prune(before_ns=NS + 4 * DAY)
        again = traces_request((1, 1), start_ns=NS + DAY).SerializeToString()
        assert store.load([("traces", again)]).spans == 1


def test_prune_removes_what_nothing_needs_any_more(tmp_path: Path) -> None:
    """Resources, scopes, digests of log requests, set-aside files and scorecards."""
    directory = tmp_path / "s"
    now = time.time_ns()
    with Store.open(directory, write=True, create=True) as store:
        for service, start_ns in [("old", NS), ("new", now)]:
            spans = traces_request((start_ns, 1), service=service, start_ns=start_ns)
            spans.resource_spans[0].scope_spans[0].scope.name = service
            logs = logs_request((start_ns, 1), start_ns=start_ns, text=service)
            store.load([("traces", spans.SerializeToString())])
            store.load([("logs", logs.SerializeToString())])
        for name, age_ns in [("old.bin", 9 * DAY), ("new.bin", 0)]:
            (directory / "set-aside" / name).write_bytes(b"x")
            os.utime(directory / "set-aside" / name, ns=(now - age_ns, now - age_ns))
        with ScorecardRun(directory, {}) as run:
            run.add({"turn": "1"})
        (kept,) = (directory / "scorecards").iterdir()
        kept.rename(kept.with_name(f"2020{kept.name[4:]}"))
        with ScorecardRun(directory, {}) as run:
            run.add({"turn": "2"})
        store.prune(before_ns=now - DAY)
        assert store.check().set_aside == ("new.bin",)
        assert store.check().faults == ()
    services = {service for (service,) in sql(directory, "SELECT service FROM resources")}
    assert services == {"shop", "new"}  # the log records are of "shop"
    assert {name for (name,) in sql(directory, "SELECT name FROM scopes")} == {"test", "new"}
    assert sql(directory, "SELECT count(*) FROM log_requests") == [(1,)]
    assert [card["turn"] for card in kept_cards(directory)] == ["2"]


def test_shrink_removes_the_oldest_first(tmp_path: Path) -> None:
    """Until the size fits; the newest stay."""
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for number in range(1, 41):
            request = traces_request((number, 1), start_ns=NS + number * DAY)
            span = request.resource_spans[0].scope_spans[0].spans[0]
            text = random.Random(number).randbytes(100_000).hex()
            span.attributes.add(key="k").value.string_value = text
            store.load([("traces", request.SerializeToString())])
        before = store.stats().spans
        store.prune(max_bytes=3_000_000)
        left = [int(trace.trace_id, 16) for trace in store.otel_traces()]
    assert before == 40
    assert 0 < len(left) < 40
    assert left == list(range(41 - len(left), 41))


@pytest.mark.parametrize("step", [1, 77], ids=["in order", "mixed"])
def test_shrink_removes_no_more_than_it_must(tmp_path: Path, step: int) -> None:
    """Whether whole parts of the file are old, or old and new lie side by side."""
    texts = random.Random(1)

    def of_day(day: int) -> tuple[str, bytes]:
        request = traces_request(
            *((1 + day * 100 + trace, 1) for trace in range(100)), start_ns=NS + day * DAY
        )
        for span in request.resource_spans[0].scope_spans[0].spans:
            span.attributes.add(key="k").value.string_value = texts.randbytes(700).hex()
        return "traces", request.SerializeToString()

    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load(of_day(number * step % 400) for number in range(400))
        before = store.stats()
        store.prune(max_bytes=int(before.bytes * 0.3))
        after = store.stats()
        left = {int(trace.trace_id, 16) for trace in store.otel_traces()}
    assert before.spans == 40_000
    assert 0.22 * before.spans < after.spans < 0.35 * before.spans
    assert left == set(range(40_001 - after.spans, 40_001))


def test_compaction_keeps_everything(tmp_path: Path) -> None:
    """The same traces, a sound store, private files, nothing left behind."""
    make(tmp_path / "s")
    before = content(tmp_path / "s")
    compact(tmp_path / "s")
    assert content(tmp_path / "s") == before
    assert main(["store", "check", "--store", str(tmp_path / "s")]) == 0
    assert not (tmp_path / "s" / "compact").exists()
    assert (tmp_path / "s" / "traces.duckdb").stat().st_mode & 0o777 == 0o600
    with Store.open(tmp_path / "s", write=True) as store:
        duplicate = traces_request((1, 1), start_ns=NS + DAY).SerializeToString()
        assert store.load([("traces", duplicate)]).duplicate_spans == 1
        logs = logs_request((1, 1), (0, 0), start_ns=NS + DAY, text="1").SerializeToString()
        assert store.load([("logs", logs)]).logs == 0


def test_a_broken_compaction_leaves_the_old_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was half written is removed."""
    make(tmp_path / "s")
    before = content(tmp_path / "s")
    monkeypatch.setattr("dbagenteval.store.compaction._OTHERS", ("resources", "nonsense"))
    monkeypatch.setattr(
        "dbagenteval.store.compaction.statement",
        lambda name: "SELECT no_such_column" if name == "copy_nonsense" else _statement(name),
    )
    with pytest.raises(StoreError, match="can't be compacted"):
        compact(tmp_path / "s")
    monkeypatch.undo()
    assert content(tmp_path / "s") == before
    assert not (tmp_path / "s" / "compact").exists()


def _statement(name: str) -> str:
    from dbagenteval.store.statements import statement

    return statement(name)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("DELETE FROM resources", "without their resource"),
        (
            "DELETE FROM spans WHERE span_id = '\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01'",
            "without their span",
        ),
        ("INSERT INTO spans SELECT * FROM spans LIMIT 1", "more than once"),
        ("UPDATE spans SET attr_types = [1, 2, 3]", "damaged attributes"),
        ("DELETE FROM trace_index", "index is wrong"),
    ],
)
def test_check_finds_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str, message: str
) -> None:
    """And exits 1."""
    make(tmp_path / "s")
    sql(tmp_path / "s", damage)
    assert main(["store", "check", "--store", str(tmp_path / "s")]) == 1
    assert message in capsys.readouterr().out


def test_check_names_what_was_set_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Someone should look at it."""
    make(tmp_path / "s")
    (tmp_path / "s" / "set-aside" / "journal-7.bin").write_bytes(b"x")
    assert main(["store", "check", "--store", str(tmp_path / "s")]) == 1
    assert "set aside: journal-7.bin" in capsys.readouterr().out


def test_parquet_export_by_day_and_service(tmp_path: Path) -> None:
    """Every row is there, in folders by day and service."""
    make(tmp_path / "s")
    assert (
        main(["store", "export", "--store", str(tmp_path / "s"), "--parquet", str(tmp_path / "p")])
        == 0
    )
    days = sorted(path.name for path in (tmp_path / "p" / "spans").iterdir())
    assert len(days) == 5
    assert days[0].startswith("day=20")
    assert [path.name for path in (tmp_path / "p" / "spans" / days[0]).iterdir()] == [
        "service=shop"
    ]
    rows = {
        table: sum(
            pq.ParquetFile(path).metadata.num_rows
            for path in (tmp_path / "p" / table).rglob("*.parquet")
        )
        for table in ("spans", "span_events", "span_links", "logs")
    }
    assert rows == {"spans": 11, "span_events": 5, "span_links": 5, "logs": 10}
    assert pq.ParquetFile(tmp_path / "p" / "resources.parquet").metadata.num_rows == 1


def test_an_export_does_not_mix_with_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "s")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "mine").write_text("x")
    assert (
        main(["store", "export", "--store", str(tmp_path / "s"), "--parquet", str(tmp_path / "p")])
        == 2
    )
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["mine"]


def test_otlp_export_reads_back_into_another_store(tmp_path: Path) -> None:
    """Field for field."""
    make(tmp_path / "s")
    assert (
        main(["store", "export", "--store", str(tmp_path / "s"), "--otlp", str(tmp_path / "f")])
        == 0
    )
    assert main(["ingest", str(tmp_path / "f"), "--store", str(tmp_path / "t")]) == 0
    assert content(tmp_path / "t") == content(tmp_path / "s")


def test_serve_keeps_to_its_limits(tmp_path: Path) -> None:
    """`--keep` removes old traces while it runs, and care needs the store for itself."""
    make(tmp_path / "s")
    recent = traces_request((9, 1), start_ns=time.time_ns()).SerializeToString()
    with Store.open(tmp_path / "s", write=True) as store:
        store.load([("traces", recent)])
    with serve(tmp_path / "s", "--keep", "1d") as served:
        with pytest.raises(StoreLocked):
            compact(tmp_path / "s")
        deadline = time.monotonic() + 20
        found = 99
        while found != 1 and time.monotonic() < deadline:
            from dbagenteval.rpc.client import open_store

            with open_store(tmp_path / "s") as opened:
                found = opened.stats().spans
        assert found == 1
        body = traces_request((10, 1), start_ns=time.time_ns()).SerializeToString()
        headers = {"Content-Type": "application/x-protobuf"}
        assert requests.post(f"{served.http}/v1/traces", body, headers=headers, timeout=9).ok
        assert served.stop() == 0
    with Store.open(tmp_path / "s", write=False) as store:
        assert store.stats().spans == 2


def test_ages_and_sizes() -> None:
    """As people write them; anything else is refused."""
    assert [parse_age_s(text) for text in ("30d", "12h", "1.5m", "10s", "2w")] == [
        2_592_000, 43_200, 90, 10, 1_209_600,
    ]  # fmt: skip
    assert [parse_size(text) for text in ("10", "20GB", "1.5 mb", "1GiB")] == [
        10, 20 * 10**9, 1_500_000, 1 << 30,
    ]  # fmt: skip
    for text in ("", "30", "d", "-1d", "1y", "1d2h"):
        with pytest.raises(UserError):
            parse_age_s(text)
    for text in ("", "GB", "-1", "1XB", "1e9"):
        with pytest.raises(UserError):
            parse_size(text)


def test_stats_after_compaction_are_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints them."""
    make(tmp_path / "s")
    assert main(["store", "compact", "--store", str(tmp_path / "s"), "--keep", "1d"]) == 0
    assert "spans        0" in capsys.readouterr().out
    assert main(["store", "stats", "--json", "--store", str(tmp_path / "s")]) == 0
    assert json.loads(capsys.readouterr().out)["otel_traces"] == 0
