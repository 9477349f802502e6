"""A failure goes back to the stage where it was made, not where it shows."""

from __future__ import annotations

from typing import Any

import pytest

from dbagenteval import Case, NumbersGrounded, Stage, Trace
from dbagenteval.evaluation import try_evaluate
from dbagenteval.failures import Blame, blame
from dbagenteval.failures.database_errors import blames_statement
from dbagenteval.rules import MaxRows, TenantFilter

RIGHT = "SELECT COUNT(*) AS n FROM orders WHERE status = 'open'"
WRONG = "SELECT COUNT(*) AS n FROM orders"
CASE = Case("How many orders are open?", reference_sql=RIGHT)


def trace_of(*stages: dict[str, Any]) -> Trace:
    return Trace(CASE.question, [Stage(**stage) for stage in stages])


def sql(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "generate", "output": text, **more}


def rows(*values: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "execute", "rows": [{"n": value} for value in values], **more}


def answer(text: str) -> dict[str, Any]:
    return {"kind": "answer", "output": text}


def blamed(trace: Trace, case: Case = CASE, reference: Any = 3, **options: Any) -> Blame:
    again = options.pop("again", None)
    rules = options.pop("rules", [NumbersGrounded()])
    given = reference if isinstance(reference, list) else [{"n": reference}]
    card = try_evaluate(trace, case, rules=rules, execute=lambda _: given)
    assert card.verdict == "FAIL", card.summary()
    found = blame(card, trace, case, again=again)
    assert found is not None
    return found


def test_wrong_rows_that_the_sql_says_are_the_sql() -> None:
    """They show at execute; with the right SQL the answer would have been right."""
    found = blamed(trace_of(sql(WRONG), rows(7), answer("7 orders are open.")))
    assert (found.kind, found.stage) == ("generate", "generate")
    assert found.why == "missing filter on orders.status"
    assert (found.given_tables, found.given_sql, found.given_rows) == (False, True, True)


def test_wrong_rows_and_a_wrong_answer() -> None:
    """The right SQL alone would not have been enough."""
    found = blamed(trace_of(sql(WRONG), rows(7), answer("9 orders are open.")))
    assert (found.kind, found.given_sql, found.given_rows) == ("generate", False, False)


def test_wrong_rows_of_the_right_sql_are_the_execution() -> None:
    """The SQL is the reference's, in other words."""
    same = "select count(*) as n from orders as o where o.status = 'open'"
    found = blamed(trace_of(sql(same), rows(7), answer("7 orders are open.")))
    assert (found.kind, found.stage, found.given_sql) == ("execute", "execute", False)
    assert found.given_rows is True


@pytest.mark.parametrize(("again", "kind"), [(7, "generate"), (3, "execute")])
def test_running_the_sql_again_tells_wrong_sql_from_wrong_rows(again: int, kind: str) -> None:
    """Only if the user asked for it."""
    other = "SELECT n FROM open_orders"
    found = blamed(
        trace_of(sql(other), rows(7), answer("7 orders are open.")),
        again=lambda text, _: [{"n": again}] if text == other else None,
    )
    assert found.kind == kind


def test_a_number_that_the_rows_do_not_hold_is_the_answer() -> None:
    """SQL and rows are right."""
    found = blamed(trace_of(sql(RIGHT), rows(3), answer("17 orders are open.")))
    assert (found.kind, found.stage, found.given_rows) == ("answer", "answer", False)
    assert found.why == "its own check numbers_grounded failed"


def test_the_wrong_one_of_the_right_rows_is_the_answer() -> None:
    """More rows than the reference gives are no fault of the answer's, picking one is."""
    case = Case("Who spent most?", reference_sql="SELECT who, n FROM t ORDER BY n DESC LIMIT 1")
    three = [{"who": "Ada", "n": 9}, {"who": "Bob", "n": 8}, {"who": "Cleo", "n": 7}]
    agent = "SELECT who, n FROM t ORDER BY n DESC LIMIT 3"
    stages = [Stage("generate", output=agent), Stage("execute", rows=three)]
    given: dict[str, Any] = {
        "case": case,
        "reference": three[:1],
        "rules": [NumbersGrounded(pairing=True)],
    }
    wrong = Trace(case.question, [*stages, Stage("answer", output="Bob spent 9.")])
    assert blamed(wrong, **given).kind == "answer"
    right = Trace(case.question, [*stages, Stage("answer", output="Ada spent 9.")])
    assert blamed(right, **given).kind == "generate"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("OperationalError: no such column: order_status", "generate"),
        ('UndefinedTable: relation "shipments" does not exist', "generate"),
        ("Binder Error: Referenced column not found", "generate"),
        ("(1054, \"Unknown column 'x' in 'field list'\")", "generate"),
        ("ORA-00942: table or view does not exist", "generate"),
        ("permission denied for table salaries", "generate"),
        ("connection refused", "execute"),
        ("OperationalError: database is locked", "execute"),
        ("canceling statement due to statement timeout", "execute"),
        ("server closed the connection unexpectedly", "execute"),
        ("something went wrong", "execute"),
    ],
)
def test_an_error_is_the_statements_or_the_databases(error: str, kind: str) -> None:
    """By what its text speaks of."""
    trace = trace_of(sql(WRONG), {"kind": "execute", "error": error}, answer("Sorry."))
    assert blamed(trace).kind == kind
    assert blames_statement(error) is (kind == "generate")


