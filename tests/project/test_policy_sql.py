"""The policy engine judges SQL by what it reads, joins and bounds, in every place of the text."""

from __future__ import annotations

import dataclasses

import pytest

from dbagenteval.project import read_catalog
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.policy import MetricQuery, Request, decide

Q1 = "o.order_date >= DATE '2024-01-01'"
JOIN = "main.orders o JOIN main.customers c ON o.customer_id = c.id"

# SQL: the checks that fail; nothing means that it is allowed.
# fmt: off
VERDICTS = {
    # Scope: every place that can hold a table.
    "SELECT count(*) FROM staging.raw_payments": ["bundle_tables_only"],
    "SELECT count(*) FROM main.customers WHERE id IN (SELECT id FROM staging.raw_payments)": ["bundle_tables_only", "bundle_join_allowlist"],
    "SELECT city FROM main.customers UNION SELECT payload FROM staging.raw_payments LIMIT 5": ["bundle_tables_only"],
    "SELECT (SELECT max(id) FROM staging.raw_payments)": ["bundle_tables_only"],
    "WITH customers AS (SELECT id FROM staging.raw_payments) SELECT count(*) FROM customers": ["bundle_tables_only"],
    "WITH x AS (SELECT 1 AS id) SELECT count(*) FROM x": [],
    "SELECT count(*) FROM raw_payments": ["bundle_tables_only"],
    "SELECT count(*) FROM customers": [],
    "SELECT count(*) FROM MAIN.Customers": [],
    "SELECT count(*) FROM other.main.customers": ["bundle_tables_only"],
    "SELECT count(*) FROM bakery.main.customers": [],
    "SELECT count(*) FROM information_schema.columns": ["bundle_tables_only"],
    "SELECT count(*) FROM 'people.csv'": ["bundle_tables_only"],
    "SELECT count(*) FROM read_csv('people.csv')": ["sql_understood"],
    # Protected columns: every way to read one.
    "SELECT email FROM customers LIMIT 1": ["pii_block"],
    "SELECT * FROM customers LIMIT 1": ["pii_block", "pii_block_star"],
    "SELECT c.* FROM customers c LIMIT 1": ["pii_block", "pii_block_star"],
    "SELECT id, * FROM customers LIMIT 1": ["pii_block", "pii_block_star"],
    "SELECT upper(email) AS city FROM customers LIMIT 1": ["pii_block"],
    "SELECT email city FROM customers LIMIT 1": ["pii_block"],
    'SELECT "Email" FROM customers LIMIT 1': ["pii_block"],
    "SELECT count(*) FROM customers WHERE email LIKE 'a%'": ["pii_block"],
    "SELECT city FROM customers ORDER BY email LIMIT 1": ["pii_block"],
    "SELECT count(DISTINCT email) FROM customers": ["pii_block"],
    "SELECT x FROM (SELECT email AS x FROM customers) t LIMIT 1": ["pii_block"],
    "SELECT c FROM customers c LIMIT 1": ["pii_block", "pii_block_star"],
    "SELECT row_number() OVER (ORDER BY last_name) FROM customers LIMIT 1": ["pii_block"],
    "SELECT COLUMNS('em.*') FROM customers LIMIT 1": ["pii_block", "pii_block_star"],
    "SELECT #4 FROM customers LIMIT 1": ["sql_understood"],
    # … and none, although the words are there.
    "SELECT city AS email FROM customers LIMIT 1": [],
    "SELECT 'email' AS x, city FROM customers -- email\nLIMIT 1": [],
    "SELECT * EXCLUDE (first_name, last_name, email) FROM customers LIMIT 1": [],
    "SELECT city FROM (SELECT * FROM customers) t LIMIT 1": [],
    "WITH c AS (SELECT * FROM customers) SELECT city, count(*) FROM c GROUP BY city": [],
    "SELECT * FROM payments LIMIT 1": [],
    # Joins.
    f"SELECT c.city, sum(o.amount) FROM {JOIN} WHERE {Q1} GROUP BY 1": [],
    f"SELECT c.city, sum(o.amount) FROM main.orders o, main.customers c WHERE c.id = o.customer_id AND {Q1} GROUP BY 1": [],
    f"SELECT count(*) FROM main.orders o, main.customers c WHERE {Q1}": ["bundle_join_allowlist"],
    f"SELECT count(*) FROM main.orders o JOIN main.customers c USING (id) WHERE {Q1}": ["bundle_join_allowlist"],
    f"SELECT count(*) FROM main.orders o JOIN main.customers c ON o.customer_id > c.id WHERE {Q1}": ["bundle_join_allowlist"],
    f"SELECT count(*) FROM main.orders o JOIN main.customers c ON o.customer_id = c.id OR true WHERE {Q1}": ["bundle_join_allowlist"],
    f"SELECT count(*) FROM main.orders o NATURAL JOIN main.payments p WHERE {Q1}": ["bundle_join_allowlist"],
    f"SELECT count(*) FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.customer_id = c.id AND {Q1})": [],
    f"SELECT count(*) FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.id = c.id AND {Q1})": ["bundle_join_allowlist"],
    f"SELECT c.city, t.n FROM main.customers c JOIN (SELECT o.customer_id AS k, count(*) AS n FROM main.orders o WHERE {Q1} GROUP BY 1) t ON t.k = c.id LIMIT 9": [],
    f"SELECT c.city, t.n FROM main.customers c CROSS JOIN (SELECT count(*) AS n FROM main.orders o WHERE {Q1}) t LIMIT 9": [],
    # Time filters by meaning.
    "SELECT count(*) FROM main.orders": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE order_date IS NOT NULL": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE order_date >= DATE '2024-01-01' OR status = 'x'": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE NOT (order_date < DATE '2024-01-01')": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE order_date <= DATE '2024-03-31'": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE order_date >= order_date": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE EXTRACT(month FROM order_date) = 1": ["time_filter_required"],
    "SELECT count(*) FROM main.orders WHERE EXTRACT(year FROM order_date) = 2024": [],
    "SELECT count(*) FROM main.orders WHERE order_date BETWEEN DATE '2024-01-01' AND DATE '2024-01-31'": [],
    "SELECT count(*) FROM main.orders WHERE date_trunc('month', order_date) = DATE '2024-01-01'": [],
    "SELECT count(*) FROM main.orders WHERE strftime(order_date, '%Y-%m') = '2024-01'": [],
    "SELECT count(*) FROM main.orders WHERE order_date > current_date - INTERVAL 7 DAY": [],
    "SELECT count(*) FROM (SELECT * FROM main.orders) o WHERE o.order_date >= DATE '2024-01-01'": [],
    "SELECT count(*) FROM (SELECT * FROM main.orders LIMIT 9) o WHERE o.order_date >= DATE '2024-01-01'": ["time_filter_required"],
    "SELECT count(*) FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.customer_id = c.id)": ["time_filter_required"],
    "WITH o AS (SELECT * FROM main.orders) SELECT (SELECT count(*) FROM o WHERE order_date >= DATE '2024-01-01'), (SELECT count(*) FROM o)": ["time_filter_required"],
    f"SELECT count(*) FROM main.customers c LEFT JOIN main.orders o ON o.customer_id = c.id AND {Q1}": [],
    "SELECT count(*) FROM main.orders o LEFT JOIN main.customers c ON o.customer_id = c.id AND o.order_date >= DATE '2024-01-01'": ["time_filter_required"],
    f"SELECT count(*) FROM main.orders o ANTI JOIN main.customers c ON o.customer_id = c.id AND {Q1}": ["time_filter_required"],
    # Limits: of raw rows, outermost.
    "SELECT city FROM customers": ["limit_check"],
    "SELECT city FROM customers LIMIT 101": ["limit_check"],
    "SELECT city FROM customers FETCH FIRST 5 ROWS ONLY": [],
    "SELECT city FROM customers LIMIT 10%": ["limit_check"],
    "SELECT city FROM (SELECT city FROM customers LIMIT 5) t": ["limit_check"],
    "SELECT city, count(*) FROM customers GROUP BY city": [],
    # Statements and functions.
    "SET threads = 1": ["statement_allowed"],
    "DELETE FROM main.orders": ["statement_allowed"],
    "WITH x AS (DELETE FROM main.orders RETURNING *) SELECT * FROM x": ["statement_allowed"],
    "SELECT 1; SELECT 2": ["statement_allowed"],
    "SELECT 1; DROP TABLE main.orders": ["statement_allowed"],
    "EXPLAIN SELECT 1": ["statement_allowed"],
    "SELEKT 1": ["sql_understood"],
    "SELECT (": ["sql_understood"],
    "SELECT query_to_xml('SELECT 1', true, true, '')": ["function_allowed"],
    "SELECT nothing FROM customers LIMIT 1": ["sql_understood"],
}
# fmt: on


