"""rows_match, reference_rows and reference_numbers."""

from __future__ import annotations

from typing import Any

import pytest

from dbagenteval import Case, Stage, Trace, evaluate
from dbagenteval.checks.sql_text import (
    doubled_columns,
    has_outer_order_by,
    reads_a_source,
    without_limit,
)

QUESTION = "How many orders?"


def checked(trace: Trace, case: Case, reference: Any = None) -> dict[str, tuple[str, str]]:
    """Evaluate; give status and detail of each check but no_error."""
    card = evaluate(trace, case, execute=lambda sql: reference)
    return {
        result.check: (result.status, result.detail)
        for result in card.results
        if result.check != "no_error"
    }


def rows_trace(rows: Any, **more: Any) -> Trace:
    """A trace with result rows."""
    return Trace.simple(QUESTION, sql="SELECT n FROM orders", rows=rows, **more)


@pytest.mark.parametrize(
    ("trace", "expect", "found"),
    [
        (rows_trace([{"n": 2}]), [{"total": 2}], ("pass", "1 row(s)")),
        (
            rows_trace([{"n": 3}]),
            [{"total": 2}],
            ("fail", "got 1 row(s), first: [{'n': 3}]; expected 1 row(s), first: [{'total': 2}]"),
        ),
        (
            rows_trace([{"n": 3}]),
            [[{"n": 2}], [{"n": 3}]],
            ("pass", "1 row(s), matched accepted answer 2 of 2"),
        ),
        (
            rows_trace([{"n": 4}]),
            [[{"n": 2}], [{"n": 3}]],
            ("fail", "got 1 row(s), first: [{'n': 4}]; expected 1 row(s), first: [{'n': 2}]"),
        ),
        (
            rows_trace([]),
            [{"n": 2}],
            ("fail", "got 0 row(s), first: []; expected 1 row(s), first: [{'n': 2}]"),
        ),
        (Trace.simple(QUESTION, answer="2"), [{"n": 2}], ("fail", "no execute stage in trace")),
        (
            Trace(QUESTION, [Stage("execute")]),
            [{"n": 2}],
            ("fail", "the execute stage recorded no rows"),
        ),
        (
            Trace.simple(QUESTION, error="boom"),
            [{"n": 2}],
            ("skip", "stage raised, no rows to compare"),
        ),
        (
            Trace.simple(QUESTION, error=""),
            [{"n": 2}],
            ("skip", "stage raised, no rows to compare"),
        ),
    ],
)
def test_rows_match(trace: Trace, expect: Any, found: tuple[str, str]) -> None:
    """The agent's rows against rows written by hand."""
    assert checked(trace, Case(QUESTION, expect={"rows": expect})) == {"rows_match": found}


def test_the_last_execution_is_the_result() -> None:
    """An agent that looks around first is judged by its last query."""
    trace = Trace(
        QUESTION, [Stage("execute", "a", rows=[{"n": 2}]), Stage("execute", "b", rows=[{"n": 3}])]
    )
    card = evaluate(trace, Case(QUESTION, expect={"rows": [{"n": 2}]}))
    assert (card.verdict, card.failed_stage) == ("FAIL", "b")
    assert evaluate(trace, Case(QUESTION, expect={"rows": [{"n": 3}]})).verdict == "PASS"


