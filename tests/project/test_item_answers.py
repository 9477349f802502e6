"""Situations 1 to 29: what makes an answer right, wrong, or not verified."""

from __future__ import annotations

import datetime
import json
import shutil
from typing import Any

import pytest

from dbagenteval.cli.main import main
from dbagenteval.project.agent.reply import reply_of_trace
from dbagenteval.project.verdict.comparison import compare_answer
from dbagenteval.traces import Stage, Trace

CUSTOMERS = "SELECT COUNT(*) AS n FROM main.customers"
UTC = datetime.timezone.utc


@pytest.fixture
def ask(folder: Any, agent: Any) -> Any:
    """Runs one test with one reply and gives the exit code and the result."""
    folder.make_database()

    def run(sql: str | None, reply: Any, extra: str = "", *arguments: str) -> tuple[int, Any]:
        shutil.rmtree(folder.root / "tests")
        reference = f"sql: {json.dumps(sql)}\n" if sql is not None else ""
        folder.write("tests/only.yml", f"name: only\nprompt: How many?\n{reference}{extra}")
        agent.asked.clear()
        agent.reply = reply if callable(reply) else lambda request: reply
        code = main(["test", "-p", str(folder.root), "--agent", agent.url, *arguments])
        files = list((folder.root / "tests" / "outputs").glob("results_*.json"))
        return code, json.loads(files[0].read_text("utf-8"))["results"][0] if files else None

    return run


def _call(sql: str, result: Any) -> dict[str, Any]:
    return {"toolName": "execute_sql", "args": {"sql": sql}, "result": result}


def test_item_01_zero_rows_must_be_claimed(ask) -> None:
    """Words without rows do not match a reference without rows."""
    sql = "SELECT city FROM main.customers WHERE city = 'Paris'"
    assert ask(sql, {"text": "I cannot answer this.", "rows": []})[1]["verdict"] == "refused"
    assert ask(sql, {"text": "Hm, no idea."})[1]["verdict"] == "not_verified"
    assert ask(sql, {"text": "Nobody.", "rows": []})[1]["verdict"] == "pass"


def test_item_05_order_counts_where_the_reference_orders(ask) -> None:
    """An outermost ORDER BY of the reference, or `ordered`, makes order count."""
    backwards = {"rows": [{"n": 2}, {"n": 1}, {"n": 0}]}
    rows = "SELECT n FROM range(3) t(n)"
    assert ask(rows, backwards)[1]["verdict"] == "pass"
    assert ask(f"{rows} ORDER BY n", backwards)[1]["reason"] == "row_order"
    assert ask(f"{rows} ORDER BY n", backwards, "ordered: false\n")[1]["verdict"] == "pass"
    assert ask(rows, backwards, "ordered: true\n")[1]["verdict"] == "fail"
    inner = f"SELECT n FROM ({rows} ORDER BY n) s"
    assert ask(inner, backwards)[1]["verdict"] == "pass"


def test_item_08_times_are_compared_as_instants() -> None:
    """The same instant in another zone is equal; with and without a zone is told as unknown."""
    noon = [{"t": datetime.datetime(2018, 4, 9, 12, tzinfo=UTC)}]
    assert compare_answer(noon, [{"t": "2018-04-09T14:00:00+02:00"}]).equal
    assert not compare_answer(noon, [{"t": "2018-04-09T12:00:00+02:00"}]).equal
    assert compare_answer(noon, [{"t": "2018-04-09T12:00:00"}]).reason == "time_zone"


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        ([0.12, 0.3], [12.0, 30], "100 times the expected value: percent"),
        ([1200, 3400], [1.2, 3.4], "divided by 1,000: thousands"),
        ([158500], [1585], "divided by 100: percent against ratio, or cents"),
    ],
)
def test_item_09_a_unit_is_named(expected: list[Any], actual: list[Any], words: str) -> None:
    """A constant factor fails, and is told as a unit."""
    found = compare_answer([{"x": value} for value in expected], [{"x": value} for value in actual])
    assert not found.equal
    assert words in found.detail