@pytest.fixture(scope="module")
def project_and_catalog(tmp_path_factory):
    import shutil
    from pathlib import Path

    import duckdb

    root = tmp_path_factory.mktemp("policy") / "project"
    shutil.copytree(
        Path(__file__).parents[2] / "examples" / "project",
        root,
        ignore=shutil.ignore_patterns("*.duckdb"),
    )
    with duckdb.connect(str(root / "bakery.duckdb")) as connection:
        connection.execute((root / "bakery.sql").read_text("utf-8"))
    project = load_project(root)
    return project, read_catalog(project.config.databases[0])


@pytest.mark.parametrize("sql", VERDICTS)
def test_a_statement_fails_just_the_checks_it_breaks(project_and_catalog, sql: str) -> None:
    """Each statement fails the checks that it breaks and no other, with a detail and a fix."""
    project, catalog = project_and_catalog
    decision = decide(Request(sql=sql), project, catalog)
    failed = [check.name for check in decision.failed]
    assert failed == VERDICTS[sql], decision.reason
    assert all(check.detail for check in decision.failed)
    clarifying = failed == ["time_filter_required"]
    assert decision.outcome == (
        "needs_clarification" if clarifying else "block" if failed else "allow"
    )


@pytest.mark.parametrize("sql", [sql for sql, failed in VERDICTS.items() if "pii_block" in failed])
def test_protected_columns_are_found_without_the_real_schema(project_and_catalog, sql: str) -> None:
    """Without a catalog a star or an unknown column counts as reading what is protected."""
    project, _ = project_and_catalog
    assert decide(Request(sql=sql), project).outcome == "block"