@pytest.mark.parametrize(
    ("trace", "reference", "found"),
    [
        (rows_trace([{"n": 2}]), [{"count": 2}], {"reference_rows": ("pass", "1 row(s)")}),
        (
            rows_trace([{"n": 2}]),
            [{"n": 1}, {"n": 1}],
            {
                "reference_rows": (
                    "fail",
                    "got 1 row(s), first: [{'n': 2}]; the reference query gives 2 row(s), first: [{'n': 1}]",
                )
            },
        ),
        (
            Trace.simple(QUESTION, error="boom"),
            [{"n": 1}],
            {"reference_rows": ("skip", "stage raised, no rows to compare")},
        ),
        (
            Trace.simple(QUESTION, sql="SELECT 1"),
            [{"n": 1}],
            {
                "reference_rows": (
                    "fail",
                    "the trace has neither result rows nor an answer to compare with the reference",
                )
            },
        ),
        (
            Trace.simple(QUESTION, answer={"n": 1}),
            [{"n": 1}],
            {
                "reference_rows": (
                    "fail",
                    "the trace has neither result rows nor an answer to compare with the reference",
                )
            },
        ),
        (
            Trace.simple(QUESTION, answer="There are 3."),
            [{"n": 3}],
            {"reference_numbers": ("pass", "")},
        ),
        (
            Trace.simple(QUESTION, answer="There are 4."),
            [{"n": 3}],
            {"reference_numbers": ("fail", "not in the reference result: ['4']")},
        ),
    ],
)
def test_reference(trace: Trace, reference: Any, found: dict[str, tuple[str, str]]) -> None:
    """Rows against rows; an answer text only where there are no rows."""
    assert checked(trace, Case(QUESTION, reference_sql="SELECT n FROM orders"), reference) == found


def test_the_executor_gets_each_reference_once_and_never_the_agents_sql() -> None:
    """And nothing at all without a reference."""
    ran: list[str] = []

    def execute(sql: str) -> list[dict[str, Any]]:
        ran.append(sql)
        return [{"n": 2}]

    evaluate(rows_trace([{"n": 2}]), Case(QUESTION), execute=execute)
    assert ran == []
    evaluate(
        rows_trace([{"n": 2}]),
        Case(QUESTION, reference_sql=["SELECT 1", "SELECT 2"]),
        execute=execute,
    )
    assert ran == ["SELECT 1", "SELECT 2"]


@pytest.mark.parametrize(
    ("n", "status", "detail"),
    [
        (1, "pass", "1 row(s), matched reference 1 of 2"),
        (2, "pass", "1 row(s), matched reference 2 of 2"),
        (
            3,
            "fail",
            "got 1 row(s), first: [{'n': 3}]; none of 2 reference queries agrees; the first gives 1 row(s), first: [{'n': 1}]",
        ),
    ],
)
def test_one_of_several_references_must_agree(n: int, status: str, detail: str) -> None:
    """A pass names which one did."""
    case = Case(QUESTION, reference_sql=["SELECT 1", "SELECT 2"])
    card = evaluate(rows_trace([{"n": n}]), case, execute=lambda sql: [{"n": int(sql[-1])}])
    assert (card.results[-1].status, card.results[-1].detail.split("; warning")[0]) == (
        status,
        detail,
    )


def test_an_answer_may_agree_with_the_second_reference() -> None:
    """Also where there is only a text."""
    case = Case(QUESTION, reference_sql=["SELECT 1", "SELECT 2"])
    card = evaluate(
        Trace.simple(QUESTION, answer="There are 2."),
        case,
        execute=lambda sql: [{"n": int(sql[-1])}],
    )
    assert (card.verdict, card.results[-1].detail) == ("PASS", "matched reference 2 of 2")
    card = evaluate(
        Trace.simple(QUESTION, answer="There are 9."),
        case,
        execute=lambda sql: [{"n": int(sql[-1])}],
    )
    assert (card.verdict, card.results[-1].detail) == ("FAIL", "not in the reference result: ['9']")


@pytest.mark.parametrize(
    ("execute", "error", "message"),
    [
        (
            None,
            ValueError,
            r"^the case has `reference_sql` but no `execute` function was given to run it$",
        ),
        (lambda sql: {}["t"], RuntimeError, r"^the reference SQL failed to run: KeyError: 't'$"),
        (
            lambda sql: [(1,)],
            ValueError,
            r"^the `execute` function must return a list of dicts: stage 'reference': rows must be a list of dicts \(column name -> value\); convert cursor tuples with dict\(zip\(columns, row\)\)$",
        ),
        (lambda sql: None, ValueError, r"got None: does the function return its rows\?$"),
        (
            lambda sql: [{"n": 1}],
            ValueError,
            r"^the reference SQL gives 2 columns but the rows have 1: name each column once \(doubled: n\)$",
        ),
    ],
)
def test_a_reference_that_can_not_be_run(
    execute: Any, error: type[Exception], message: str
) -> None:
    """It is a mistake of the test, never a verdict about the agent."""
    case = Case(QUESTION, reference_sql="SELECT COUNT(*) AS n, SUM(amount) AS N FROM orders")
    with pytest.raises(error, match=message):
        evaluate(rows_trace([{"n": 1}]), case, execute=execute)


