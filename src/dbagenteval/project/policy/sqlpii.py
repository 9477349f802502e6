"""Protected columns in SQL: which it reads, and whether masks can stand in their place."""

from __future__ import annotations

from collections.abc import Mapping

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Policy
from dbagenteval.project.policy.request import CheckOutcome
from dbagenteval.rules.lineage.facts import QueryFacts, Read, Schema
from dbagenteval.rules.lineage.query_facts import mask_columns

__all__ = ["masked_sql", "masking_check", "pii_checks"]


def pii_checks(
    facts: QueryFacts, protected: Mapping[str, frozenset[str]], policy: Policy
) -> list[CheckOutcome]:
    """Check that no protected column is read, but by an aggregate that the policy allows."""
    hidden = [
        (read, columns)
        for read, columns in _hidden(facts, protected)
        if read.aggregate not in policy.pii_aggregates or read.by_star
    ]
    named = sorted({f"{read.table}.{name}" for read, columns in hidden for name in columns})
    starred = sorted(
        {f"{read.table}.{name}" for read, columns in hidden if read.by_star for name in columns}
    )
    if not named:
        return [CheckOutcome(name="pii_block", status="pass")]
    checks = [
        CheckOutcome(
            name="pii_block",
            status="fail",
            detail=f"reads {', '.join(named)}, which is protected",
            evidence={"columns": named},
            fix="leave these columns out, also of conditions and orders",
        )
    ]
    if starred:
        checks.append(
            CheckOutcome(
                name="pii_block_star",
                status="fail",
                detail=f"a star or whole row reads {', '.join(starred)}",
                evidence={"columns": starred},
                fix="name the columns that are needed",
            )
        )
    return checks


def masked_sql(
    sql: str,
    dialect: str,
    schema: Schema,
    facts: QueryFacts,
    protected: Mapping[str, frozenset[str]],
    policy: Policy,
    catalog: Catalog | None,
) -> str | None:
    """Rewrite SQL so that it sees masks; None if it reads protected columns and can't be."""
    if not _hidden(facts, protected):
        return sql
    if catalog is None or facts.statement_count != 1:
        return None
    text = frozenset(
        (table, column)
        for table, columns in protected.items()
        for column in columns
        if catalog.is_text(table, column)
    )
    return mask_columns(sql, dialect, schema, protected, text, policy.mask_with)


def masking_check(
    facts: QueryFacts,
    protected: Mapping[str, frozenset[str]],
    policy: Policy,
    *,
    was_masked: bool,
) -> CheckOutcome:
    """Tell which columns are masked, or that they can't be."""
    columns = sorted(
        {f"{read.table}.{name}" for read, names in _hidden(facts, protected) for name in names}
    )
    if not columns:
        return CheckOutcome(name="pii_block", status="pass")
    if was_masked:
        detail = f"{', '.join(columns)} is masked as {policy.mask_with!r}"
        return CheckOutcome(
            name="pii_block", status="pass", detail=detail, evidence={"masked": columns}
        )
    return CheckOutcome(
        name="pii_block",
        status="fail",
        detail=f"reads {', '.join(columns)}, which can't be masked: the table's columns are "
        "not known",
        evidence={"columns": columns},
        fix="give the engine the database (--database), or leave the columns out",
    )


def _hidden(
    facts: QueryFacts, protected: Mapping[str, frozenset[str]]
) -> list[tuple[Read, frozenset[str]]]:
    """Give each read of protected columns, with those columns."""
    found = []
    for read in facts.reads:
        columns = protected.get(read.table, frozenset())
        columns = columns - read.excluded if read.column == "*" else columns & {read.column}
        if columns:
            found.append((read, columns))
    return found
