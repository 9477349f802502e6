"""Failures of captured frameworks become cases that tell a fixed agent from the old one."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbagenteval import Stage, Trace, load_cases
from dbagenteval.cli import main
from dbagenteval.executors import executor_for
from tests.traces.capture_table import trace_for, traces_of, truths_of
from tests.traces.test_captures import DATA

CAMPING = "SELECT COUNT(*) FROM products WHERE tenant_id = 1 AND category = 'Camping'"
PENDING = "SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = 'pending'"
RIGHT = {
    "How many products are in the Camping category?": (CAMPING, "There are 3 products."),
    "How many orders are still pending?": (PENDING, "There are 16 pending orders."),
}
SHOP = """\
CREATE TABLE products (product_id INTEGER PRIMARY KEY, tenant_id INTEGER, category TEXT);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, tenant_id INTEGER, status TEXT);
INSERT INTO products (tenant_id, category) VALUES
    (1, 'Camping'), (1, 'Camping'), (1, 'Camping'), (1, 'Tents'), (2, 'Camping');
"""
ORDERS = [(1, "pending")] * 16 + [(1, "delivered")] * 5 + [(2, "pending")] * 7
RULES = """\
from dbagenteval import NumbersGrounded
from dbagenteval.rules import ReadOnly, TenantFilter
RULES = [ReadOnly(), TenantFilter("tenant_id"), NumbersGrounded()]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the database and the rules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with sqlite3.connect("shop.db") as database:
        database.executescript(SHOP)
        database.executemany("INSERT INTO orders (tenant_id, status) VALUES (?, ?)", ORDERS)
    database.close()
    (tmp_path / "captured_rules.py").write_text(RULES)
    return tmp_path


def old_agent(stack: str) -> Any:
    """Give an agent that does again what the captured one did."""
    truths = {truth["question"]: truth for truth in truths_of(DATA / stack)}

    def agent(question: str) -> Trace:
        captured = trace_for(truths[question], traces_of(DATA / stack))
        assert captured is not None
        stages = [
            Stage(each.kind, each.name, output=each.output, rows=each.rows, error=each.error)
            for each in captured.stages
        ]
        return Trace(question, stages)

    return agent


def fixed_agent(question: str) -> Trace:
    """Do it right."""
    sql, answer = RIGHT[question]
    return Trace.simple(question, answer, sql=sql, rows=executor_for("sqlite:///shop.db")(sql))


@pytest.mark.parametrize(
    "stack",
    [
        "openai_v2_sqlite3",
        "langchain_oi",
        "llamaindex_nlsql_oi",
        "pydantic_ai_native",
        "mcp_openai_agents_oi",
        "strands_native",
    ],
)
def test_the_new_cases_tell_the_agents_apart(
    stack: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ingest, score, harvest, accept, run: the old agent fails where its trace did."""
    files = [str(path) for path in (DATA / stack).glob("*.jsonl.gz")]
    assert main(["ingest", *files, "--store", "traces"]) == 0
    cases = [{"question": asked, "reference_sql": sql} for asked, (sql, _) in RIGHT.items()]
    (folder / "cases.yaml").write_text(yaml.safe_dump(cases))
    common = ["--database", "sqlite:///shop.db", "--rules", "captured_rules:RULES"]
    assert main(["score", "cases.yaml", "--store", "traces", *common, "--json", "s.json"]) == 1
    scored = yaml.safe_load((folder / "s.json").read_text())["cases"]
    failed = {card["question"]: card["failed_stage"] for card in scored if card["failed_stage"]}
    assert set(failed) == {
        truth["question"]
        for truth in truths_of(DATA / stack)
        if truth["verdict"] == "FAIL" and truth["question"] in RIGHT
    }

    harvest = ["harvest", "--store", "traces", "--failed", *common, "-o", "new.yaml"]
    assert main([*harvest, "--tenant", "tenant_id=1"]) == 0
    drafts = load_cases("new.yaml")
    assert {draft.question for draft in drafts} >= set(failed)
    accept = [w for draft in drafts if draft.question in failed for w in ("--accept", draft.id)]
    reject = [w for draft in drafts if draft.question not in failed for w in ("--reject", draft.id)]
    review = ["harvest", "review", "new.yaml", "--database", "sqlite:///shop.db"]
    assert main([*review, *accept, *reject]) == 0

    module = type(sys)("captured_agents")
    module.old, module.fixed = old_agent(stack), fixed_agent  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "captured_agents", module)
    run = ["run", "new.yaml", *common, "--json", "r.json", "--agent"]
    capsys.readouterr()
    assert main([*run, "captured_agents:fixed"]) == 0, capsys.readouterr().out
    assert main([*run, "captured_agents:old"]) == 1
    cards = yaml.safe_load((folder / "r.json").read_text())["cases"]
    assert {card["question"]: card["failed_stage"] for card in cards} == failed
