"""Each fault that a project's files can have is named with its file and line."""

from __future__ import annotations

import pytest

from dbagenteval.errors import UserError
from dbagenteval.project import read_catalog, validate_project
from dbagenteval.project.folder.load import load_project

DATASET = "datasets/sales/dataset.yaml"
POLICY = "policies/policy.yml"
SEMANTICS = "semantics/semantic_model.yml"
RULES = "semantics/business_rules.yml"
GLOSSARY = "semantics/glossary.yml"
CONFIG = "dbagenteval.yaml"
TEST = "tests/customers_by_city.yml"

# id: (file, what stands there, what replaces it, lines below the replacement's start, level, rule,
# words of the message)
FAULTS = {
    # What the existing command finds.
    "dataset_not_a_mapping": (
        DATASET,
        "version: 1\nbundle_id: sales\n",
        "- 1\n",
        0,
        "error",
        "not-yaml",
        "",
    ),
    "unknown_database": (
        DATASET,
        "database_id: bakery",
        "database_id: bakrey",
        0,
        "error",
        "unknown-database",
        "did you mean 'bakery'",
    ),
    "missing_database_id": (
        DATASET,
        ", database_id: bakery",
        "",
        0,
        "error",
        "missing-key",
        "warehouse.database_id",
    ),
    "join_outside_bundle": (
        DATASET,
        "  - {schema: main, table: payments}\n",
        "",
        4,
        "error",
        "join-outside-bundle",
        "main.payments",
    ),
    "policy_not_yaml": (POLICY, "pii:\n", "pii: [\n", 1, "error", "not-yaml", ""),
    "semantics_not_yaml": (SEMANTICS, "models:", "models: }", 0, "error", "not-yaml", ""),
    "measure_not_a_mapping": (
        SEMANTICS,
        "{type: count}\n      net",
        "count\n      net",
        0,
        "error",
        "wrong-type",
        "must be a mapping",
    ),
    "unknown_measure_type": (
        SEMANTICS,
        "type: sum",
        "type: summ",
        0,
        "error",
        "unknown-value",
        "did you mean 'sum'",
    ),
    "measure_without_column": (
        SEMANTICS,
        "        column: amount\n",
        "",
        -2,
        "error",
        "measure-without-column",
        "net_revenue",
    ),
    "join_to_missing_model": (
        SEMANTICS,
        "to_model: customers",
        "to_model: custommers",
        0,
        "error",
        "unknown-model",
        "did you mean 'customers'",
    ),
    "pii_table_in_no_bundle": (
        POLICY,
        "main.customers:",
        "main.people:",
        0,
        "warning",
        "pii-outside-bundles",
        "main.people",
    ),
    "pii_without_columns": (
        POLICY,
        "[first_name, last_name, email]",
        "[]",
        0,
        "warning",
        "pii-no-columns",
        "main.customers",
    ),
    "model_table_in_no_bundle": (
        SEMANTICS,
        "table: orders",
        "table: order_log",
        0,
        "warning",
        "model-outside-bundles",
        "order_log",
    ),
    "model_without_measures": (
        SEMANTICS,
        "    measures:\n      customer_count: {type: count}\n",
        "",
        -6,
        "warning",
        "no-measures",
        "customers",
    ),
    "pii_dimension": (
        SEMANTICS,
        "city: {column: city}",
        "email: {column: email}",
        0,
        "warning",
        "pii-dimension",
        "email",
    ),
    # What it does not look at.
    "duplicate_case": (
        DATASET,
        "id: no_star",
        "id: no_last_names",
        0,
        "error",
        "duplicate-case",
        "no_last_names",
    ),
    "unknown_policy_key": (
        POLICY,
        "require_bundle",
        "requre_bundle",
        0,
        "error",
        "unknown-key",
        "did you mean 'require_bundle'",
    ),
    "bad_pii_mode": (
        POLICY,
        "mode: block",
        "mode: blok",
        0,
        "error",
        "unknown-value",
        "did you mean 'block'",
    ),
    "bad_certification": (
        DATASET,
        "level: certified",
        "level: certifed",
        0,
        "error",
        "unknown-value",
        "did you mean 'certified'",
    ),
    "bad_join_type": (
        DATASET,
        "column: id}\n    type: many_to_one\n  - left: {schema: main, table: payments",
        "column: id}\n    type: many_to_many_to\n  - left: {schema: main, table: payments",
        1,
        "error",
        "unknown-value",
        "joins[0].type",
    ),
    "value_type": (
        POLICY,
        "max_rows: 200",
        "max_rows: many",
        0,
        "error",
        "wrong-type",
        "whole number",
    ),
    "text_for_flag": (
        POLICY,
        "enforce_bundle_allowlist: true",
        'enforce_bundle_allowlist: "true"',
        0,
        "error",
        "wrong-type",
        "true or false",
    ),
    "fact_table_outside_bundle": (
        DATASET,
        "require_time_filter_for_tables: [main.orders]",
        "require_time_filter_for_tables: [main.order]",
        0,
        "error",
        "table-outside-bundle",
        "did you mean 'main.orders'",
    ),
    "time_column_outside_bundle": (
        DATASET,
        "{main.orders: order_date}",
        "{main.orders: order_date, main.visits: day}",
        0,
        "error",
        "table-outside-bundle",
        "main.visits",
    ),
    "fact_table_without_time_column": (
        DATASET,
        "  time_column_by_table: {main.orders: order_date}\n",
        "",
        0,
        "error",
        "no-time-column",
        "main.orders",
    ),
    "start_after_end": (
        DATASET,
        "data_start_date: 2024-01-01",
        "data_start_date: 2025-01-01",
        0,
        "error",
        "dates-reversed",
        "after",
    ),
    "no_date": (
        DATASET,
        "data_start_date: 2024-01-01",
        "data_start_date: January",
        0,
        "error",
        "wrong-type",
        "YYYY-MM-DD",
    ),
    "max_rows_above_policy": (
        DATASET,
        "max_rows: 100",
        "max_rows: 1000",
        0,
        "warning",
        "limit-not-reached",
        "policy's 200",
    ),
    "pii_under_another_key": (
        SEMANTICS,
        "city: {column: city}",
        "home: {column: Email}",
        0,
        "warning",
        "pii-dimension",
        "Email",
    ),
    "pii_in_a_measure": (
        SEMANTICS,
        "customer_count: {type: count}",
        "customer_count: {type: count_distinct, column: email}",
        0,
        "warning",
        "pii-measure",
        "email",
    ),
    "pii_in_a_measure_filter": (
        SEMANTICS,
        "customer_count: {type: count}",
        "customer_count: {type: count, filters: [{column: email, operator: ne, value: x}]}",
        0,
        "warning",
        "pii-measure",
        "email",
    ),
    "rule_target": (
        RULES,
        "[orders.net_revenue]",
        "[orders.net_revenu]",
        0,
        "warning",
        "rule-target",
        "did you mean 'orders.net_revenue'",
    ),
    "case_difference": (
        POLICY,
        "main.customers:",
        "Main.Customers:",
        0,
        "warning",
        "case-differs",
        "main.customers",
    ),
    "time_dimension": (
        SEMANTICS,
        "time_dimension: order_date",
        "time_dimension: orderdate",
        0,
        "warning",
        "unknown-dimension",
        "did you mean 'order_date'",
    ),
    "rule_severity": (
        RULES,
        "severity: critical",
        "severity: fatal",
        0,
        "error",
        "unknown-value",
        "severity",
    ),
    "rule_key": (
        RULES,
        "    guidance: Revenue",
        "    guidence: Revenue",
        0,
        "error",
        "unknown-key",
        "did you mean 'guidance'",
    ),
    "unknown_check": (
        DATASET,
        "check_failed: pii_block}\n  - id: no_star",
        "check_failed: pii_blok}\n  - id: no_star",
        -3,
        "error",
        "unknown-check",
        "did you mean 'pii_block'",
    ),
    "unknown_expectation": (
        DATASET,
        "guidance_rules_include",
        "guidance_rules",
        0,
        "error",
        "unknown-key",
        "guidance_rules_include",
    ),
    "unknown_guidance_rule": (
        DATASET,
        "[net_of_returns]",
        "[net_of_return]",
        -3,
        "error",
        "unknown-rule",
        "did you mean 'net_of_returns'",
    ),
    "unknown_measure": (
        DATASET,
        "measure: net_revenue",
        "measure: revenue_net",
        -3,
        "error",
        "unknown-measure",
        "revenue_net",
    ),
    "range_reversed": (DATASET, "[170, 175]", "[175, 170]", -3, "error", "bad-range", "lowest"),
    "allow_and_failed": (
        DATASET,
        "{outcome: block, check_failed: pii_block_star}",
        "{outcome: allow, check_failed: pii_block_star}",
        -3,
        "error",
        "contradicts-itself",
        "allow",
    ),
    "asks_but_blocks": (
        DATASET,
        "{outcome: block, check_failed: pii_block_star}",
        "{outcome: needs_clarification, check_failed: pii_block_star}",
        -3,
        "error",
        "contradicts-itself",
        "pii_block_star",
    ),
    "test_key": (TEST, "sql:", "querry: x\nsql:", 0, "error", "unknown-key", "querry"),
    "test_sql_capital": (TEST, "sql:", "SQL:", 0, "error", "unknown-key", "did you mean 'sql'"),
    "test_without_prompt": (
        TEST,
        "prompt: How many customers live in each city?\n",
        "",
        -1,
        "error",
        "missing-key",
        "prompt",
    ),
    "test_without_sql": (
        TEST,
        "sql: SELECT city, COUNT(*) AS customers FROM main.customers GROUP BY city\n",
        "",
        -3,
        "error",
        "nothing-verified",
        "",
    ),
    "test_empty_sql": (
        TEST,
        "sql: SELECT city, COUNT(*) AS customers FROM main.customers GROUP BY city",
        'sql: ""',
        0,
        "error",
        "wrong-type",
        "sql must be text",
    ),
    "test_database": (
        TEST,
        "sql:",
        "database: bakrey\nsql:",
        0,
        "error",
        "unknown-database",
        "did you mean 'bakery'",
    ),
    "test_name_twice": (
        "tests/money/refunds.yml",
        "name: refunds_2024_q1",
        "name: net_revenue",
        0,
        "error",
        "duplicate-name",
        "money/net_revenue.yml",
    ),
    "test_assertion": (
        TEST,
        "tags: [customers]",
        "assertions: [{type: tool_call}]",
        0,
        "error",
        "missing-key",
        "tool",
    ),
    "test_assertion_args": (
        TEST,
        "tags: [customers]",
        "assertions: [{type: tool_call, tool: run_sql, args: {}}]",
        0,
        "error",
        "empty-args",
        "",
    ),
    "test_sql_broken": (
        TEST,
        "GROUP BY city",
        "GROUP BY (",
        0,
        "error",
        "test-sql",
        "does not parse",
    ),
    "test_sql_writes": (
        TEST,
        "SELECT city, COUNT(*) AS customers FROM main.customers GROUP BY city",
        "DELETE FROM main.customers",
        0,
        "error",
        "test-writes",
        "DELETE",
    ),
    "test_sql_scope": (
        TEST,
        "FROM main.customers",
        "FROM staging.raw_payments",
        0,
        "warning",
        "test-outside-bundles",
        "staging.raw_payments",
    ),
    "test_sql_pii": (
        TEST,
        "SELECT city,",
        "SELECT email,",
        0,
        "warning",
        "test-reads-pii",
        "main.customers.email",
    ),
    "rules_md_scope": (
        "RULES.md",
        "- Revenue is net",
        "- Use main.order_archive.\n- Revenue is net",
        0,
        "warning",
        "prose-outside-bundles",
        "main.order_archive",
    ),
    "rules_md_pii": (
        "RULES.md",
        "- Revenue is net",
        "- Greet people by `last_name`.\n- Revenue is net",
        0,
        "warning",
        "prose-names-pii",
        "last_name",
    ),
    "guidance_pii": (
        RULES,
        "guidance: Revenue leaves",
        "guidance: Count `email`. Revenue leaves",
        0,
        "warning",
        "prose-names-pii",
        "email",
    ),
    "join_not_in_allowlist": (
        SEMANTICS,
        "foreign_key: customer_id",
        "foreign_key: id",
        0,
        "warning",
        "join-not-allowed",
        "orders.customer",
    ),
    "metrics_switched_off": (
        POLICY,
        "allow_query_metrics: true",
        "allow_query_metrics: false",
        0,
        "error",
        "contradicts-policy",
        "query_metrics",
    ),
    "level_too_low": (
        DATASET,
        "level: certified",
        "level: candidate",
        0,
        "warning",
        "level-too-low",
        "candidate",
    ),
    "not_enforced": (
        POLICY,
        "max_rows: 200",
        "max_rows: 200\n  max_preview_rows: 5",
        1,
        "warning",
        "not-enforced",
        "max_preview_rows",
    ),
    "unset_variable": (
        CONFIG,
        "path: bakery.duckdb",
        "path: \"{{ env('BAKERY_PATH') }}\"",
        0,
        "error",
        "unset-variable",
        "BAKERY_PATH",
    ),
    "config_key": (
        CONFIG,
        "project_name:",
        "projct_name: x\nproject_name:",
        0,
        "error",
        "unknown-key",
        "did you mean 'project_name'",
    ),
    "duplicate_key": (
        POLICY,
        "  mode: block",
        "  mode: block\n  mode: mask",
        1,
        "error",
        "duplicate-key",
        "'mode'",
    ),
    "term_without_meanings": (
        GLOSSARY,
        "    settled_by",
        "    setled_by",
        0,
        "error",
        "unknown-key",
        "did you mean 'settled_by'",
    ),
    "unqualified_pii_table": (
        POLICY,
        "main.customers:",
        "customers:",
        0,
        "error",
        "unqualified-table",
        "schema.table",
    ),
    "role_bundle": (
        POLICY,
        "joins:\n",
        "roles: {support: {bundles: [sale]}}\njoins:\n",
        0,
        "error",
        "unknown-bundle",
        "did you mean 'sales'",
    ),
}


