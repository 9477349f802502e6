"""A statement that no rule saw leaves the gate red."""

import pytest

from dbagenteval.scorecard import PASS, CheckResult, Scorecard
from dbagenteval.suite.gate import Gate, Score


def _score(count):
    score = Score()
    for number in range(count):
        notes = [{"what": "statement", "stage": None, "state": "not captured", "why": f"D{number}"}]
        card = Scorecard("q", [CheckResult("read_only", "generate", PASS, "")])
        card.meta["not_observed"] = notes
        score.add(card, matched=True)
    return score


def test_the_gate_counts_statements_of_no_stage():
    """It fails and names the statement, unless skipped checks are allowed."""
    score = _score(1)
    assert score.unobserved == {"D0": 1}
    assert score.problems(Gate()) == ["1 check(s) had no evidence"]
    assert score.problems(Gate(allow_skipped=True)) == []


@pytest.mark.parametrize("count", [50, 200])
def test_the_count_does_not_grow_with_the_traces(count):
    """Many different statements are counted whole and named in part."""
    score = _score(count)
    assert sum(score.unobserved.values()) == count
    assert len(score.unobserved) <= 51
