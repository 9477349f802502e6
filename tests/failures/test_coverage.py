"""What the cases exercise, and which questions of production no case asks."""

from __future__ import annotations

import pytest

from dbagenteval.cases import Case
from dbagenteval.failures import Clusters, Outcome, structure
from dbagenteval.failures.coverage import Coverage, Known, coverage_of
from dbagenteval.failures.coverage_lines import coverage_lines, uncovered_lines
from dbagenteval.failures.operators import OPERATORS
from dbagenteval.rules import NoJoins, TenantFilter

KNOWN = Known(
    columns={
        "orders": ("id", "customer_id", "tenant_id", "total"),
        "customers": ("id", "tenant_id", "name"),
        "refunds": ("id", "order_id"),
    },
    joins=("customers.id = orders.customer_id", "orders.id = refunds.order_id"),
    tenants=("1", "2"),
)


def case(sql: str | list[str] | None, question: str = "?", **fields) -> Case:
    return Case(question, reference_sql=sql, **fields)


def test_tables_columns_joins():
    """References are read with their aliases resolved, unqualified columns by the schema."""
    sql = (
        "SELECT name, SUM(total) FROM orders o JOIN customers c ON o.customer_id = c.id GROUP BY 1"
    )
    found = coverage_of([case(sql, id="a"), case("SELECT id FROM orders", id="b")], known=KNOWN)
    assert found.tables == {"customers": ["a"], "orders": ["a", "b"]}
    assert found.columns == {
        "customers.id": ["a"],
        "customers.name": ["a"],
        "orders.customer_id": ["a"],
        "orders.id": ["b"],
        "orders.total": ["a"],
    }
    assert found.joins == {"customers.id = orders.customer_id": ["a"]}
    assert found.missing["tables"] == ["refunds"]
    assert found.missing["joins"] == ["orders.id = refunds.order_id"]
    assert "orders.tenant_id" in found.missing["columns"]
    assert "orders.total" not in found.missing["columns"]


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "clickhouse"])
def test_names_are_those_of_the_database_however_cased(dialect):
    """Dialects fold the names of a statement each in its own way."""
    sql = "SELECT Name FROM Orders o JOIN Customers c ON Customer_ID = c.ID WHERE c.Tenant_ID = 1"
    found = coverage_of([case(sql, id="a", dialect=dialect)], known=KNOWN, tenant="tenant_id")
    assert set(found.columns) == {
        "customers.id",
        "customers.name",
        "customers.tenant_id",
        "orders.customer_id",
    }
    assert found.tenants == {"1": ["a"]}


def test_without_a_schema_nothing_is_missing_of_it():
    """Only operators are known without a database."""
    found = coverage_of([case("SELECT a FROM t")])
    assert {part for part, names in found.missing.items() if names} == {"operators"}


def used(sql: str) -> set[str]:
    return set(coverage_of([case(sql)]).operators)


OPERATORS_USED = {
    "SELECT COUNT(DISTINCT a) FROM t": {"COUNT DISTINCT"},
    "SELECT MEDIAN(a) FROM t": {"other aggregate"},
    "SELECT a, SUM(b) FROM t GROUP BY a HAVING SUM(b) > 4": {"SUM", "GROUP BY", "HAVING"},
    "SELECT DISTINCT a FROM t ORDER BY 1 LIMIT 3 OFFSET 2": {
        "DISTINCT",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
    },
    "SELECT a FROM t UNION ALL SELECT a FROM u": {"UNION"},
    "SELECT a FROM t EXCEPT SELECT a FROM u": {"EXCEPT"},
    "SELECT 1 FROM t JOIN t x ON t.up = x.id": {"inner join", "self join"},
    "SELECT 1 FROM t LEFT JOIN u ON u.id = t.id": {"LEFT JOIN"},
    "SELECT a FROM t WHERE b = (SELECT MAX(b) FROM u)": {"subquery", "MAX"},
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)": {
        "subquery",
        "correlated subquery",
    },
    "WITH w AS (SELECT a FROM t) SELECT a FROM w": {"derived table"},
    "SELECT RANK() OVER (ORDER BY a) FROM t": {"window function"},
    "SELECT CASE WHEN a > 1 THEN 2 END FROM t": {"CASE"},
    "SELECT a FROM t WHERE a IN (1, 2) OR NOT b LIKE 'x%'": {"IN list", "OR", "NOT", "LIKE"},
    "SELECT COALESCE(a, 0) FROM t": {"NULL handling"},
    "SELECT a FROM t WHERE b IS NULL": {"NULL handling"},
    "SELECT a FROM t WHERE d >= '2024-01-01'": {"date literal"},
    "SELECT date_trunc('month', d) FROM t": {"date part"},
    "SELECT a FROM t WHERE d > CURRENT_DATE - INTERVAL '7 days'": {
        "current date",
        "date arithmetic",
    },
    "SELECT ROUND(a / 2, 1) FROM t": {"rounding", "division"},
    "SELECT UPPER(a), CAST(b AS INT) FROM t": {"text function", "cast"},
}