def test_the_example_project_has_no_problem(folder) -> None:
    """A sound project gives no error and no warning, also against its real schema."""
    folder.make_database()
    catalogs = {"bakery": read_catalog(load_project(folder.root).config.databases[0])}
    assert validate_project(folder.root, catalogs=catalogs) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_line(folder, name: str) -> None:
    """Each fault gives its rule at the right file and line."""
    file, old, new, below, level, rule, words = FAULTS[name]
    line = folder.replace(file, old, new) + below
    found = [item for item in validate_project(folder.root, env={}) if item.rule == rule]
    assert found, [str(item) for item in validate_project(folder.root, env={})]
    problem = found[0]
    assert problem.level == level
    assert words in problem.message
    if rule in ("contradicts-policy", "level-too-low"):
        return  # stands in another file than the one that was changed
    assert problem.file == file
    if below >= 0 and rule != "not-yaml":
        assert problem.line == line, str(problem)
    else:
        text = (folder.root / file).read_text("utf-8").splitlines()
        assert 1 <= problem.line <= len(text)


def test_all_faults_are_reported_at_once(folder) -> None:
    """Faults in several files do not hide each other."""
    folder.replace(POLICY, "mode: block", "mode: blok")
    folder.replace(SEMANTICS, "type: sum", "type: summ")
    folder.replace(TEST, "sql:", "querry: x\nsql:")
    rules = {(item.file, item.rule) for item in validate_project(folder.root)}
    assert rules >= {(POLICY, "unknown-value"), (SEMANTICS, "unknown-value"), (TEST, "unknown-key")}