def test_the_last_attempt_is_blamed() -> None:
    """Not the one before, which it made good."""
    trace = trace_of(
        sql("SELECT x FROM orders"),
        {"kind": "execute", "error": "no such column: x"},
        sql(WRONG, name="generate_2"),
        rows(7, name="execute_2"),
        answer("7 orders are open."),
    )
    assert blamed(trace).stage == "generate_2"


@pytest.mark.parametrize("kind", ["route", "retrieve"])
def test_tables_that_were_never_given(kind: str) -> None:
    """SQL over the only table that was given is not to blame for another one missing."""
    given = {"kind": kind, "output": "carts" if kind == "route" else ["carts.status", "carts.n"]}
    trace = trace_of(given, sql("SELECT COUNT(*) AS n FROM carts"), rows(7), answer("7 are open."))
    found = blamed(trace)
    assert (found.kind, found.stage) == (kind, kind)
    assert found.why.startswith("it did not give orders; ")
    assert (found.given_tables, found.given_sql) == (None, True)


@pytest.mark.parametrize(
    "output", [["carts.status", "orders.status"], ["status", "n"], "sales", None, 3]
)
def test_a_stage_that_gave_them_or_gives_no_tables(output: Any) -> None:
    """Is not to blame."""
    given = {"kind": "retrieve", "output": output}
    trace = trace_of(given, sql("SELECT COUNT(*) AS n FROM carts"), rows(7), answer("7 are open."))
    assert blamed(trace).kind == "generate"


@pytest.mark.parametrize("kind", ["route", "plan", "retrieve"])
def test_a_stage_that_fails_its_own_check(kind: str) -> None:
    """Is the first to fail and the one to blame."""
    case = Case(CASE.question, {kind: "orders"}, reference_sql=RIGHT)
    trace = trace_of({"kind": kind, "output": "carts"}, sql(WRONG), rows(7), answer("7 are open."))
    assert blamed(trace, case).kind == kind


def test_rules_on_sql_and_on_rows() -> None:
    """Both are what the SQL does."""
    trace = trace_of(sql(RIGHT), rows(3), answer("3 orders are open."))
    assert blamed(trace, rules=[TenantFilter("tenant_id")]).kind == "generate"
    found = blamed(trace, rules=[MaxRows(0)])
    assert (found.kind, found.why) == ("generate", "max_rows failed on the rows that the SQL gave")


def test_without_a_case() -> None:
    """A broken rule is enough."""
    trace = trace_of(sql(WRONG), rows(7), answer("7 orders."))
    card = try_evaluate(trace, rules=[TenantFilter("tenant_id")])
    found = blame(card, trace, None)
    assert found is not None
    assert found.kind == "generate"


def test_only_an_answer() -> None:
    """Where neither SQL nor rows are shown it can only be the answer."""
    found = blamed(trace_of(answer("7 orders are open.")), rules=[])
    assert (found.kind, found.stage) == ("answer", "answer")


def test_hidden_rows_and_sql_that_is_wrong() -> None:
    """The answer is compared, and the SQL explains it."""
    hidden = {
        "kind": "execute",
        "meta": {"observed": {"rows": {"state": "not captured", "why": ""}}},
    }
    found = blamed(trace_of(sql(WRONG), hidden, answer("7 orders are open.")), rules=[])
    assert found.kind == "generate"
    found = blamed(trace_of(sql(RIGHT), hidden, answer("7 orders are open.")), rules=[])
    assert found.kind == "answer"


def test_no_failure_no_blame() -> None:
    """Of cards that passed, were skipped or could not be judged."""
    trace = trace_of(sql(RIGHT), rows(3), answer("3 orders are open."))
    for case, execute in ((CASE, lambda _: [{"n": 3}]), (None, None), (CASE, None)):
        assert blame(try_evaluate(trace, case, execute=execute), trace, case) is None
