"""evaluate: the order of checks, the verdict, and what a card records."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dbagenteval import Case, Check, CheckResult, NumbersGrounded, Scorecard, Stage, Trace, evaluate
from dbagenteval.rules import ReadOnly, TenantFilter

QUESTION = "How many orders?"
TRACE = Trace(
    QUESTION,
    [
        {"kind": "route", "name": "view", "output": "orders"},
        {"kind": "retrieve", "output": ["status"]},
        {"kind": "generate", "output": "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1'"},
        {"kind": "execute", "rows": [{"n": 3}], "latency_ms": 12.5},
        {"kind": "answer", "output": "There are 3."},
    ],
)
CASE = Case(
    QUESTION,
    expect={"retrieve": ["status"], "rows": [{"n": 3}], "view": "orders"},
    reference_sql="SELECT COUNT(*) AS n FROM orders",
    id="count",
    tags=["easy"],
)


def test_all_checks_in_their_order() -> None:
    """no_error by stage, expect in its order but rows, then rows, reference, rules."""
    card = evaluate(
        TRACE, CASE, rules=[ReadOnly(), NumbersGrounded()], execute=lambda sql: [{"n": 3}]
    )
    assert [(result.check, result.stage) for result in card.results] == [
        *(("no_error", stage.name) for stage in TRACE.stages),
        ("recall", "retrieve"),
        ("expected", "view"),
        ("rows_match", "execute"),
        ("reference_rows", "execute"),
        ("read_only", "generate"),
        ("numbers_grounded", "answer"),
    ]
    assert card.verdict == "PASS"
    assert (card.case_id, card.tags, card.question) == ("count", ["easy"], QUESTION)
    assert set(card.stages().values()) == {"pass"}


def test_a_right_answer_from_unsafe_sql_fails_where_it_began() -> None:
    """At the stage that wrote the SQL."""
    card = evaluate(
        TRACE, CASE, rules=[TenantFilter("customer_id")], execute=lambda sql: [{"n": 3}]
    )
    assert (card.verdict, card.failed_stage, card.failed.check) == (
        "FAIL",
        "generate",
        "tenant_filter",
    )


def test_the_earliest_failing_stage_is_named() -> None:
    """Not the check that ran first."""
    case = Case(QUESTION, expect={"rows": [{"n": 4}], "view": "customers"})
    card = evaluate(TRACE, case)
    assert card.failed_stage == "view"
    assert card.summary().split("\n")[-1] == "  VERDICT      FAIL  (first failing stage: view)"


@pytest.mark.parametrize("question", [QUESTION, "", "  "])
def test_without_a_case_only_errors_are_looked_for(question: str) -> None:
    """A trace without a question too."""
    card = evaluate(Trace(question, TRACE.stages))
    assert {result.check for result in card.results} == {"no_error"}
    assert (card.verdict, card.question, card.case_id) == ("PASS", question, "")


@pytest.mark.parametrize(
    ("trace", "verdict"),
    [
        (Trace.simple("q", answer="Sorry, I can't help with that."), "SKIP"),
        (Trace.simple("q", answer="There are 999 orders."), "SKIP"),
        (
            Trace.simple(
                "q",
                sql="SELECT COUNT(*) FROM orders WHERE store_id = 's1'",
                answer="There are 999.",
            ),
            "SKIP",
        ),
        (
            Trace.simple("q", sql="SELECT 1 FROM orders WHERE store_id = 's1'", answer="Nothing."),
            "PASS",
        ),
        (
            Trace.simple(
                "q", sql="SELECT 1 FROM orders WHERE store_id = 's1'", rows=[{"n": 3}], answer="3"
            ),
            "PASS",
        ),
        (Trace.simple("q", error="boom", answer="Sorry."), "FAIL"),
        (Trace("q"), "SKIP"),
    ],
)
def test_an_answer_does_not_pass_because_everything_was_skipped(trace: Trace, verdict: str) -> None:
    """Refusals and invented numbers, under rules."""
    rules = [ReadOnly(), TenantFilter("store_id"), NumbersGrounded()]
    assert evaluate(trace, Case("q"), rules=rules).verdict == verdict


class Fails(Check):
    """A rule that raises."""

    def run(self, trace: Trace, case: Case) -> CheckResult:
        raise KeyError("first")


def test_what_a_rule_raises_comes_out() -> None:
    """The first error, for a caller that can catch it."""
    with pytest.raises(KeyError, match="first"):
        evaluate(TRACE, rules=[Fails(), Fails()])


def test_a_check_of_no_name_has_that_of_its_class() -> None:
    """And its result may carry a score, a reason and evidence."""

    class Short(Check):
        def run(self, trace: Trace, case: Case) -> CheckResult:
            return self.result("answer", "pass", "ok", 0.5, reason="r", evidence={"a": 1})

    result = evaluate(TRACE, rules=[Short()]).results[-1]
    assert result == CheckResult("Short", "answer", "pass", "ok", 0.5, "r", {"a": 1})


def test_a_check_result_of_another_status_is_refused() -> None:
    """The message names the constants."""
    with pytest.raises(
        ValueError, match="check 'x' returned status 'PASS'; use the PASS, FAIL or SKIP constants"
    ):
        CheckResult("x", "answer", "PASS")


def test_verdicts_of_hand_made_cards() -> None:
    """ERROR before FAIL before PASS; nothing at all is SKIP."""
    passed, failed, skipped = (CheckResult("c", "s", status) for status in ("pass", "fail", "skip"))
    assert Scorecard("q").verdict == "SKIP"
    assert Scorecard("q", [skipped]).verdict == "SKIP"
    assert Scorecard("q", [passed, skipped]).verdict == "PASS"
    assert Scorecard("q", [passed, failed]).verdict == "FAIL"
    assert Scorecard("q", [failed], error="x").verdict == "ERROR"


def test_a_card_records_what_a_reader_of_the_report_needs() -> None:
    """SQL, capped rows, answer, durations, the reference; all of it JSON-ready."""
    rows: list[dict[str, Any]] = [
        {"i": n, "d": Decimal("1.50"), "f": float("nan"), "big": 10**5000, "b": b"x", "none": None}
        for n in range(30)
    ]
    trace = Trace(
        QUESTION,
        [
            {"kind": "generate", "name": "try", "output": "SELECT 1"},
            {"kind": "generate", "output": "SELECT 2"},
            {"kind": "execute", "rows": rows, "latency_ms": 12.5},
            {"kind": "answer", "output": "x" * 5000},
        ],
        {"model": "m", "tokens": {"input": 10}, "service": "", "private": 1},
    )
    meta = evaluate(
        trace, Case(QUESTION, reference_sql="SELECT 3"), execute=lambda sql: [{"n": 1}]
    ).meta
    assert meta["sql"] == ["SELECT 1", "SELECT 2"]
    assert meta["rows"]["count"] == 30
    assert len(meta["rows"]["first"]) == 20
    assert meta["rows"]["first"][1] == {
        "i": 1,
        "d": "1.50",
        "f": "nan",
        "big": "<int>",
        "b": "b'x'",
        "none": None,
    }
    assert meta["answer"] == "x" * 1999 + "…"
    assert meta["latency_ms"] == {"execute": 12.5}
    assert (meta["model"], meta["tokens"]) == ("m", {"input": 10})
    assert meta["reference"] == [{"sql": "SELECT 3", "rows": {"count": 1, "first": [{"n": 1}]}}]
    assert not {"service", "private"} & set(meta)


def test_the_same_inputs_give_equal_cards() -> None:
    """Nothing of the clock is in them."""
    cards = [
        evaluate(TRACE, CASE, rules=[ReadOnly()], execute=lambda sql: [{"n": 3}]).to_dict()
        for _ in range(2)
    ]
    assert cards[0] == cards[1]
    assert Stage("execute").meta == {}
