"""no_error, expected and recall."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dbagenteval import Case, Stage, Trace, evaluate
from dbagenteval.checks import check_expected, check_no_error


@pytest.mark.parametrize(
    ("stage", "status", "detail"),
    [
        (Stage("generate", output="SELECT 1"), "pass", ""),
        (Stage("execute", error="no such\n  table"), "fail", "no such table"),
        (Stage("execute", error="x" * 300), "fail", "x" * 199 + "…"),
        (Stage("execute", error=""), "fail", "failed with an empty error text"),
        (Stage("execute", error="", rows=[]), "pass", ""),
        (Stage("execute", rows=[]), "pass", ""),
        (Stage("plan", error=""), "pass", ""),
        (Stage("answer", output="x", error="cut"), "fail", "cut"),
    ],
)
def test_no_error(stage: Stage, status: str, detail: str) -> None:
    """A stage fails by its error text, an execution without rows by an empty one too."""
    result = check_no_error(stage)
    assert (result.check, result.stage, result.status, result.detail) == (
        "no_error",
        stage.name,
        status,
        detail,
    )


@pytest.mark.parametrize(
    ("stages", "statuses"),
    [
        ([Stage("execute", "a", error="x"), Stage("execute", "b", rows=[])], ["pass", "pass"]),
        ([Stage("execute", "a", error="x"), Stage("execute", "b", error="y")], ["fail", "fail"]),
        ([Stage("execute", "a", rows=[]), Stage("execute", "b", error="y")], ["pass", "fail"]),
        (
            [
                Stage("execute", "a", error="x"),
                Stage("execute", "b", error="y"),
                Stage("execute", "c", rows=[]),
            ],
            ["pass"] * 3,
        ),
        ([Stage("generate", "a", error="x"), Stage("generate", "b", output="S")], ["pass", "pass"]),
        ([Stage("execute", "a", error="x"), Stage("answer", output="hi")], ["fail", "pass"]),
        ([Stage("retrieve", "a", error="x"), Stage("retrieve", "b", output=[])], ["fail", "pass"]),
    ],
)
def test_a_failed_attempt_that_a_later_one_made_good(
    stages: list[Stage], statuses: list[str]
) -> None:
    """The last attempt at writing or running SQL decides; other stages are not attempts."""
    trace = Trace("q", stages)
    assert [check_no_error(stage, trace).status for stage in trace.stages] == statuses


def test_a_made_good_attempt_is_shown() -> None:
    """The pass says what failed and what made it good."""
    trace = Trace(
        "q", [Stage("execute", "first", error="syntax error"), Stage("execute", "second", rows=[])]
    )
    result = check_no_error(trace.stages[0], trace)
    assert result.detail == "failed attempt, made good by 'second': syntax error"
    assert result.reason == "made_good"


@pytest.mark.parametrize(
    ("output", "expected", "passes"),
    [
        (" Data ", "data", True),
        ("ß", "SS", True),
        ("b", ["a", "b"], True),
        ("c", ["a", "b"], False),
        (["a", "b"], ["a", "b"], True),
        (["b", "a"], ["a", "b"], False),
        ({"x": 1}, {"x": 1}, True),
        (3, "3", True),
        (3, "3.00", True),
        (Decimal("0.001"), 0.004, True),
        (0.01, 0.02, False),
        ("1.1", "1.10", False),
        (True, True, True),
        (1, True, True),
        (False, "", False),
        (None, "", False),
        (None, None, True),
        ("x", [], False),
        ([], [], True),
    ],
)
def test_expected(output: Any, expected: Any, passes: bool) -> None:
    """Texts without regard to case and outer space, numbers by value, all else by equality."""
    result = check_expected(Trace("q", [Stage("route", output=output)]), "route", expected)
    assert result.check == "expected"
    assert (result.status == "pass") is passes


@pytest.mark.parametrize(
    ("output", "expected", "detail"),
    [
        (3, False, "got 3, expected False"),
        ("c", ["a", "b"], "got 'c', expected 'a' or 'b'"),
        ("a  b", "a b", "got 'a  b', expected 'a b'"),
        ("x" * 300, "y", "got '" + "x" * 198 + "…, expected 'y'"),
    ],
)
def test_expected_says_what_it_got(output: Any, expected: Any, detail: str) -> None:
    """So that differences in white space can be seen."""
    assert (
        check_expected(Trace("q", [Stage("route", output=output)]), "route", expected).detail
        == detail
    )


@pytest.mark.parametrize(
    ("output", "expected", "status", "detail", "score"),
    [
        (["status", "amount"], ["Status "], "pass", "1 expected of 2 retrieved", 1.0),
        (["status"], ["status", "amount"], "fail", "not retrieved: ['amount']", 0.5),
        (
            [{"name": "status", "type": "text"}, {"kind": 1}],
            "status",
            "pass",
            "1 expected of 2 retrieved",
            1.0,
        ),
        ({"status": "text"}, ["status"], "pass", "1 expected of 1 retrieved", 1.0),
        (
            "status, amount\nstore_id",
            ["store_id", "amount"],
            "pass",
            "2 expected of 3 retrieved",
            1.0,
        ),
        ("status", ["status"], "pass", "1 expected of 1 retrieved", 1.0),
        (None, ["status"], "fail", "not retrieved: ['status']", 0.0),
        (None, None, "pass", "0 expected of 0 retrieved", 1.0),
        (["a", "A"], [], "pass", "0 expected of 1 retrieved", 1.0),
        (["orders.status"], ["status"], "fail", "not retrieved: ['status']", 0.0),
        ([7], [7], "pass", "1 expected of 1 retrieved", 1.0),
    ],
)
def test_recall(output: Any, expected: Any, status: str, detail: str, score: float) -> None:
    """A retrieve stage must have found all expected names; more are fine."""
    result = check_expected(Trace("q", [Stage("retrieve", output=output)]), "retrieve", expected)
    assert (result.check, result.status, result.detail, result.score) == (
        "recall",
        status,
        detail,
        score,
    )


def test_an_expected_stage_that_is_not_there() -> None:
    """It comes after all stages of the trace when the first failing one is looked for."""
    trace = Trace("q", [Stage("route", output="x"), Stage("answer", error="no")])
    card = evaluate(trace, Case("q", expect={"view": "orders"}))
    (missing,) = [result for result in card.results if result.check == "expected"]
    assert (missing.stage, missing.status, missing.detail) == (
        "view",
        "fail",
        "stage missing from trace",
    )
    assert card.failed_stage == "answer"
    assert list(card.stages()) == ["route", "answer", "view"]


@pytest.mark.parametrize("kind", ["route", "retrieve"])
def test_an_output_that_was_hidden_is_no_evidence(kind: str) -> None:
    """For a trace from spans; nobody knows whether it was right."""
    notes = {"observed": {"output": {"state": "masked", "why": "the collector removes it"}}}
    stage = Stage(kind, output="***", meta=notes)
    result = check_expected(Trace("q", [stage]), kind, "orders")
    assert (result.status, result.detail) == ("skip", "output masked: the collector removes it")
    assert result.reason == "not_observed"
