"""The SQL of answer tests against the dialect, the bundles, the policy and the real schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Bundle, Project
from dbagenteval.project.folder.problems import Problem, Problems
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.rules.lineage.facts import QueryFacts
from dbagenteval.rules.lineage.query_facts import query_facts

__all__ = ["check_tests"]


def check_tests(
    project: Project, tests: Sequence[AnswerTest], catalogs: Mapping[str, Catalog] | None
) -> list[Problem]:
    """Check that each reference can be read, only reads, and keeps to scope and policy."""
    found: list[Problem] = []
    for test in tests:
        problems = Problems(test.file)
        database = project.config.database(test.database)
        if database is None:
            continue
        bundles = [b for b in project.bundles.values() if b.database_id == database.name]
        catalog = (catalogs or {}).get(database.name)
        schema = schema_of(project, bundles[0] if bundles else None, catalog)
        for sql in test.sqls:
            _check(test, query_facts(sql, database.dialect, schema), bundles, project, problems)
        found += problems.found
    return found


def _check(
    test: AnswerTest,
    facts: QueryFacts,
    bundles: Sequence[Bundle],
    project: Project,
    problems: Problems,
) -> None:
    line = test.sql_line
    if facts.statement:
        problems.error("test-writes", line, f"the reference must only read: {facts.statement}")
        return
    if facts.problem.startswith("SQL does not parse"):
        problems.error("test-sql", line, facts.problem)
        return
    if facts.problem:
        problems.warn("test-sql", line, f"the reference can't be checked: {facts.problem}")
        return
    if facts.statement_count > 1:
        problems.error("test-sql", line, "the reference is more than one statement")
    scoped = {table for bundle in bundles for table in bundle.tables}
    outside = [table for table in facts.tables if table not in scoped]
    if bundles and outside:
        problems.warn(
            "test-outside-bundles", line, f"the reference reads {outside[0]}, which is in no bundle"
        )
    protected = project.policy.pii_columns if project.policy else {}
    read = sorted(
        f"{item.table}.{item.column}"
        for item in facts.reads
        if item.column in protected.get(item.table, ())
    )
    if read:
        problems.warn(
            "test-reads-pii", line, f"the reference reads {read[0]}, which the policy protects"
        )
