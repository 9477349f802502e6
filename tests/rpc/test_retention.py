"""Retention goes by the time of day, and is not fooled by a clock that somebody set wrong."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dbagenteval.rpc import retention
from dbagenteval.rpc.retention import CautiousClock, start_retention
from dbagenteval.store import Store
from tests.store.requests import traces_request

HOUR = 3600 * 10**9
DAY = 24 * HOUR
NOW = 20_000 * DAY


class Clocks:
    """A machine: its time of day can be set, the time that goes by can not."""

    def __init__(self) -> None:
        self.wall = NOW
        self.elapsed = 5 * DAY

    def go_on(self, ns: int) -> None:
        self.wall += ns
        self.elapsed += ns

    def cautious(self) -> CautiousClock:
        return CautiousClock(lambda: self.wall, lambda: self.elapsed)


def test_time_goes_on() -> None:
    """Over weeks, with the drift of a clock that is kept right in small steps."""
    clocks = Clocks()
    clock = clocks.cautious()
    for _ in range(1000):
        clocks.go_on(HOUR)
        clocks.wall += 10**9
        assert clock.now_ns() == clocks.wall


def test_a_leap_forward_is_ignored_while_it_may_be_a_mistake() -> None:
    """What was set wrong and right again within a day has made nothing old."""
    clocks = Clocks()
    clock = clocks.cautious()
    clocks.wall += 400 * DAY
    for _ in range(23):
        clocks.go_on(HOUR)
        assert clock.now_ns() == clocks.wall - 400 * DAY
    clocks.wall -= 400 * DAY
    clocks.go_on(HOUR)
    assert clock.now_ns() == clocks.wall


def test_a_leap_that_lasts_is_believed() -> None:
    """The clock was wrong before, or the machine was stopped."""
    clocks = Clocks()
    clock = clocks.cautious()
    clocks.wall += 40 * DAY
    for _ in range(26):
        clocks.go_on(HOUR)
        clock.now_ns()
    assert clock.now_ns() == clocks.wall


def test_a_leap_back_is_followed_at_once() -> None:
    """It makes nothing old; and the way back to the right time is a leap forward again."""
    clocks = Clocks()
    clock = clocks.cautious()
    clocks.wall -= 40 * DAY
    assert clock.now_ns() == clocks.wall
    clocks.wall += 40 * DAY
    assert clock.now_ns() == clocks.wall - 40 * DAY


def test_new_traces_stay_while_the_clock_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one goes at the start; then the clock leaps by a year, and the new one stays."""
    monkeypatch.setattr(retention, "_INTERVAL_S", 0.01)
    clocks = Clocks()
    rounds: list[int] = []

    class Watched(CautiousClock):
        def __init__(self) -> None:
            super().__init__(lambda: clocks.wall, lambda: clocks.elapsed)

        def now_ns(self) -> int:
            rounds.append(clocks.wall)
            return super().now_ns()

    monkeypatch.setattr(retention, "CautiousClock", Watched)
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        for number, start_ns in ((1, NOW - 31 * DAY), (2, NOW - HOUR)):
            body = traces_request((number, 1), start_ns=start_ns).SerializeToString()
            store.load([("traces", body)])
        start_retention(store, 30 * 86_400.0, None)
        deadline = time.monotonic() + 20
        while store.stats().spans == 2:
            assert time.monotonic() < deadline
        clocks.wall += 365 * DAY
        while rounds.count(clocks.wall) < 5:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert [int(trace.trace_id, 16) for trace in store.otel_traces()] == [2]
