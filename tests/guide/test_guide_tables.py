"""The tables of the user's guide: every row holds."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbagenteval import Case, NumbersGrounded, Trace, evaluate, rules, run_suite
from dbagenteval.cli import main
from dbagenteval.traces import STAGE_KINDS
from tests.guide.blocks import block, table

QUESTION = "How many orders are delivered?"
SQL = "SELECT COUNT(*) AS total FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"


def rows_of(heading: str, first_column: str) -> pytest.MarkDecorator:
    """Parametrize a test over the rows of a table."""
    found = table(heading, first_column)
    assert found
    return pytest.mark.parametrize("row", found, ids=[row[0] for row in found])


def statuses(trace: Trace, *checks: Any, **settings: Any) -> dict[str, str]:
    """Evaluate; give the status of each check."""
    case = settings.pop("case", Case(QUESTION))
    card = evaluate(trace, case, rules=checks, **settings)
    return {result.check: result.status for result in card.results}


BREAKING = {
    "ReadOnly()": [
        "DELETE FROM orders",
        "SELECT 1; SELECT 2",
        "SELECT * FROM orders FOR UPDATE",
        "INSERT INTO orders VALUES (1)",
    ],
    'TenantFilter("store_id")': ["SELECT COUNT(*) AS total FROM orders"],
    'AllowedTables(["orders"])': ["SELECT COUNT(*) AS total FROM users"],
    'AllowedColumns(["status", "amount"])': ["SELECT * FROM orders", "SELECT password FROM orders"],
    "NoJoins()": ["SELECT 1 FROM orders JOIN stores ON orders.store_id = stores.id"],
    "NoSubqueries()": ["SELECT 1 FROM (SELECT 1 FROM orders) AS o"],
}


@rows_of("The rules you can use", "Rule")
def test_rules(row: list[str]) -> None:
    """Each is written as the table says, passes good SQL and fails what it is for."""
    rule = eval(row[0], {**vars(rules), "NumbersGrounded": NumbersGrounded})
    good = "SELECT status, amount FROM orders" if "Columns" in row[0] else SQL
    assert (
        statuses(Trace.simple(QUESTION, sql=good, rows=[{"total": 2}], answer="2"), rule)[rule.name]
        == "pass"
    )
    if row[0] == "NumbersGrounded()":
        assert (
            statuses(Trace.simple(QUESTION, rows=[{"total": 2}], answer="17"), rule)[rule.name]
            == "fail"
        )
        return
    for sql in BREAKING[row[0]]:
        assert statuses(Trace.simple(QUESTION, sql=sql), rule)[rule.name] == "fail", sql


def test_further_forms_of_rules() -> None:
    """The list below the table."""
    trace = Trace.simple(QUESTION, sql=SQL)
    for rule, status in [
        (rules.ReadOnly(dialect="postgres"), "pass"),
        (rules.ReadOnly(dialect="mysql"), "pass"),
        (rules.TenantFilter("store_id", value="s1"), "pass"),
        (rules.TenantFilter("store_id", value="s2"), "fail"),
        (rules.TenantFilter("store_id", tables=["stores"]), "pass"),
        (rules.TenantFilter("other", tables=["orders"]), "fail"),
    ]:
        assert statuses(trace, rule)[rule.name] == status
    joined = "SELECT 1 FROM orders AS o JOIN items AS i ON o.store_id = i.store_id WHERE {} = 's1'"
    assert (
        statuses(
            Trace.simple(QUESTION, sql=joined.format("o.store_id")), rules.TenantFilter("store_id")
        )["tenant_filter"]
        == "pass"
    )
    staged = Trace(
        QUESTION,
        [
            {"kind": "route", "name": "view", "output": "orders"},
            {"kind": "retrieve", "output": ["status", "store_id"]},
            {"kind": "generate", "output": SQL},
        ],
    )
    found = statuses(
        staged, rules.AllowedTables(from_stage="view"), rules.AllowedColumns(from_stage="retrieve")
    )
    assert (found["allowed_tables"], found["allowed_columns"]) == ("pass", "pass")
    own = rules.ReadOnly(forbidden_functions=[*rules.DEFAULT_FORBIDDEN_FUNCTIONS, "my_function"])
    for sql in ("SELECT my_function()", "SELECT pg_sleep(1)"):
        assert statuses(Trace.simple(QUESTION, sql=sql), own)["read_only"] == "fail"


@rows_of("Show every step of your agent", "Kind")
def test_stage_kinds(row: list[str]) -> None:
    """Each is a stage that holds what the table says; there are no others."""
    field = row[2].split(":")[0]
    value: Any = [{"n": 1}] if field == "rows" else "x"
    trace = Trace(QUESTION, [{"kind": row[0], field: value}])
    assert getattr(trace.stages[0], field) == value
    assert {each[0] for each in table("Show every step of your agent", "Kind")} == set(STAGE_KINDS)


@rows_of("The fields of a case", "Field")
def test_fields_of_a_case(row: list[str]) -> None:
    """Each is taken; only the question is needed; defaults are as the table says."""
    given = {
        "question": "q",
        "reference_sql": "SELECT 1",
        "expect": {"rows": []},
        "id": "a",
        "tags": ["easy", "money"],
        "ordered": True,
        "precision": 4,
    }
    Case.from_dict({"question": "q", row[0]: given[row[0]]})
    without = {name: value for name, value in given.items() if name != row[0]}
    if row[1] == "Yes":
        with pytest.raises(ValueError, match=f"missing '{row[0]}'"):
            Case.from_dict(without)
    else:
        assert row[1] == "No"
        default = re.search(r"The default is (\w+)", row[2])
        if default:
            assert str(getattr(Case.from_dict(without), row[0])).lower() == default[1]


def judge(prompt: str) -> str:
    """Let everything pass."""
    return '{"pass": true, "reason": "ok"}'


FULL = Trace(
    QUESTION,
    [
        {"kind": "route", "name": "view", "output": "orders"},
        {"kind": "retrieve", "output": ["status"]},
        {"kind": "generate", "output": SQL},
        {"kind": "execute", "rows": [{"total": 2}]},
        {"kind": "answer", "output": "2"},
    ],
)
ANSWER = Trace.simple(QUESTION, answer="2")
GOOD: dict[str, Callable[[], dict[str, str]]] = {
    "no_error": lambda: statuses(FULL),
    "expected": lambda: statuses(FULL, case=Case(QUESTION, {"view": "orders"})),
    "recall": lambda: statuses(FULL, case=Case(QUESTION, {"retrieve": ["status"]})),
    "rows_match": lambda: statuses(FULL, case=Case(QUESTION, {"rows": [{"n": 2}]})),
    "reference_rows": lambda: statuses(
        FULL, case=Case(QUESTION, reference_sql="S"), execute=lambda sql: [{"n": 2}]
    ),
    "reference_numbers": lambda: statuses(
        ANSWER, case=Case(QUESTION, reference_sql="S"), execute=lambda sql: [{"n": 2}]
    ),
    "reference_answer": lambda: statuses(
        ANSWER, case=Case(QUESTION, reference_sql="S"), execute=lambda sql: [{"n": 2}], judge=judge
    ),
    "read_only": lambda: statuses(FULL, rules.ReadOnly()),
    "tenant_filter": lambda: statuses(FULL, rules.TenantFilter("store_id")),
    "numbers_grounded": lambda: statuses(FULL, NumbersGrounded()),
    "faithful": lambda: statuses(FULL, judge=judge),
    "relevant": lambda: statuses(FULL, judge=judge),
}
BAD: dict[str, Callable[[], dict[str, str]]] = {
    "no_error": lambda: statuses(Trace.simple(QUESTION, error="boom")),
    "expected": lambda: statuses(FULL, case=Case(QUESTION, {"view": "users"})),
    "recall": lambda: statuses(FULL, case=Case(QUESTION, {"retrieve": ["amount"]})),
    "rows_match": lambda: statuses(FULL, case=Case(QUESTION, {"rows": [{"n": 3}]})),
    "reference_rows": lambda: statuses(
        FULL, case=Case(QUESTION, reference_sql="S"), execute=lambda sql: [{"n": 3}]
    ),
    "reference_numbers": lambda: statuses(
        ANSWER, case=Case(QUESTION, reference_sql="S"), execute=lambda sql: [{"n": 3}]
    ),
    "reference_answer": lambda: statuses(
        ANSWER,
        case=Case(QUESTION, reference_sql="S"),
        execute=lambda sql: [{"n": 2}],
        judge=lambda prompt: '{"pass": false}',
    ),
    "read_only": lambda: statuses(
        Trace.simple(QUESTION, sql="DROP TABLE orders"), rules.ReadOnly()
    ),
    "tenant_filter": lambda: statuses(FULL, rules.TenantFilter("customer_id")),
    "numbers_grounded": lambda: statuses(
        Trace.simple(QUESTION, rows=[], answer="17"), NumbersGrounded()
    ),
    "faithful": lambda: statuses(FULL, judge=lambda prompt: '{"pass": false}'),
    "relevant": lambda: statuses(FULL, judge=lambda prompt: '{"pass": false}'),
}


@pytest.mark.parametrize("heading", ["The checks in a scorecard", "Add an LLM judge (optional)"])
def test_checks(heading: str) -> None:
    """Each named check appears when there is what it needs, passes and fails."""
    names = [
        name
        for row in table(heading, "Check")
        for name in re.findall(r"\b[a-z]+_?[a-z]+\b", row[0].split(", and")[0])
    ]
    assert names
    for name in names:
        assert GOOD[name]()[name] == "pass", name
        assert BAD[name]()[name] == "fail", name


@rows_of("The verdicts", "Verdict")
def test_verdicts(row: list[str]) -> None:
    """What the table says gives that verdict."""

    def broken(question: str) -> str:
        raise ValueError

    made: dict[str, Callable[[], str]] = {
        "PASS": lambda: evaluate(FULL).verdict,
        "FAIL": lambda: evaluate(FULL, Case(QUESTION, {"view": "users"})).verdict,
        "ERROR": lambda: run_suite([Case(QUESTION)], broken).cards[0].verdict,
        "SKIP": lambda: evaluate(Trace(QUESTION)).verdict,
    }
    assert made[row[0]]() == row[0]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the guide, in the current folder."""
    (tmp_path / "shop.py").write_text(
        f"{block('file: shop.py')}\n\n\ndef my_judge(prompt):\n    return '{judge('')}'\n\n\n"
        "from dbagenteval.rules import ReadOnly\n\nRULES = [ReadOnly()]\n"
    )
    (tmp_path / "cases.yaml").write_text(block("file: cases.yaml"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    return tmp_path


BASE = ["run", "cases.yaml", "--agent", "shop:my_agent", "--execute", "shop:run_sql"]


@rows_of("The commands", "Option")
def test_options_of_run(row: list[str], shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is in the help, and is taken with a value of the kind that the table shows."""
    option, _, value = row[0].partition(" ")
    assert main(["run", "--help"]) == 0
    assert re.search(rf"^  {option}\b", capsys.readouterr().out, re.MULTILINE)
    values = {
        "--agent": "shop:my_agent",
        "--execute": "shop:run_sql",
        "--rules": "shop:RULES",
        "--judge": "shop:my_judge",
        "--database": "sqlite://",
        "-k": value.strip('"'),
    }
    given = [option, values.get(option, value)] if value else [option]
    base = [
        word
        for word in BASE
        if not (option == "--database" and word in ("--execute", "shop:run_sql"))
    ]
    code = main([*base, *given])
    printed = capsys.readouterr()
    assert code in (0, 1), printed.err
    assert re.search(r"^\d of \d passed", printed.out, re.MULTILINE)
    for name in ("out.json", "report.md"):
        assert (shop / name).exists() is (value == name)


@rows_of("The commands", "Command")
def test_commands(row: list[str], shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is run as it is written."""
    for name in ("before.json", "after.json"):
        main([*BASE, "--json", name])
    words = row[0].replace("file:function", "shop:my_agent --execute shop:run_sql").split()[1:]
    assert main(words) == {"validate": 0, "run": 1, "diff": 0}[words[0]]


@rows_of("The commands", "Code")
def test_exit_codes(row: list[str], shop: Path) -> None:
    """For run and for diff."""
    passed = [*BASE, "-k", "delivered-count", "--json", "passed.json"]
    failed = [*BASE, "--json", "failed.json"]
    assert (main(passed), main(failed)) == (0, 1)
    Path("worse.json").write_text(Path("passed.json").read_text().replace('"PASS"', '"FAIL"'))
    made = {
        "0": [passed, ["diff", "passed.json", "failed.json"]],
        "1": [failed, ["diff", "passed.json", "worse.json"]],
        "2": [
            ["run", "none.yaml", "--agent", "shop:my_agent"],
            ["run", "cases.yaml", "--agent", "nowhere:agent"],
        ],
    }
    assert [main(command) for command in made[row[0]]] == [int(row[0])] * 2


def rows_are_tuples(shop: Path) -> None:
    with pytest.raises(ValueError, match="rows must be a list of dicts"):
        Trace.simple(QUESTION, rows=[(2,)])  # type: ignore[list-item]


def error_card(agent: Any, execute: Any) -> str:
    card = run_suite([Case(QUESTION, reference_sql="S")], agent, execute=execute).cards[0]
    assert card.verdict == "ERROR"
    return str(card.error)


def in_a_loop(shop: Path) -> None:
    async def call() -> None:
        with pytest.raises(
            RuntimeError, match=r"run_suite\(\) cannot be called while an event loop is running"
        ):
            run_suite([], lambda question: "x")

    asyncio.run(call())


def raises(*_: Any) -> Any:
    raise KeyError("x")


PROBLEMS: dict[str, Callable[[Path], Any]] = {
    "rows must be a list of dicts": rows_are_tuples,
    "stage missing from trace": lambda shop: evaluate(
        FULL, Case(QUESTION, {"veiw": "orders"})
    ).summary(),
    "ERROR and the reference SQL failed to run": lambda shop: error_card(
        lambda question: "x", raises
    ),
    "ERROR and agent raised": lambda shop: error_card(raises, lambda sql: []),
    "run_suite() cannot be called while an event loop is running": in_a_loop,
}


@rows_of("Common problems", "What you see")
def test_common_problems(
    row: list[str], shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user sees just that, and what the table advises helps."""
    seen = row[0]
    if seen == "cannot import 'shop'":
        (shop / "elsewhere").mkdir()
        monkeypatch.chdir(shop / "elsewhere")
        monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(shop)])
        assert main(["run", "../cases.yaml", *BASE[2:]]) == 2
        assert seen in capsys.readouterr().err
    elif seen.startswith("some cases have reference_sql"):
        assert main(BASE[:4]) == 2
        assert seen in capsys.readouterr().err.replace("`", "")
    elif seen.startswith("tenant_filter fails"):
        for sql, status in [
            (
                "SELECT 1 FROM orders o JOIN items i ON i.order_id = o.id WHERE store_id = 's1'",
                "fail",
            ),
            (
                "SELECT 1 FROM orders o JOIN items i ON i.store_id = o.store_id WHERE o.store_id = 's1'",
                "pass",
            ),
        ]:
            assert (
                statuses(Trace.simple(QUESTION, sql=sql), rules.TenantFilter("store_id"))[
                    "tenant_filter"
                ]
                == status
            )
    elif seen.startswith("A rule fails SQL"):
        trace = Trace.simple(QUESTION, sql=r"SELECT n FROM orders WHERE name = 'it\'s'")
        assert statuses(trace, rules.ReadOnly())["read_only"] == "fail"
        assert statuses(trace, rules.ReadOnly(dialect="mysql"))["read_only"] == "pass"
    else:
        text = PROBLEMS[seen](shop)
        if text is not None:
            assert seen.removeprefix("ERROR and ") in text