def test_item_11_rows_are_told_apart_by_their_key() -> None:
    """With another number of rows, the changed cell and the extra row are still named."""
    expected = [{"city": "Oslo", "n": 2}, {"city": "Bodø", "n": 1}]
    actual = [{"city": "Oslo", "n": 2}, {"city": "Bodø", "n": 7}, {"city": "Røst", "n": 9}]
    evidence = compare_answer(expected, actual).evidence
    assert evidence["differences"] == [
        {"row": {"city": "Bodø"}, "column": "n", "actual_column": "n", "expected": 1, "actual": 7}
    ]
    assert {"row": {"city": "Røst", "n": 9}, "count": 1} in evidence["extra"]


GROUPS = [{"city": "Oslo", "n": 2, "m": 1.5}, {"city": "Bodø", "n": 3, "m": 2.0}]
NONE = {"city": "Røst", "n": 0, "m": 0.0}
TOTAL = {"city": None, "n": 5, "m": 3.5}


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        (GROUPS, [*GROUPS, TOTAL], "one row more, the total of the others"),
        ([*GROUPS, TOTAL], GROUPS, "the row with the total of the others is missing"),
        ([*GROUPS, NONE], GROUPS, "the groups that count nothing are missing"),
        (GROUPS, [*GROUPS, NONE], "groups that count nothing are there too"),
        (GROUPS, [*GROUPS, {**TOTAL, "n": 6}], "a filter is missing"),
        ([*GROUPS, {**NONE, "m": 1.0}], GROUPS, "only some of the expected rows"),
    ],
)
def test_item_12_total_rows_and_empty_groups_are_named(
    expected: list[Any], actual: list[Any], words: str
) -> None:
    """A total row and groups of zero are told as what they are, other rows are not."""
    found = compare_answer(expected, actual)
    assert not found.equal
    assert words in found.detail


def test_item_13_null_zero_and_empty_text_are_told_apart() -> None:
    """Null is not 0, and is written as it is; null for an empty text is noted."""
    assert "n: None, expected 0" in compare_answer([{"n": 0}], [{"n": None}]).detail
    assert "n: 0, expected None" in compare_answer([{"n": None}], [{"n": 0}]).detail
    blank = compare_answer([{"n": None}], [{"n": ""}])
    assert blank.equal
    assert "null equals empty text" in blank.notes[0]
    for here, there in ((None, ""), ("", None), ("x", "")):
        found = compare_answer([{"n": here}], [{"n": there}], empty_for_null="fail")
        assert not found.equal
        assert "(empty text)" in found.detail
    assert compare_answer([{"n": ""}], [{"n": ""}], empty_for_null="fail").equal


def test_item_13_a_test_says_that_null_is_no_empty_text(ask) -> None:
    """`empty_for_null: fail` in its file."""
    sql = "SELECT NULL AS n UNION ALL SELECT 'x'"
    reply = {"rows": [{"n": ""}, {"n": "x"}]}
    assert ask(sql, reply)[1]["verdict"] == "pass"
    assert ask(sql, reply, "empty_for_null: fail\n")[1]["verdict"] == "fail"


def test_an_ambiguous_number_is_told() -> None:
    """`1.234` and `12,5` are read as SQL writes numbers, and a note says so."""
    found = compare_answer([{"x": 1234}], [{"x": "1.234"}])
    assert not found.equal
    assert "'1.234' means other numbers in other countries" in found.notes[0]
    assert compare_answer([{"x": 1.234}], [{"x": "1.234"}]).equal


def test_item_16_long_answers_are_compared_whole(ask) -> None:
    """An answer of 500 rows passes, and fails by its last row."""
    sql = "SELECT n, n * n AS square FROM range(500) t(n)"
    rows = [{"n": n, "square": n * n} for n in range(500)]
    assert ask(sql, {"rows": rows[::-1]})[1]["verdict"] == "pass"
    wrong = [*rows[:-1], {"n": 499, "square": 1}]
    assert ask(sql, {"rows": wrong})[1]["reason"] == "different_values"


def test_item_17_rows_and_text_are_each_judged(ask) -> None:
    """Right rows under a wrong number fail, and so do wrong rows under a right one."""
    right, wrong = [{"n": 4}], [{"n": 5}]
    found = ask(CUSTOMERS, {"rows": right, "text": "There are 5 customers."})[1]
    assert (found["verdict"], found["reason"]) == ("fail", "answer_text")
    found = ask(CUSTOMERS, {"rows": wrong, "text": "There are 4 customers."})[1]
    assert (found["verdict"], found["reason"]) == ("fail", "different_values")


