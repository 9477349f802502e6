"""A first project from a database: tables, joins, time, PII candidates, measures and tests.

Everything is a draft by names and types, for people to mend; each file says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.starter.answertests import answer_test_files
from dbagenteval.project.starter.dataset import dataset_file
from dbagenteval.project.starter.semantics import business_rules_file, semantics_file
from dbagenteval.project.starter.tables import (
    Execute,
    Table,
    find_tables,
    first_and_last_day,
    main_table,
    spelled,
)
from dbagenteval.project.starter.yamltext import yaml_text

__all__ = ["Draft", "draft_project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The files of a new project: path to text; and what was found, in words."""

    files: Mapping[str, str]
    found: tuple[str, ...]


def draft_project(
    name: str,
    database: Mapping[str, Any],
    catalog: Catalog,
    execute: Execute,
    quotes: str = '""',
) -> Draft:
    """Draft every file of a project.

    Args:
        name: Name of the project.
        database: The entry for `databases:`; its `name` and `type` are used.
        catalog: The real schema.
        execute: Runs a query; used to find the first and last day of each time column.
        quotes: How the database quotes a name.
    """
    tables = find_tables(catalog, execute, quotes)
    days = first_and_last_day(tables, execute, quotes)
    main = main_table(tables)
    files = {
        "dbagenteval.yaml": _config(name, database),
        "RULES.md": _rules(tables),
        "agent.py": _AGENT,
        "datasets/main/dataset.yaml": dataset_file(name, database, tables, days, main),
        "policies/policy.yml": _policy(tables),
        "semantics/semantic_model.yml": semantics_file(tables),
        "semantics/business_rules.yml": business_rules_file(tables),
        ".gitignore": "contracts/\ntests/outputs/\n",
        **answer_test_files(tables, days, main, quotes),
    }
    pii = sum(len(table.pii) for table in tables)
    joins = sum(len(table.links) for table in tables)
    facts = [table.key for table in tables if table.is_fact]
    found = (
        f"{len(tables)} table(s), {joins} join(s) by names and keys",
        f"{pii} column(s) that may be personal data: check policies/policy.yml",
        f"time filter for {', '.join(facts) or 'no table'}",
    )
    return Draft(files=files, found=found)


def _config(name: str, database: Mapping[str, Any]) -> str:
    return yaml_text(
        "The project; see docs/project.md. Replace agent.py by your agent, or give a `url:`.",
        {
            "project_name": name,
            "databases": [dict(database)],
            "agent": {"function": "agent.py:answer"},
            "test": {"threads": 4},
        },
    )


def _rules(tables: list[Table]) -> str:
    lines = ["# Rules for the agent", "", "Put this into the agent's instructions.", ""]
    lines += [
        f"- Never show {', '.join(table.pii)} of {table.key}." for table in tables if table.pii
    ]
    lines.append("- Ask back when a question names no period, or may mean several things.")
    return "\n".join(lines) + "\n"


def _policy(tables: list[Table]) -> str:
    return yaml_text(
        "What is enforced. The PII columns are candidates by their names: check each of them.",
        {
            "version": 1,
            "defaults": {
                "max_rows": 200,
                "require_limit_for_raw_rows": True,
                "require_time_filter_for_fact_tables": True,
            },
            "pii": {
                "mode": "block",
                "columns": {spelled(table): list(table.pii) for table in tables if table.pii},
            },
            "joins": {"enforce_bundle_allowlist": True},
            "execution": {"require_bundle": True},
        },
    )


_AGENT = '''"""Replace this by your agent: take a question, give what it did."""

from dbagenteval import Trace


def answer(question: str) -> Trace:
    # Trace.simple(question, answer=text, sql=sql, rows=rows)
    return Trace.simple(question, answer="This data is not available: no agent is connected yet.")
'''