def test_order_counts_only_where_the_case_asks() -> None:
    """`auto` takes it from the reference's own ORDER BY."""
    trace = rows_trace([{"n": 2}, {"n": 1}])
    reference = [{"n": 1}, {"n": 2}]
    for ordered, sql, status in [
        (False, "SELECT n FROM t ORDER BY n", "pass"),
        (True, "SELECT n FROM t", "fail"),
        ("auto", "SELECT n FROM t ORDER BY n", "fail"),
        ("auto", "SELECT n FROM (SELECT n FROM t ORDER BY n) AS t", "pass"),
    ]:
        case = Case(QUESTION, reference_sql=sql, ordered=ordered)
        assert checked(trace, case, reference)["reference_rows"][0] == status


def test_the_settings_of_the_case_reach_the_comparison() -> None:
    """Precision, tolerance, column names, extra columns, emptiness."""
    for fields, rows, reference, status in [
        ({"precision": 2}, [{"n": 0.001}], [{"n": 0.004}], "pass"),
        ({"precision": 3}, [{"n": 0.001}], [{"n": 0.004}], "fail"),
        ({"tolerance": {"relative": 0.1}}, [{"n": 105}], [{"n": 100}], "pass"),
        ({"tolerance": {"relative": 0.01}}, [{"n": 105}], [{"n": 100}], "fail"),
        ({"columns": "by_name"}, [{"m": 1}], [{"n": 1}], "fail"),
        ({"extra_columns": "fail"}, [{"n": 1, "m": 2}], [{"n": 1}], "fail"),
        ({"extra_columns": "allow"}, [{"n": 1, "m": 2}], [{"n": 1}], "pass"),
        ({"empty": "fail"}, [], [], "fail"),
    ]:
        case = Case(QUESTION, reference_sql="SELECT n FROM t", **fields)
        assert checked(rows_trace(rows), case, reference)["reference_rows"][0] == status, fields


def test_ties_at_a_limit_are_accepted_where_the_case_says_so() -> None:
    """The reference is run without its LIMIT to know which rows were as good."""
    whole = [{"name": "a", "n": 3}, {"name": "b", "n": 2}, {"name": "c", "n": 2}]

    def execute(sql: str) -> list[dict[str, Any]]:
        return whole[:2] if "LIMIT" in sql else whole

    sql = "SELECT name, n FROM t ORDER BY n DESC LIMIT 2"
    for ties, name, verdict in [
        ("reject", "c", "FAIL"),
        ("accept", "c", "PASS"),
        ("accept", "d", "FAIL"),
    ]:
        case = Case(QUESTION, reference_sql=sql, ties=ties)
        trace = rows_trace([{"name": "a", "n": 3}, {"name": name, "n": 2}])
        assert evaluate(trace, case, execute=execute).verdict == verdict


def hidden(state: str) -> Trace:
    """A trace from spans whose rows are no evidence."""
    notes = {"observed": {"rows": {"state": state, "why": "see the collector"}}}
    return Trace(
        QUESTION, [Stage("execute", rows=[{"n": 2}] if state == "cut" else None, meta=notes)]
    )


@pytest.mark.parametrize("state", ["masked", "cut", "unparseable", "not captured"])
def test_rows_that_were_not_seen_skip_with_the_reason(state: str) -> None:
    """They neither pass nor fail, and the case as a whole did not pass."""
    case = Case(QUESTION, expect={"rows": [{"n": 2}]}, reference_sql="SELECT n FROM t")
    card = evaluate(hidden(state), case, execute=lambda sql: [{"n": 2}])
    results = [result for result in card.results if result.check != "no_error"]
    assert [(result.check, result.status, result.reason) for result in results] == [
        ("rows_match", "skip", "not_observed"),
        ("reference_rows", "skip", "not_observed"),
    ]
    assert {result.detail for result in results} == {f"rows {state}: see the collector"}
    assert card.verdict == "SKIP"


