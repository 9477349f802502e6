"""`dbagenteval coverage`: what cases exercise of a database, of rules and of production."""

import json
import sqlite3

import pytest

from dbagenteval.cli.main import main

CASES = """
- id: paid
  question: How many orders are paid?
  reference_sql: SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = 'paid'
- id: names
  question: Who ordered?
  reference_sql: SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id
- id: open
  question: What is open?
  reference_sql: SELECT 1 FROM refunds
  status: draft
"""
SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, tenant_id INTEGER, status TEXT,
    customer_id INTEGER REFERENCES customers (id)
);
CREATE TABLE refunds (id INTEGER, order_id INTEGER REFERENCES orders (id));
INSERT INTO orders VALUES (1, 1, 'paid', NULL), (2, 2, 'paid', NULL);
"""
RULES = "from dbagenteval.rules import TenantFilter\nRULES = [TenantFilter('tenant_id')]\n"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with cases, a database and rules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "coverage_rules.py").write_text(RULES)
    connection = sqlite3.connect("shop.db")
    connection.executescript(SHOP)
    connection.close()
    return tmp_path


def coverage(*options):
    """Run the command; give its exit code and its JSON report."""
    code = main(["coverage", "cases.yaml", "--json", "out.json", *options])
    with open("out.json", encoding="utf-8") as file:
        return code, json.load(file)


def test_database_and_rules_tell_what_is_missing(shop, capsys):
    """What the schema has and no case touches is listed, tenants and rules too."""
    options = ["--database", "sqlite:///shop.db", "--rules", "coverage_rules:RULES"]
    code, report = coverage(*options)
    assert code == 0
    assert (report["cases"], report["drafts"]) == (2, 1)
    assert report["tables"] == {"orders": ["paid", "names"], "customers": ["names"]}
    assert report["joins"] == {"customers.id = orders.customer_id": ["names"]}
    assert report["tenants"] == {"1": ["paid"]}
    assert report["rules"] == {"tenant_filter": ["paid"]}
    assert report["broken_rules"] == {"tenant_filter": ["names"]}
    missing = report["missing"]
    assert missing["tables"] == ["refunds"]
    assert missing["columns"] == ["orders.id", "refunds.id", "refunds.order_id"]
    assert missing["joins"] == ["orders.id = refunds.order_id"]
    assert missing["tenants"] == ["2"]
    assert "window function" in missing["operators"]
    out = capsys.readouterr().out
    assert "2 case(s), 1 draft(s) left out" in out
    assert "tables: 2 of 3\n  orders (2), customers (1)\n  not exercised: refunds\n" in out
    assert (
        "rule tenant_filter: 1 reference(s) keep it\n  the reference itself breaks it: names" in out
    )


def test_without_database_only_what_cases_use(shop, capsys):
    """Nothing is called missing that nobody knows of."""
    code, report = coverage()
    assert code == 0
    assert [part for part, names in report["missing"].items() if names] == ["operators"]
    assert "not exercised: refunds" not in capsys.readouterr().out


def test_store_tells_which_questions_have_no_case(shop, recorder, capsys):
    """Questions of the store that no case asks come first; other wordings of one name it."""
    recorder.turn("How many orders are paid", sql="SELECT 5")
    recorder.turn("Refunds by month?", sql="SELECT m, COUNT(*) FROM refunds GROUP BY m")
    recorder.turn("And refunds per month?", sql="select m, count(*) n from refunds group by 1")
    recorder.turn(
        "Paid orders?",
        sql="SELECT COUNT(*) FROM orders o WHERE o.status = 'x' AND o.tenant_id = 7",
    )
    code, report = coverage("--store", recorder.save())
    assert code == 0
    found = [(each["name"], each["count"], each["asked_by"]) for each in report["without_case"]]
    assert found == [("Refunds by month?", 2, ""), ("Paid orders?", 1, "paid")]
    out = capsys.readouterr().out
    assert "questions without a case: 3 of 4, 2 cluster(s)\n  'Refunds by month?': 2\n" in out
    assert "  'Paid orders?': 1; case paid asks much the same\n" in out


def test_mistakes_of_the_user(shop, capsys):
    """What can't be read ends with code 2 and says which."""
    assert main(["coverage", "no.yaml"]) == 2
    assert main(["coverage", "cases.yaml", "--since", "7d"]) == 2
    assert "--store" in capsys.readouterr().err
    assert main(["coverage", "cases.yaml", "--database", "sqlite:///no.db"]) == 2
    assert main(["coverage", "cases.yaml", "--json", "cases.yaml"]) == 2
    assert "the run reads that file" in capsys.readouterr().err


def test_a_mistyped_tenant_column_is_refused(shop, capsys):
    """Its tenants would be missing from the report in silence."""
    words = ["coverage", "cases.yaml", "--database", "sqlite:///shop.db", "--tenant", "tenantid"]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "error: tenant column 'tenantid': no table of the database has it\n"
        "hint: did you mean tenant_id?\n"
    )