@pytest.mark.parametrize("file", [DATASET, POLICY, SEMANTICS, RULES, GLOSSARY, TEST, CONFIG])
@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "- a\n- b\n", "just text\n", "\x00", "a: &a [*a]\n", "null\n"]
)
def test_a_file_without_use_is_a_fault_and_no_crash(folder, file: str, text: str) -> None:
    """Empty, foreign or broken files give an error of that file; nothing else breaks."""
    folder.write(file, text)
    assert any(
        item.file == file and item.level == "error" for item in validate_project(folder.root)
    )


def test_a_latin1_file_is_named(folder) -> None:
    """A file that is not UTF-8 is reported with the line of the first bad byte."""
    (folder.root / RULES).write_bytes("rules:\n  - name: caf\xe9\n".encode("latin-1"))
    problem = next(item for item in validate_project(folder.root) if item.rule == "not-utf8")
    assert (problem.file, problem.line) == (RULES, 2)


def test_a_missing_policy_and_bundle_folder_are_warnings(folder) -> None:
    """A project may be without governance; it is told."""
    (folder.root / POLICY).unlink()
    import shutil

    shutil.rmtree(folder.root / "datasets")
    rules = {(item.level, item.rule) for item in validate_project(folder.root)}
    assert ("warning", "no-policy") in rules
    assert ("warning", "no-bundles") in rules


def test_a_bundle_folder_without_file_and_a_doubled_id(folder) -> None:
    """A bundle folder needs a dataset file, and an id of its own."""
    (folder.root / "datasets" / "blank").mkdir()
    folder.write("datasets/twin/dataset.yaml", (folder.root / DATASET).read_text("utf-8"))
    found = {(item.file, item.rule) for item in validate_project(folder.root)}
    assert ("datasets/blank", "no-dataset-file") in found
    assert ("datasets/twin/dataset.yaml", "duplicate-bundle") in found


def test_no_project_is_an_error_of_the_user(tmp_path, monkeypatch) -> None:
    """Without a configuration file there is nothing to validate, and the message says what to do."""
    with pytest.raises(UserError, match="no project here"):
        validate_project(tmp_path)


def test_an_existing_dazense_project_is_read_alike(folder) -> None:
    """A `dazense_config.yaml` is found and held to the same format."""
    (folder.root / CONFIG).rename(folder.root / "dazense_config.yaml")
    assert validate_project(folder.root) == []
    folder.replace("dazense_config.yaml", "type: duckdb", "type: duckbd")
    assert [
        item.rule for item in validate_project(folder.root) if item.file == "dazense_config.yaml"
    ] == ["unknown-value"]