def test_operators():
    """Each operator is counted by its name."""
    for sql, names in OPERATORS_USED.items():
        found = used(sql)
        missing = [name for name in names if name not in found]
        assert not missing, f"{sql}: {found}"
        assert found <= {*OPERATORS}
    assert used("SELECT a FROM t") == set()


def test_tenants():
    """The tenants are the values that the references filter the tenant column by."""
    found = coverage_of(
        [
            case("SELECT id FROM orders o WHERE o.tenant_id = 1 AND total = 2", id="a"),
            case("SELECT id FROM orders WHERE tenant_id IN (1, 7)", id="b"),
        ],
        known=KNOWN,
        tenant="tenant_id",
    )
    assert found.tenants == {"1": ["a", "b"], "7": ["b"]}
    assert found.missing["tenants"] == ["2"]


def test_rules():
    """A rule is exercised by references that keep it; those that break it are named."""
    found = coverage_of(
        [
            case("SELECT id FROM orders WHERE tenant_id = 1", id="good"),
            case("SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id", id="bad"),
        ],
        rules=[TenantFilter("tenant_id"), NoJoins()],
    )
    assert found.rules == {"tenant_filter": ["good"], "no_joins": ["good"]}
    assert found.broken_rules == {"tenant_filter": ["bad"], "no_joins": ["bad"]}


def test_counts():
    """Drafts exercise nothing; cases without SQL and unreadable references are named."""
    found = coverage_of(
        [
            case("SELECT id FROM orders", id="draft", status="draft"),
            case(None, id="none", expect={"answer": "x"}),
            case("SELECT FROM", id="odd"),
            case(["SELECT id FROM orders", "SELECT id FROM refunds"], id="two"),
        ]
    )
    assert (found.cases, found.drafts) == (3, 1)
    assert (found.without_sql, found.unreadable) == (["none"], ["odd"])
    assert found.tables == {"orders": ["two"], "refunds": ["two"]}


def test_conversations_count_by_turn():
    """Every turn of a conversation is exercised."""
    talk = Case.from_dict(
        {
            "id": "talk",
            "question": "Orders?",
            "reference_sql": "SELECT id FROM orders",
            "turns": [{"question": "And refunds?", "reference_sql": "SELECT id FROM refunds"}],
        }
    )
    assert coverage_of([talk]).tables == {"orders": ["talk#1"], "refunds": ["talk#2"]}


def uncovered(coverage: Coverage, *outcomes: Outcome) -> list[tuple[str, int, str]]:
    clusters = Clusters()
    for outcome in outcomes:
        clusters.add(outcome)
    covering = coverage.covering(clusters.questions())
    return [(cluster.name, cluster.count, key) for cluster, key in covering]


def test_questions_without_a_case():
    """Worst first; a case with the same structure or nearly the same words is named."""
    coverage = coverage_of([case("SELECT id FROM orders WHERE total > 5", "Big orders?", id="big")])
    sql = "SELECT o.id FROM orders AS o WHERE 900 < o.total"
    found = uncovered(
        coverage,
        *[Outcome(verdict="SKIP", question="Who is on call?")] * 3,
        Outcome(verdict="FAIL", question="Refunds?", structure=structure("SELECT id FROM refunds")),
        Outcome(verdict="SKIP", question="Expensive ones?", structure=structure(sql)),
        Outcome(verdict="SKIP", question="big ORDERS"),
        Outcome(verdict="PASS", question="?", case_id="big"),
    )
    assert found == [
        ("Refunds?", 1, ""),
        ("Who is on call?", 3, ""),
        ("Expensive ones?", 1, "big"),
        ("big ORDERS", 1, "big"),
    ]


def test_lines():
    """The lines say what is exercised, by how many cases, and what is not."""
    cases = [
        case("SELECT COUNT(*) FROM orders WHERE tenant_id = 1", id="a"),
        case("SELECT id FROM orders", id="b"),
    ]
    rules = [TenantFilter("tenant_id")]
    lines = coverage_lines(coverage_of(cases, known=KNOWN, tenant="tenant_id", rules=rules))
    assert lines[:3] == ["2 case(s)", "tables: 1 of 3", "  orders (2)"]
    assert "  not exercised: customers, refunds" in lines
    assert "  COUNT (1)" in lines
    assert lines[-5:] == [
        "tenants: 1 of 2",
        "  1 (1)",
        "  not exercised: 2",
        "rule tenant_filter: 1 reference(s) keep it",
        "  the reference itself breaks it: b",
    ]


def test_uncovered_lines():
    """Questions are listed up to the limit, and the rest is counted."""
    clusters = Clusters()
    for question in ("a?", "a?", "b?", "c?"):
        clusters.add(Outcome(verdict="SKIP", question=question, structure=question))
    covering = coverage_of([case("SELECT 1 FROM t", "b?", id="b")]).covering(clusters.questions())
    assert uncovered_lines(covering, 10, 2) == [
        "questions without a case: 4 of 10, 3 cluster(s)",
        "  'a?': 2",
        "  'c?': 1",
        "  … 1 more",
    ]