def _with_policy(project, **changes):
    return dataclasses.replace(project, policy=dataclasses.replace(project.policy, **changes))


def test_counting_can_be_exempted(project_and_catalog) -> None:
    """With `allow_aggregates`, counting a protected column is fine; showing it never is."""
    project, catalog = project_and_catalog
    exempt = _with_policy(project, pii_aggregates=frozenset(("count", "count_distinct")))
    for sql, outcome in (
        ("SELECT count(DISTINCT email) FROM customers", "allow"),
        ("SELECT count(email) FROM customers", "allow"),
        ("SELECT max(email) FROM customers", "block"),
        ("SELECT count(email), min(email) FROM customers", "block"),
        ("SELECT count(*) FROM customers WHERE email = 'x'", "block"),
        ("SELECT email, count(email) FROM customers GROUP BY email", "block"),
        ("SELECT count(DISTINCT left(email, 1)) FROM customers", "block"),
    ):
        assert decide(Request(sql=sql), exempt, catalog).outcome == outcome, sql


def test_masking_masks(project_and_catalog) -> None:
    """In mode `mask` the engine gives SQL that never sees a protected value, also in conditions."""
    from dbagenteval.executors import executor_for

    project, catalog = project_and_catalog
    masking = _with_policy(project, pii_mode="mask")
    execute = executor_for(project.config.databases[0].url)
    for sql in (
        "SELECT id, email, city FROM customers LIMIT 9",
        "SELECT * FROM customers c WHERE c.email LIKE '%@%' OR true LIMIT 9",
        "WITH c AS (SELECT upper(last_name) AS x FROM main.customers) SELECT x FROM c LIMIT 9",
        "SELECT c::VARCHAR AS row_text FROM customers c LIMIT 9",
    ):
        decision = decide(Request(sql=sql), masking, catalog)
        assert decision.outcome == "allow", decision.reason
        text = str(execute(decision.sql))
        assert "***" in text
        assert not [word for word in ("ada@", "Holm", "HOLM", "cleo@") if word in text]
    assert decide(Request(sql="SELECT email FROM customers LIMIT 9"), masking).outcome == "block"
    ran = Request(sql="SELECT email FROM customers LIMIT 9", has_run=True)
    assert decide(ran, masking, catalog).outcome == "block"


