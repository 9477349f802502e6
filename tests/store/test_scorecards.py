"""Scorecards are kept beside the traces, a file a run."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.errors import StoreError
from dbagenteval.store.scorecards import ScorecardRun, kept_bytes, kept_cards, prune_kept


def keep(store: Path, *cards: dict[str, Any], **facts: Any) -> None:
    with ScorecardRun(store, facts) as run:
        for card in cards:
            run.add(card)


def files(store: Path) -> list[Path]:
    return sorted((store / "scorecards").iterdir())


def test_the_newest_card_of_each_question_is_read(tmp_path: Path) -> None:
    """With the facts of its run; what a later run did not score keeps its older card."""
    keep(tmp_path, {"turn": "a", "verdict": "PASS"}, {"turn": "b", "verdict": "FAIL"}, n=1)
    keep(tmp_path, {"turn": "a", "verdict": "FAIL"}, n=2)
    cards = list(kept_cards(tmp_path))
    assert [(card["turn"], card["verdict"], card["run"]["n"]) for card in cards] == [
        ("a", "FAIL", 2),
        ("b", "FAIL", 1),
    ]
    assert cards[0]["run"]["time"] >= cards[1]["run"]["time"]
    assert cards[0]["run"]["id"] != cards[1]["run"]["id"]


def test_a_run_that_fails_keeps_nothing(tmp_path: Path) -> None:
    """The cards of the run before stay."""
    keep(tmp_path, {"turn": "a", "verdict": "PASS"})
    with pytest.raises(TypeError, match="not JSON serializable"):
        keep(tmp_path, {"turn": "a", "verdict": "FAIL"}, {"turn": object()})
    assert [card["verdict"] for card in kept_cards(tmp_path)] == ["PASS"]
    assert len(files(tmp_path)) == 1


def test_only_the_owner_may_read_them(tmp_path: Path) -> None:
    """They hold questions."""
    keep(tmp_path, {"turn": "a"})
    assert stat.S_IMODE((tmp_path / "scorecards").stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)] == [0o600]


def test_by_time_and_service(tmp_path: Path) -> None:
    """The newest card decides, not the newest that matches."""
    keep(tmp_path, {"turn": "a", "start_ns": 5, "service": "x"})
    keep(tmp_path, {"turn": "b", "start_ns": 9, "service": "x"})
    keep(tmp_path, {"turn": "a", "start_ns": 5, "service": "y"})
    assert [card["turn"] for card in kept_cards(tmp_path, since_ns=6)] == ["b"]
    assert [card["turn"] for card in kept_cards(tmp_path, service="x")] == ["b"]
    assert [card["turn"] for card in kept_cards(tmp_path, since_ns=5, service="y")] == ["a"]


def test_runs_before_a_time_are_pruned(tmp_path: Path) -> None:
    """By the time of the run, which no trace of it is younger than."""
    keep(tmp_path, {"turn": "a"})
    prune_kept(tmp_path, 0)
    assert len(list(kept_cards(tmp_path))) == 1
    assert kept_bytes(tmp_path) == files(tmp_path)[0].stat().st_size
    prune_kept(tmp_path, 4_000_000_000_000_000_000)
    assert list(kept_cards(tmp_path)) == []
    assert kept_bytes(tmp_path) == 0


def test_nothing_kept(tmp_path: Path) -> None:
    """Is no error."""
    assert list(kept_cards(tmp_path)) == []
    assert kept_bytes(tmp_path) == 0
    prune_kept(tmp_path, 1)


@pytest.mark.parametrize(
    "damage",
    [b"", b"no gzip", "cut", gzip.compress(b"{"), gzip.compress(b"")],
    ids=["empty", "no gzip", "cut", "no line", "no content"],
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes | str) -> None:
    """What can't be read is never passed over."""
    keep(tmp_path, *({"turn": str(number)} for number in range(50)))
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:-10] if isinstance(damage, str) else damage)
    with pytest.raises(StoreError, match=f"{path.name}: is damaged"):
        list(kept_cards(tmp_path))


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    """Is said before anything is scored."""
    with pytest.raises(StoreError, match="scorecards can't be kept: No such file"):
        ScorecardRun(tmp_path / "missing", {})
