"""Situations 48 to 68 that need more than one word of a question: what the policy engine decides."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest

from dbagenteval.cli.main import main
from dbagenteval.executors import executor_for
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.folder.model import GovernanceCase
from dbagenteval.project.governance.cases import evaluate_case
from dbagenteval.project.policy import MetricQuery, Request, decide

POLICY = "policies/policy.yml"
DATASET = "datasets/sales/dataset.yaml"


def _decide(folder: Any, sql: str, **values: Any) -> list[str]:
    project = load_project(folder.root)
    decision = decide(Request(sql=sql, bundle="sales", **values), project)
    return [check.name for check in decision.failed]


def _question(folder: Any, text: str) -> list[str]:
    decision = decide(Request(question=text, bundle="sales"), load_project(folder.root))
    return [check.name for check in decision.failed]


def _case(folder: Any, prompt: str, expected: dict[str, Any], **values: Any) -> Any:
    project = load_project(folder.root)
    case = GovernanceCase(
        id="x", prompt=prompt, category="", expected=expected, bundle_id="sales", **values
    )
    folder.make_database()
    return evaluate_case(
        case, project, executors=lambda name: executor_for(project.config.database(name).url)
    )


def test_item_48_an_invalid_policy_fails_closed(folder, capsys) -> None:
    """A misspelt key blocks what was allowed, and `eval` refuses to run."""
    assert _decide(folder, "SELECT count(*) FROM main.customers") == []
    folder.replace(POLICY, "require_bundle", "requre_bundle")
    assert _decide(folder, "SELECT count(*) FROM main.customers") == ["policy_valid"]
    assert main(["eval", "-p", str(folder.root)]) == 2
    assert "did you mean 'require_bundle'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("question", "failed"),
    [
        ("list orders by last name", ["pii_block", "time_filter_required"]),
        ("orders that may be late", ["time_filter_required"]),
        ("orders of last week", []),
        ("orders year to date", []),
        ("orders between 2024-01-01 and 2024-02-01", []),
    ],
)
def test_item_56_a_time_is_meant_and_not_only_written(
    folder, question: str, failed: list[str]
) -> None:
    """`last name` and `may` are no times; a period in words is one."""
    assert _question(folder, question) == failed


def test_item_59_a_metric_case_is_exact_or_within_a_tolerance(folder) -> None:
    """A value is compared exactly, or within the tolerance that the case sets."""
    metric = {"outcome": "allow", "model_name": "orders", "measure": "net_revenue"}
    for result, tolerance, verdict in (
        (74.25, 0, "PASS"),
        (74.24, 0, "FAIL"),
        (74, 0.25, "PASS"),
        (74, 0.2, "FAIL"),
    ):
        expected = {**metric, "result": result, "tolerance": tolerance}
        assert _case(folder, "revenue last month", expected).verdict == verdict


@pytest.mark.parametrize(
    ("sql", "failed"),
    [
        (
            "SELECT count(*) FROM main.payments p JOIN main.customers c ON p.id = c.id",
            "bundle_join_allowlist",
        ),
        ("SELECT city FROM main.customers LIMIT 500", "limit_check"),
        ("DROP TABLE main.orders", "statement_allowed"),
    ],
)
def test_item_60_joins_limits_and_statements_are_cases(folder, sql: str, failed: str) -> None:
    """A case may expect any check to fail; where it does not, the case fails."""
    expected = {"outcome": "block", "check_failed": failed}
    assert _case(folder, "x", expected, sql=sql).verdict == "PASS"
    assert _case(folder, "x", {"outcome": "allow"}, sql=sql).verdict == "FAIL"
    sound = "SELECT city FROM main.customers LIMIT 5"
    assert _case(folder, "x", expected, sql=sound).verdict == "FAIL"


def test_item_60_switches_and_levels_are_cases(folder) -> None:
    """A tool that is off and a bundle below the level make their checks fail."""
    sound = "SELECT city FROM main.customers LIMIT 5"
    folder.replace(POLICY, "allow_execute_sql: true", "allow_execute_sql: false")
    off = {"outcome": "block", "check_failed": "execution_allowed"}
    assert _case(folder, "x", off, sql=sound).verdict == "PASS"
    assert _case(folder, "x", {"outcome": "allow"}, sql=sound).verdict == "FAIL"
    folder.replace(POLICY, "allow_execute_sql: false", "allow_execute_sql: true")
    folder.replace(DATASET, "level: certified", "level: candidate")
    low = {"outcome": "block", "check_failed": "certification_required"}
    assert _case(folder, "x", low, sql=sound).verdict == "PASS"


@pytest.mark.parametrize(
    ("dialect", "sql", "failed"),
    [
        ("duckdb", "SELECT city FROM main.customers QUALIFY row_number() OVER (ORDER BY id) = 1 LIMIT 1", []),
        ("snowflake", "SELECT city FROM main.customers FETCH FIRST 5 ROWS ONLY", []),
        ("snowflake", "SELECT * EXCLUDE (email, first_name, last_name) FROM main.customers LIMIT 5", []),
        ("bigquery", "SELECT * EXCEPT (email, first_name, last_name) FROM main.customers LIMIT 5", []),
        ("bigquery", "SELECT * EXCEPT (email) FROM main.customers LIMIT 5", ["pii_block", "pii_block_star"]),
        ("mssql", "SELECT TOP 5 city FROM main.customers", []),
        ("mssql", "SELECT TOP 500 city FROM main.customers", ["limit_check"]),
        ("mysql", "SELECT `city` FROM `main`.`customers` LIMIT 5", []),
        ("mysql", "SELECT city /*!, email */ FROM main.customers LIMIT 5", ["sql_understood"]),
        ("postgres", "WITH c AS (SELECT city FROM main.customers) SELECT city FROM c LIMIT 5", []),
    ],
)  # fmt: skip
def test_item_65_sql_is_read_in_the_dialect_of_its_database(
    folder, dialect: str, sql: str, failed: list[str]
) -> None:
    """What only one dialect has is neither blocked for its form nor a way around a check."""
    folder.replace("dbagenteval.yaml", "type: duckdb", f"type: {dialect}")
    if dialect != "duckdb":
        folder.replace(DATASET, "type: duckdb", f"type: {dialect}")
    assert _decide(folder, sql) == failed


def test_item_67_only_reading_statements_run(folder) -> None:
    """An allow list: whatever is no SELECT is refused, known to the engine or not."""
    for sql in (
        "SET x = 1", "VACUUM", "CALL f()", "COPY main.orders TO 'x'", "ATTACH 'x.db'", "PRAGMA x",
        "CREATE TABLE t AS SELECT 1", "GRANT SELECT ON main.orders TO x", "EXECUTE q", "BEGIN",
    ):  # fmt: skip
        project = load_project(folder.root)
        assert decide(Request(sql=sql, bundle="sales"), project).outcome == "block", sql


def test_item_68_a_metric_with_a_protected_dimension_is_blocked(folder) -> None:
    """Dimensions, joined dimensions and the measure itself may not read protected columns."""
    project = load_project(folder.root)
    customers = project.models["customers"]
    leaky = dataclasses.replace(customers, dimensions={**customers.dimensions, "mail": "email"})
    project = dataclasses.replace(project, models={**project.models, "customers": leaky})
    start = datetime.date(2024, 1, 1)
    for model, dimension in (("customers", "mail"), ("orders", "customer.mail")):
        measure = next(iter(project.models[model].measures))
        query = MetricQuery(
            model=model,
            measures=(measure,),
            dimensions=(dimension,),
            start=start if model == "orders" else None,
        )
        decision = decide(Request(metric=query, bundle="sales"), project)
        assert [check.name for check in decision.failed] == ["pii_block"], dimension


def test_item_68_an_allowed_request_is_no_ticket_for_another(folder) -> None:
    """Each statement is decided by itself, whatever was allowed before."""
    assert _decide(folder, "SELECT city FROM main.customers LIMIT 5") == []
    assert _decide(folder, "SELECT email FROM main.customers LIMIT 5") == ["pii_block"]