def test_roles_widen_and_narrow(project_and_catalog) -> None:
    """A role may read named columns or fewer bundles; unknown and missing roles are refused."""
    from dbagenteval.project.folder.model import Role

    project, catalog = project_and_catalog
    roles = {
        "support": Role(pii_columns={"main.customers": frozenset(("email",))}, max_rows=5),
        "guest": Role(bundles=(), tools=("query_metrics",)),
    }
    with_roles = _with_policy(project, roles=roles)

    def failed(sql: str, *names: str) -> list[str]:
        request = Request(sql=sql, roles=names)
        return [check.name for check in decide(request, with_roles, catalog).failed]

    assert failed("SELECT email FROM customers LIMIT 5", "support") == []
    assert failed("SELECT email FROM customers LIMIT 6", "support") == ["limit_check"]
    assert failed("SELECT last_name FROM customers LIMIT 5", "support") == ["pii_block"]
    assert failed("SELECT 1") == ["role_known"]
    assert failed("SELECT 1", "support", "boss") == ["role_known"]
    assert failed("SELECT 1", "guest") == ["bundle_exists"]


def test_an_invalid_policy_blocks_everything(folder) -> None:
    """A policy with a fault is no policy that allows: every request is refused."""
    folder.replace("policies/policy.yml", "mode: block", "mode: blok")
    decision = decide(Request(sql="SELECT 1"), load_project(folder.root))
    assert (decision.outcome, [check.name for check in decision.failed]) == (
        "block",
        ["policy_valid"],
    )
    assert "did you mean 'block'" in decision.reason


def test_several_statements_are_judged_by_the_widest(project_and_catalog) -> None:
    """Where several statements are let through, a limit of one does not bound the others."""
    project, catalog = project_and_catalog
    several = _with_policy(project, disallow_multi_statement=False)
    for sql, failed in (
        ("SELECT city FROM customers LIMIT 5; SELECT id FROM customers LIMIT 9", []),
        ("SELECT city FROM customers; SELECT id FROM customers LIMIT 9", ["limit_check"]),
        ("SELECT city FROM customers LIMIT 9; SELECT id FROM customers", ["limit_check"]),
        ("SELECT city FROM customers LIMIT 999; SELECT id FROM customers LIMIT 9", ["limit_check"]),
        ("SELECT 1; SELECT email FROM customers LIMIT 9", ["pii_block"]),
    ):
        decision = decide(Request(sql=sql), several, catalog)
        assert [check.name for check in decision.failed] == failed, sql


def test_certification_and_switches(project_and_catalog) -> None:
    """A bundle below the preferred level, and a tool that is off, block."""
    project, catalog = project_and_catalog
    sales = dataclasses.replace(project.bundles["sales"], level="candidate")
    lower = dataclasses.replace(project, bundles={"sales": sales})
    request = Request(sql="SELECT count(*) FROM customers")
    assert decide(request, lower, catalog).failed[0].name == "certification_required"
    off = _with_policy(project, allow_sql=False)
    assert decide(request, off, catalog).failed[0].name == "execution_allowed"
    metric = Request(metric=MetricQuery(model="customers", measures=("customer_count",)))
    assert decide(metric, off, catalog).outcome == "allow"


