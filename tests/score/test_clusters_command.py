"""`dbagenteval clusters`: failures by cause and questions without a case, from a store."""

import json

import pytest

from dbagenteval.cli.main import main
from dbagenteval.failures import Outcome
from dbagenteval.store.scorecards import ScorecardRun

DAY_NS = 86_400 * 10**9
FIRST_NS = 20_000 * DAY_NS


def failed(question="How many customers?", **fields):
    """An outcome that missed the tenant filter."""
    given = {
        "verdict": "FAIL",
        "question": question,
        "stage": "generate",
        "check": "reference_rows",
        "reason": "different_values",
        "edit": ("missing_filter:customers.tenant_id",),
        "case_id": "count",
        "start_ns": FIRST_NS,
    }
    return Outcome(**{**given, **fields})


def keep(store, **outcomes):
    """Keep one run of scorecards, by turn."""
    with ScorecardRun(store, {}) as run:
        for turn, outcome in outcomes.items():
            run.add({"turn": turn, **outcome.to_dict()})


@pytest.fixture
def store(recorder):
    """A store with one trace that has no scorecard."""
    recorder.turn("How many orders?", sql="SELECT COUNT(*) FROM orders", answer="3")
    return recorder.save()


def test_kept_scorecards_are_clustered(store, tmp_path, capsys):
    """Causes with counts and trend come first, then the questions without a case."""
    keep(
        store,
        a=failed(),
        b=failed(start_ns=FIRST_NS + 9 * DAY_NS),
        c=failed(start_ns=FIRST_NS + 9 * DAY_NS),
        d=Outcome(verdict="SKIP", question="Refunds?", start_ns=FIRST_NS),
    )
    path = tmp_path / "out.json"
    assert main(["clusters", "--store", store, "--json", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "read 4 kept scorecard(s)",
        "3 failure(s), 1 cluster(s):",
        "  missing filter on customers.tenant_id, 3 of 4, 2 in the last 7 days, up from 1"
        "  [generate · reference_rows · different_values]",
        "1 question(s) without a case, 1 cluster(s):",
        "  'Refunds?', 1 of 4, 0 in the last 7 days, down from 1",
    ]
    report = json.loads(path.read_text())
    assert report["total"] == 4
    assert [(each["name"], each["count"]) for each in report["failures"]] == [
        ("missing filter on customers.tenant_id", 3)
    ]
    assert report["failures"][0]["days"] == {"2024-10-04": 1, "2024-10-13": 2}
    assert [each["name"] for each in report["questions"]] == ["Refunds?"]


def test_newest_scorecard_of_a_trace_counts(store, capsys):
    """A trace that passes today is no failure any more."""
    keep(store, a=failed(), b=failed())
    keep(store, a=failed(verdict="PASS", edit=()))
    assert main(["clusters", "--store", store]) == 0
    out = capsys.readouterr().out
    assert "missing filter on customers.tenant_id, 1 of 2  [" in out


def test_range_and_service(store, capsys):
    """`--since` and `--service` choose among the kept scorecards."""
    keep(store, a=failed(service="one"), b=failed(service="two", start_ns=FIRST_NS + DAY_NS))
    main(["clusters", "--store", store, "--service", "one"])
    assert "read 1 kept" in capsys.readouterr().out
    main(["clusters", "--store", store, "--since", "2024-10-05"])
    assert "read 1 kept" in capsys.readouterr().out
    main(["clusters", "--store", store, "--since", "2025-01-01"])
    assert capsys.readouterr().out == "read 0 kept scorecard(s)\n"


def test_without_kept_scorecards_traces_are_read(store, capsys):
    """What nobody scored is clustered by its questions, and that is said."""
    assert main(["clusters", "--store", store]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "read 1 trace(s); no scorecard is kept",
        "1 question(s) without a case, 1 cluster(s):",
        "  'How many orders?', 1 of 1",
    ]


def test_nothing_failed(store, capsys):
    """A store where all is well says so."""
    keep(store, a=failed(verdict="PASS", edit=()))
    assert main(["clusters", "--store", store]) == 0
    out = capsys.readouterr().out
    assert out == "read 1 kept scorecard(s)\nno failure, and no question without a case\n"


def test_hostile_question_is_shown_inert(store, capsys):
    """Escape sequences of a question do not reach the terminal."""
    keep(store, a=Outcome(verdict="SKIP", question="\x1b[2J\u202eevil\nnext"))
    main(["clusters", "--store", store])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert len(out.splitlines()) == 3


def test_mistakes_of_the_user(tmp_path, store, capsys):
    """No store, a damaged file and a report that can't be written end with code 2."""
    assert main(["clusters", "--store", str(tmp_path / "none")]) == 2
    assert main(["clusters", "--store", store, "--json", str(tmp_path / "no" / "x.json")]) == 2
    keep(store, a=failed())
    (kept,) = (tmp_path / "store" / "scorecards").iterdir()
    kept.write_bytes(kept.read_bytes()[:-9])
    assert main(["clusters", "--store", store]) == 2
    assert "damaged" in capsys.readouterr().err
