"""Whether an answer comes from a query over the right tables, not from a guess or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.project.verdict.references import Reference
from dbagenteval.rules.lineage.facts import QueryFacts
from dbagenteval.rules.lineage.query_facts import query_facts

__all__ = ["provenance_problem"]


def provenance_problem(
    assertion: Mapping[str, Any],
    sqls: Sequence[str],
    project: Project | None,
    reference: Reference,
) -> str:
    """Say why an answer's origin is not the right one; empty if it is.

    Args:
        assertion: With `tables` and `columns` that must be read, and `not_tables`; without
            `tables`, one of those that the reference reads must be.
        sqls: The statements that the agent ran.
        project: Whose database's dialect they are in.
        reference: Of the test: its database and what it reads.
    """
    if not sqls:
        return "no SQL was seen that the answer comes from"
    configured = project.config.database(reference.database) if project is not None else None
    if project is None or configured is None:
        return "there is no database whose tables the agent's SQL could read"
    schema = schema_of(project, None, None)
    found = [query_facts(sql, configured.dialect, schema) for sql in sqls]
    for facts, sql in zip(found, sqls, strict=True):
        if facts.problem and not facts.statement:
            return f"it can't be told what the agent's SQL reads: {facts.problem} ({sql[:60]})"
    read = sorted({table for facts in found for table in facts.tables})
    return _tables_problem(assertion, read, reference.tables) or _columns_problem(assertion, found)


def _tables_problem(
    assertion: Mapping[str, Any], read: Sequence[str], reference_tables: Sequence[str]
) -> str:
    shown = ", ".join(read) or "no table"
    for name in texts(assertion.get("not_tables")):
        if any(_is_named(table, name) for table in read):
            return f"the agent's SQL reads {name}, which it must not"
    wanted = texts(assertion.get("tables"))
    for name in wanted:
        if not any(_is_named(table, name) for table in read):
            return f"the agent's SQL reads {shown}, but not {name}"
    if not wanted and reference_tables and not set(reference_tables) & set(read):
        return f"the agent's SQL reads {shown}, and the reference {', '.join(reference_tables)}"
    return ""


def _columns_problem(assertion: Mapping[str, Any], found: Sequence[QueryFacts]) -> str:
    reads = [read for facts in found for read in facts.reads]
    for name in texts(assertion.get("columns")):
        table, _, column = name.rpartition(".")
        if not any(
            (not table or _is_named(read.table, table))
            and (read.column == column.casefold() or (read.column == "*" and read.by_star))
            for read in reads
        ):
            return f"the agent's SQL does not use {name}"
    return ""


def _is_named(table: str, name: str) -> bool:
    """Say whether a name means a table; it may leave out the schema."""
    key = name.casefold()
    return table == key or table.endswith("." + key)