def test_item_18_the_last_query_is_the_answer(ask) -> None:
    """An earlier query is no answer, unless the later ones failed; cut rows are not seen."""
    right = _call(CUSTOMERS, {"data": [{"n": 4}]})
    for last, verdict in (
        (_call("SELECT 9 AS n", {"data": [{"n": 9}]}), "fail"),
        (_call("SELECT 9 AS n", {"data": [{"n": 9}], "truncated": True}), "not_verified"),
        (_call("SELECT 9 AS n", None), "not_verified"),
        (_call("SELECT x", {"error": "no column x"}), "pass"),
    ):
        sql = "SELECT COUNT(*) AS n FROM main.customers GROUP BY 1 = 1"
        reply = {"text": "See the table.", "toolCalls": [right, last]}
        found = ask(f"{sql} UNION ALL SELECT 7 WHERE false", reply)[1]
        if verdict == "not_verified":
            assert found["verdict"] in ("not_verified", "fail"), last
            assert found["details"]["actual_data"] is None
        else:
            assert found["verdict"] == verdict, last


def test_item_18_unseen_rows_of_a_span_hide_the_answer() -> None:
    """In a trace, too, the last query that did not fail gives the rows, or nothing is seen."""

    def rows_of(last: Stage) -> Any:
        first = Stage(kind="execute", name="first", rows=[{"n": 4}])
        return reply_of_trace(Trace(question="How many?", stages=[first, last])).rows

    assert rows_of(Stage(kind="execute", rows=[{"n": 9}])) == [{"n": 9}]
    assert rows_of(Stage(kind="execute")) is None
    assert rows_of(Stage(kind="execute", error="no column x")) == [{"n": 4}]
    assert rows_of(Stage(kind="answer", output="4")) == [{"n": 4}]


@pytest.mark.parametrize(
    ("assertion", "sql", "problem"),
    [
        ("", CUSTOMERS, ""),
        ("", None, "no SQL was seen"),
        ("", "SELECT 4 AS n", "reads no table, and the reference main.customers"),
        ("", "SELECT count(*) FROM main.orders", "reads main.orders, and the reference"),
        ("", "SELECT * FROM read_csv('x')", "it can't be told what the agent's SQL reads"),
        (", tables: [orders]", CUSTOMERS, "but not orders"),
        (", tables: customers", CUSTOMERS, ""),
        (", not_tables: [MAIN.Customers]", CUSTOMERS, "which it must not"),
        (", columns: [customers.city]", CUSTOMERS, "does not use customers.city"),
        (", columns: [customers.city]", f"{CUSTOMERS} WHERE city <> 'x'", ""),
        (", columns: [City]", f"{CUSTOMERS} WHERE city <> 'x'", ""),
        (", columns: [orders.city]", f"{CUSTOMERS} WHERE city <> 'x'", "does not use orders.city"),
    ],
)
def test_item_20_a_right_number_needs_the_right_origin(
    ask, assertion: str, sql: str | None, problem: str
) -> None:
    """A right value that is hard-coded, guessed or from a forbidden table fails."""
    reply = {"rows": [{"n": 4}], **({"sql": sql} if sql else {})}
    code, found = ask(CUSTOMERS, reply, f"assertions: [{{type: provenance{assertion}}}]\n")
    assert (code, found["verdict"]) == ((1, "fail") if problem else (0, "pass")), found
    assert problem in found["message"]


def test_item_20_provenance_can_be_asked_of_all_tests(folder, ask) -> None:
    """`provenance: true` in the configuration holds for each test with a reference."""
    config = folder.root / "dbagenteval.yaml"
    config.write_text(
        config.read_text("utf-8").replace("test:\n", "test:\n  provenance: true\n"), "utf-8"
    )
    assert ask(CUSTOMERS, {"rows": [{"n": 4}]})[1]["reason"] == "assertion"
    assert ask(CUSTOMERS, {"rows": [{"n": 4}], "sql": CUSTOMERS})[1]["verdict"] == "pass"
    told = "assertions: [{type: contains, text: four}]\n"
    assert ask(None, {"text": "four"}, told)[1]["verdict"] == "pass"