def test_metric_queries_are_judged_by_what_they_read(project_and_catalog) -> None:
    """A metric query is judged as the SQL it stands for: dimensions, joins and time."""
    import datetime

    from dbagenteval.executors import executor_for

    project, catalog = project_and_catalog
    start, end = datetime.date(2024, 1, 1), datetime.date(2024, 2, 29)

    def ask(**query):
        return decide(Request(metric=MetricQuery(**query)), project, catalog)

    timed = ask(
        model="orders",
        measures=("net_revenue",),
        dimensions=("customer.city",),
        start=start,
        end=end,
    )
    assert timed.outcome == "allow", timed.reason
    rows = executor_for(project.config.databases[0].url)(timed.sql)
    assert sorted((row["customer.city"], float(row["net_revenue"])) for row in rows) == [
        ("Bergen", 18.5),
        ("Oslo", 114.25),
    ]
    assert ask(model="orders", measures=("net_revenue",)).outcome == "needs_clarification"
    assert ask(model="orders", measures=("gross",), start=start).failed[0].name == "metric_exists"
    leaky = dataclasses.replace(project.models["customers"], dimensions={"contact": "email"})
    leaking = dataclasses.replace(project, models={**project.models, "customers": leaky})
    request = Request(
        metric=MetricQuery(model="customers", measures=("customer_count",), dimensions=("contact",))
    )
    assert decide(request, leaking, catalog).failed[0].name == "pii_block"


def test_the_bundle_that_fits_is_found(folder) -> None:
    """With two bundles a question or statement is judged in the one that has its tables."""
    text = (
        (folder.root / "datasets/sales/dataset.yaml").read_text("utf-8").split("eval_test_cases")[0]
    )
    narrow = text.replace("bundle_id: sales", "bundle_id: a_people").split("tables:")[0]
    folder.write(
        "datasets/a_people/dataset.yaml",
        narrow
        + "tables:\n  - {schema: main, table: customers}\ncertification: {level: certified}\n",
    )
    project = load_project(folder.root)
    assert list(project.bundles) == ["a_people", "sales"]
    assert decide(Request(sql="SELECT count(*) FROM main.payments"), project).bundle == "sales"
    assert decide(Request(sql="SELECT count(*) FROM main.customers"), project).bundle == "a_people"
    assert decide(Request(question="how many payments were there"), project).bundle == "sales"
    named = decide(Request(sql="SELECT count(*) FROM main.payments", bundle="a_people"), project)
    assert named.failed[0].name == "bundle_tables_only"
    vague = decide(Request(question="how is the weather"), project)
    assert [check.name for check in vague.failed] == ["bundle_required"]
    assert decide(Request(sql="SELECT 1", bundle="nope"), project).failed[0].name == "bundle_exists"


def test_quoted_names_follow_the_dialect(project_and_catalog) -> None:
    """In PostgreSQL a quoted name of other case is another table; a quoted column stays protected."""
    from dbagenteval.project.folder.config import Config, Database

    project, _ = project_and_catalog
    database = Database(
        name="bakery", type="postgres", settings={"schema_name": "main"}, root=project.root
    )
    postgres = dataclasses.replace(project, config=Config(file="x", databases=(database,)))
    assert (
        decide(Request(sql='SELECT count(*) FROM main."Customers"'), postgres).failed[0].name
        == "bundle_tables_only"
    )
    assert (
        decide(Request(sql='SELECT count(*) FROM "main"."customers"'), postgres).outcome == "allow"
    )
    assert (
        decide(Request(sql="SELECT (c).email FROM customers c LIMIT 1"), postgres).outcome
        == "block"
    )
    assert (
        decide(Request(sql="SELECT row_to_json(c) FROM customers c LIMIT 1"), postgres).outcome
        == "block"
    )
    assert (
        decide(Request(sql="SELECT a FROM customers c(a, b, e) LIMIT 1"), postgres).outcome
        == "block"
    )
