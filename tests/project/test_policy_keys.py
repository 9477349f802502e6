"""Policy keys that other tools only declare: tags of personal data, and SQL that must compile."""

from __future__ import annotations

from typing import Any

import pytest

from dbagenteval.cli.main import main
from dbagenteval.executors import executor_for
from dbagenteval.project import validate_project
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.policy import Request, decide
from dbagenteval.project.policy.compilation import compiler_of

POLICY = "policies/policy.yml"
RULES = "semantics/business_rules.yml"
SEMANTICS = "semantics/semantic_model.yml"
CITY = "SELECT city FROM main.customers LIMIT 5"


def _failed(folder: Any, sql: str, **options: Any) -> list[str]:
    decision = decide(Request(sql=sql, bundle="sales"), load_project(folder.root), **options)
    return [check.name for check in decision.failed]


def _classify(folder: Any, entry: str) -> None:
    path = folder.root / RULES
    path.write_text(path.read_text("utf-8") + f"classifications:\n  - {entry}\n", "utf-8")


@pytest.mark.parametrize(
    "column", ["city", "customers.city", "main.customers.city", "Main.Customers.City"]
)
def test_a_classified_column_is_protected(folder, column: str) -> None:
    """A classification with one of the policy's tags protects its columns like `pii.columns`."""
    assert _failed(folder, CITY) == []
    _classify(folder, f"{{name: place, tags: [pii], columns: [{column}]}}")
    assert _failed(folder, CITY) == ["pii_block"]
    assert _failed(folder, "SELECT count(*) FROM main.customers WHERE city = 'x'") == ["pii_block"]
    assert _failed(folder, "SELECT email FROM main.customers LIMIT 5") == ["pii_block"]
    asked = Request(question="list the cities of customers", bundle="sales")
    assert decide(asked, load_project(folder.root)).outcome == "block"


def test_a_tagged_dimension_is_protected(folder) -> None:
    """A dimension's tag protects the column that it stands for."""
    folder.replace(SEMANTICS, "city: {column: city}", "town: {column: city, tags: [Sensitive]}")
    assert _failed(folder, CITY) == ["pii_block"]
    found = [item for item in validate_project(folder.root) if item.rule == "pii-dimension"]
    assert "customers.town shows the PII column 'city'" in found[0].message


def test_only_the_tags_of_the_policy_protect(folder) -> None:
    """Other tags say nothing; `pii.tags` names those that count, and an empty list none."""
    _classify(folder, "{name: place, tags: [geo], columns: [customers.city]}")
    assert _failed(folder, CITY) == []
    folder.replace(POLICY, "mode: block", "mode: block\n  tags: [GEO]")
    assert _failed(folder, CITY) == ["pii_block"]
    folder.replace(POLICY, "tags: [GEO]", "tags: []")
    assert _failed(folder, CITY) == []


def test_tags_that_can_not_be_read_allow_nothing(folder) -> None:
    """A semantic file that can't be parsed may hide personal data: the policy is not usable."""
    folder.write(RULES, "classifications: [\n")
    assert _failed(folder, CITY) == ["policy_valid"]


def test_a_tagged_name_without_table_is_told(folder) -> None:
    """A tagged column of no known table is named by `validate`, with its line."""
    _classify(folder, "{name: place, tags: [pii], columns: [nowhere.city]}")
    found = [item for item in validate_project(folder.root) if item.rule == "tagged-column"]
    last = len((folder.root / RULES).read_text("utf-8").splitlines())
    assert [(item.file, item.line) for item in found] == [(RULES, last)]


@pytest.fixture
def compiling(folder: Any) -> Any:
    """The example with a policy whose SQL must compile, and its database."""
    folder.make_database()
    folder.replace(
        POLICY,
        "  require_bundle: true",
        "  require_bundle: true\n  sql_validation: {mode: compile}",
    )
    return folder


def test_sql_must_compile_where_the_policy_asks_it(compiling) -> None:
    """What the database does not plan is blocked with its words; without a database all is."""
    url = load_project(compiling.root).config.databases[0].url
    compiler = compiler_of(executor_for(url), "duckdb")
    assert _failed(compiling, CITY, compiler=compiler) == []
    wrong = "SELECT city + DATE '2024-01-01' AS x FROM main.customers LIMIT 5"
    decision = decide(
        Request(sql=wrong, bundle="sales"), load_project(compiling.root), compiler=compiler
    )
    assert [check.name for check in decision.failed] == ["sql_compiles"]
    assert "No function matches" in decision.failed[0].detail
    assert decision.outcome == "block"
    assert _failed(compiling, CITY) == ["sql_compiles"]
    assert _failed(compiling, "DELETE FROM main.orders") == ["statement_allowed"]


def test_nothing_runs_when_sql_is_compiled(compiling) -> None:
    """Only one allowed SELECT reaches the database, and only to be planned."""
    seen: list[str] = []
    compiler = compiler_of(lambda sql: seen.append(sql) or [], "duckdb")
    _failed(compiling, CITY, compiler=compiler)
    _failed(compiling, "SELECT email FROM main.customers LIMIT 5", compiler=compiler)
    _failed(compiling, "DELETE FROM main.orders", compiler=compiler)
    compiling.replace(POLICY, "{mode: compile}", "{mode: compile, disallow_multi_statement: false}")
    assert _failed(compiling, f"{CITY}; {CITY}", compiler=compiler) == ["sql_compiles"]
    assert seen == [f"EXPLAIN {CITY}"]
    assert compiler_of(lambda sql: [], "bigquery") is None


def test_cases_compile_on_the_database_or_are_errors(compiling, capsys) -> None:
    """`eval` compiles a case's SQL; a database that can't be opened decides nothing."""
    compiling.replace(
        "datasets/sales/dataset.yaml",
        "eval_test_cases:\n",
        "eval_test_cases:\n"
        "  - {id: sound, prompt: Cities, sql: select city from main.customers limit 5,"
        " expected: {outcome: allow, check_passed: sql_compiles}}\n"
        "  - {id: unsound, prompt: Cities, sql: select city + 5 as x from main.customers limit 5,"
        " expected: {outcome: block, check_failed: sql_compiles}}\n",
    )
    assert main(["eval", "-p", str(compiling.root)]) == 0
    out = capsys.readouterr().out
    assert "PASS    sound" in out
    assert "PASS    unsound" in out
    compiling.replace("dbagenteval.yaml", "path: bakery.duckdb", "path: nothing.duckdb")
    assert main(["eval", "-p", str(compiling.root)]) == 1
    assert "ERROR   sound" in capsys.readouterr().out


def test_compile_and_tags_are_no_longer_noted_as_unenforced(compiling) -> None:
    """`validate` notes just the keys that nothing enforces."""
    compiling.replace(POLICY, "mode: block", "mode: block\n  tags: [PII]")
    assert validate_project(compiling.root) == []
    compiling.replace(POLICY, "{mode: compile}", "{mode: compile}\n  require_contract: true")
    noted = [item.message for item in validate_project(compiling.root)]
    assert len(noted) == 1
    assert "execution.require_contract is not enforced" in noted[0]