def test_an_empty_result_that_was_seen_is_evidence() -> None:
    """No rows is an answer."""
    meta = {"observed": {"rows": {"state": "empty"}}}
    trace = Trace(QUESTION, [Stage("execute", rows=[], meta=meta)])
    for reference, status in [([], "pass"), ([{"n": 1}], "fail")]:
        found = checked(trace, Case(QUESTION, reference_sql="S"), reference)
        assert found["reference_rows"][0] == status


def test_where_rows_were_not_seen_the_answer_is_compared_too() -> None:
    """It is evidence of its own."""
    trace = hidden("masked")
    trace.stages.append(Stage("answer", output="There are 7."))
    found = checked(trace, Case(QUESTION, reference_sql="SELECT n FROM t"), [{"n": 2}])
    assert found["reference_rows"][0] == "skip"
    assert found["reference_numbers"] == ("fail", "not in the reference result: ['7']")


def test_an_execution_that_was_not_seen_at_all_is_known_from_the_trace() -> None:
    """Its meta lists what could not be observed."""
    note = {"what": "rows", "stage": "execute", "state": "not captured", "why": "no driver span"}
    trace = Trace(QUESTION, [Stage("answer", output="2")], {"not_observed": [note]})
    found = checked(trace, Case(QUESTION, expect={"rows": [{"n": 2}]}))
    assert found == {"rows_match": ("skip", "rows not captured: no driver span")}


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n by a limit 3", True),
        ("(SELECT a FROM t ORDER BY a)", False),
        ("SELECT a, ROW_NUMBER() OVER (ORDER BY b) FROM t", False),
        ("SELECT 'order by' FROM t -- order by x", False),
        ('SELECT "order" FROM t /* order by */', False),
        ("SELECT a FROM t UNION SELECT a FROM u ORDER BY 1", True),
        ("WITH t AS (SELECT 1 ORDER BY 1) SELECT * FROM t", False),
    ],
)
def test_outermost_order(sql: str, ordered: bool) -> None:
    """Not in a subquery, a window, a text or a comment."""
    assert has_outer_order_by(sql) is ordered


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ("SELECT a FROM t ORDER BY a LIMIT 3", "SELECT a FROM t ORDER BY a"),
        ("SELECT a FROM t LIMIT 3 OFFSET 2", "SELECT a FROM t"),
        ("SELECT a FROM t FETCH FIRST 3 ROWS ONLY", "SELECT a FROM t"),
        ("SELECT a FROM (SELECT a FROM t LIMIT 3) AS t", None),
        ("SELECT 'limit 3' FROM t", None),
    ],
)
def test_without_limit(sql: str, whole: str | None) -> None:
    """Only the outermost one is cut off."""
    assert without_limit(sql) == whole


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT a, b FROM t", (2, [])),
        ("SELECT COUNT(*) AS n, SUM(x) AS n FROM t", (2, ["n"])),
        ("SELECT t.a, u.a FROM t JOIN u ON 1 = 1", (2, ["a"])),
        ('SELECT a AS "N", b AS n', (2, ["n"])),
        ("SELECT *, a FROM t", (0, [])),
        ("SELECT t.* FROM t", (0, [])),
        ("WITH c AS (SELECT a, a AS b FROM t) SELECT a FROM c", (1, [])),
        ("SELECT MAX(a), MAX(b) FROM t", (2, ["unnamed expressions"])),
        ("SELECT f(a, b) x, x FROM t", (2, ["x"])),
    ],
)
def test_doubled_columns(sql: str, found: tuple[int, list[str]]) -> None:
    """Output names of the outermost SELECT, where it lists them."""
    assert doubled_columns(sql) == found


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT 3", False),
        ("SELECT 'from t' -- from t", False),
        ("SELECT 3 FROM t", True),
        ("SELECT (SELECT n FROM t)", True),
    ],
)
def test_reading_anything(sql: str, reads: bool) -> None:
    """A constant query reads nothing."""
    assert reads_a_source(sql) is reads
