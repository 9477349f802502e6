"""`run --prove-tenant`: a live agent's SQL is run while other tenants' rows change."""

import sqlite3

import pytest

from dbagenteval.cli import main

AGENT = """
from dbagenteval import Trace

def agent(question):
    where = "" if question == "All?" else " WHERE store_id = 's1'"
    return Trace.simple(question, sql="SELECT COUNT(*) AS n FROM orders" + where, rows=[{"n": 2}])
"""


@pytest.mark.parametrize(("question", "code"), [("Mine?", 0), ("All?", 1)])
def test_a_leak_is_found_on_the_data(tmp_path, monkeypatch, capsys, question, code):
    """The number is right by accident; the proof sees that it depends on the other store."""
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.execute("CREATE TABLE orders (store_id TEXT)")
        database.executemany("INSERT INTO orders VALUES (?)", [("s1",), ("s1",), ("s2",)])
    database.close()
    (tmp_path / "prove_agent.py").write_text(AGENT)
    (tmp_path / "cases.yaml").write_text(
        f"- question: {question}\n  expect: {{rows: [{{n: 2}}]}}\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ["--agent", "prove_agent:agent", "--database", "sqlite:///shop.db"]
    assert main(["run", "cases.yaml", *words, "--prove-tenant", "store_id=s1"]) == code
    assert ("generate / prove_tenant" in capsys.readouterr().out) is (code == 1)
