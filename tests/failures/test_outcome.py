"""What is kept of a scored trace."""

from __future__ import annotations

import pytest

from dbagenteval.cases import Case
from dbagenteval.evaluation import try_evaluate
from dbagenteval.failures import Outcome, outcome_of
from dbagenteval.rules import TenantFilter
from dbagenteval.scorecard import CheckResult, Scorecard
from dbagenteval.traces import Stage, Trace

QUESTION = "How many customers do we have?"
CASE = Case(
    QUESTION, reference_sql="SELECT COUNT(*) FROM customers WHERE tenant_id = 1", id="count"
)


def outcome(trace: Trace, case: Case | None = CASE, **options) -> Outcome:
    trace.meta.update(trace_ids=["t1"], start_ns=5, service="shop")
    card = try_evaluate(trace, case, execute=lambda _: [{"n": 32}], **options)
    return outcome_of(card, trace, case)


def test_failure_with_reference():
    """A wrong result is kept with stage, check, reason, tables, structure and edit."""
    trace = Trace.simple(QUESTION, "57", "SELECT COUNT(*) FROM customers", [{"n": 57}])
    found = outcome(trace)
    assert found == Outcome(
        verdict="FAIL",
        question=QUESTION,
        stage="execute",
        check="reference_rows",
        reason="different_values",
        tables=("customers",),
        structure="SELECT COUNT(*) FROM customers",
        edit=("missing_filter:customers.tenant_id",),
        case_id="count",
        trace_id="t1",
        start_ns=5,
        service="shop",
    )


def test_round_trip():
    """What is written down reads back equal, and other keys are passed over."""
    found = outcome(Trace.simple(QUESTION, "57", "SELECT COUNT(*) FROM customers", [{"n": 57}]))
    assert Outcome.from_dict({**found.to_dict(), "run": "r1"}) == found


def test_round_trip_without_question():
    """A trace whose question was not captured is kept and read back as any other."""
    found = outcome(Trace("", [Stage("generate", output="SELECT 1")]), None)
    assert found.question == ""
    assert Outcome.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("references", "edit"),
    [
        (["SELECT COUNT(*) FROM customers LIMIT 5", "SELECT COUNT(*) FROM customers"], ("same",)),
        (
            ["SELECT COUNT( FROM customers", "SELECT COUNT(*) FROM people WHERE is_active LIMIT 5"],
            ("other_table:people->customers", "missing_filter:people.is_active", "limit"),
        ),
    ],
)
def test_which_reference_is_closest(references, edit):
    """One that does the same is closer than any other, one that can't be analysed further."""
    sql = "SELECT  COUNT(*) FROM customers"
    card = Scorecard(QUESTION, [CheckResult("reference_rows", "execute", "fail")])
    case = Case(QUESTION, reference_sql=references)
    assert outcome_of(card, Trace.simple(QUESTION, "57", sql), case).edit == edit


def test_closest_reference_gives_the_edit():
    """Of several right queries the one that differs least tells the edit."""
    references = [
        "SELECT COUNT(*) FROM accounts JOIN people USING (id) WHERE kind = 'x'",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 2",
    ]
    case = Case(QUESTION, reference_sql=references)
    sql = "SELECT COUNT(*) FROM customers WHERE tenant_id = 1"
    found = outcome(Trace.simple(QUESTION, "57", sql, [{"n": 57}]), case)
    assert found.edit == ("wrong_literal:customers.tenant_id",)


def test_pass_has_no_edit():
    """A trace that passed is kept with structure and tables alone."""
    sql = "SELECT COUNT(*) FROM customers WHERE 1 = tenant_id"
    found = outcome(Trace.simple(QUESTION, "32", sql, [{"n": 32}]))
    assert found.verdict == "PASS"
    assert (found.stage, found.check, found.reason, found.edit) == ("", "", "", ())
    assert found.structure == "SELECT COUNT(*) FROM customers WHERE customers.tenant_id = :number"


def test_broken_rule_without_case():
    """A rule has no reason code: its detail stands for it, without names and values."""
    sql = "SELECT c.a FROM customers c JOIN orders o ON o.c = c.id WHERE c.name = 'Anna'"
    found = outcome(
        Trace.simple("?", "a", sql, [{"a": 1}]), None, rules=[TenantFilter("tenant_id")]
    )
    assert found.reason == "no tenant_id filter on …"
    assert (found.check, found.tables) == ("tenant_filter", ("customers", "orders"))
    assert (found.case_id, found.edit) == ("", ())


def test_evaluation_that_could_not_run():
    """An ERROR is kept as such, with what raised but for its values."""

    def broken(_):
        raise RuntimeError("no such host 'db17', port 5432")

    trace = Trace.simple(QUESTION, "57", "SELECT COUNT(*) FROM customers", [{"n": 57}])
    found = outcome_of(try_evaluate(trace, CASE, execute=broken), trace, CASE)
    assert (found.verdict, found.check) == ("ERROR", "evaluation")
    assert "no such host …, port …" in found.reason


def test_several_statements_take_the_last():
    """An agent that corrected itself is kept by its last SQL, and by a stage without number."""
    trace = Trace(
        QUESTION,
        [
            {"name": "generate", "kind": "generate", "output": "SELECT nope FROM customers"},
            {"name": "generate_2", "kind": "generate", "output": "SELECT MAX(id) FROM customers"},
            {"name": "execute_2", "kind": "execute", "rows": [{"n": 57}]},
        ],
    )
    found = outcome(trace)
    assert found.structure == "SELECT MAX(customers.id) FROM customers"
    assert found.stage == "execute"