def test_item_21_nothing_verified_is_no_pass(ask, agent) -> None:
    """A test without reference, or with an empty one, is invalid before the agent is asked."""
    for sql in ("", None):
        assert ask(sql, {"text": "4"})[0] == 2
        assert agent.asked == []


def test_item_23_references_are_bounded(folder, ask, agent) -> None:
    """A reference of too many rows, or that takes too long, is broken and asks no agent."""
    config = folder.root / "dbagenteval.yaml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("test:\n", "test:\n  reference_max_rows: 10\n"), "utf-8")
    code, found = ask("SELECT n FROM range(11) t(n)", {"rows": []})
    assert (code, found["verdict"]) == (1, "test_broken")
    assert "over 10 rows" in found["error"]
    config.write_text(text.replace("test:\n", "test:\n  reference_timeout: 0.01\n"), "utf-8")
    found = ask("SELECT count(*) FROM range(100000000) t(n) WHERE n % 7 = n % 11", {"rows": []})[1]
    assert "took over 0.01 s" in found["error"]
    assert agent.asked == []


def test_item_24_odd_values_of_a_reference_are_compared(ask) -> None:
    """Infinity, NaN, bytes, missing dates and doubled names neither crash nor vanish."""
    sql = "SELECT 'infinity'::DOUBLE AS y, '\\xAB'::BLOB AS b, NULL::DATE AS d, 1 AS a, 2 AS a"
    right = {"y": float("inf"), "b": "ab", "d": None, "a": 1, "a_1": 2}
    reply = json.dumps({"rows": [right]}).encode()
    assert ask(sql, reply)[1]["verdict"] == "pass"
    assert ask(sql, {"rows": [{**right, "y": 1}]})[1]["verdict"] == "fail"
    assert ask(sql, {"rows": [{**right, "y": None, "a_1": 3}]})[1]["verdict"] == "fail"
    del right["a_1"]
    assert ask(sql, {"rows": [{**right, "y": 1}]})[1]["verdict"] == "fail"


def test_item_25_a_test_that_passes_sometimes_is_flaky(folder, agent, ask) -> None:
    """Repeats give pass@1, pass@k and pass^k with an interval, and count flaky tests."""
    code, _ = ask(
        CUSTOMERS,
        lambda request: {"rows": [{"n": 4 if len(agent.asked) != 2 else 5}]},
        "",
        "-k",
        "4",
    )
    file = next((folder.root / "tests" / "outputs").glob("results_*.json"))
    metrics = json.loads(file.read_text("utf-8"))["pass_metrics"]
    assert code == 1
    assert (metrics["pass_at_1"], metrics["pass_at_k"], metrics["pass_hat_k"]) == (0.75, 1.0, 0.0)
    assert metrics["flaky"] == 1
    low, high = metrics["pass_at_1_interval"]
    assert low == pytest.approx(0.3006, abs=1e-4)
    assert high == pytest.approx(0.9544, abs=1e-4)


@pytest.mark.parametrize(
    ("assertion", "problem"),
    [
        ("{type: contains, text: FOUR}", ""),
        ("{type: contains, text: five}", "does not contain 'five'"),
        ("{type: not_contains, text: five}", ""),
        ("{type: not_contains, text: Four}", "contains 'Four', which it must not"),
        ("{type: matches, pattern: 'cust.mers$'}", ""),
        ("{type: matches, pattern: '^customers'}", "does not match"),
        ("{type: max_tool_calls, value: 2}", ""),
        ("{type: max_tool_calls, value: 1}", "tool calls 2, at most 1 allowed"),
        ("{type: max_seconds, value: 60}", ""),
        ("{type: max_seconds, value: 0}", "at most 0 allowed"),
        ("{type: max_cost, value: 0.5}", ""),
        ("{type: max_cost, value: 0.1}", "cost 0.25, at most 0.1 allowed"),
    ],
)
def test_items_28_and_29_text_and_budgets(ask, assertion: str, problem: str) -> None:
    """What the text must hold and the run may cost is decided by exact rules."""
    reply = {
        "text": "There are four customers",
        "rows": [{"n": 4}],
        "cost": 0.25,
        "toolCalls": [{"toolName": "a"}, {"toolName": "b"}],
    }
    found = ask(CUSTOMERS, reply, f"assertions: [{assertion}]\n")[1]
    assert found["verdict"] == ("fail" if problem else "pass"), found
    assert problem in found["message"]
