"""The checks of the policy engine on SQL."""

from __future__ import annotations

from dataclasses import dataclass

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Bundle, Policy
from dbagenteval.project.policy.request import CheckOutcome
from dbagenteval.project.policy.rights import Rights
from dbagenteval.project.policy.sqlpii import masked_sql, masking_check, pii_checks
from dbagenteval.rules.lineage.facts import JoinBlock, QueryFacts, Schema
from dbagenteval.rules.lineage.query_facts import query_facts

__all__ = ["JudgedSql", "judge_sql", "tables_in"]


@dataclass(frozen=True, slots=True)
class JudgedSql:
    """The checks, the SQL to run (masked where that is the policy), and the tables read."""

    checks: tuple[CheckOutcome, ...]
    sql: str | None
    tables: tuple[str, ...]
    statement_count: int = 1


def tables_in(sql: str, dialect: str, schema: Schema) -> list[str]:
    """Give the tables that SQL reads, by key; empty if it can't be judged."""
    facts = query_facts(sql, dialect, schema)
    return [] if facts.problem or facts.statement else facts.tables


def judge_sql(
    sql: str,
    dialect: str,
    schema: Schema,
    *,
    bundle: Bundle | None,
    policy: Policy,
    rights: Rights,
    catalog: Catalog | None,
    has_run: bool,
) -> JudgedSql:
    """Check one SQL text.

    Args:
        sql: The text.
        dialect: sqlglot's name of the dialect.
        schema: What is known of the database.
        bundle: The scope, or None if there is no bundle at all.
        policy: A policy without faults.
        rights: Of the actor.
        catalog: The real schema, which masking needs.
        has_run: It ran already: nothing can be masked any more.
    """
    facts = query_facts(sql, dialect, schema)
    checks = [_statement(facts, policy)]
    if facts.statement:
        return JudgedSql(tuple(checks), None, ())
    if facts.problem:
        checks.append(
            CheckOutcome(
                name="sql_understood",
                status="fail",
                detail=facts.problem,
                fix="write it so that its tables and columns can be told",
            )
        )
        return JudgedSql(tuple(checks), None, ())
    checks.append(CheckOutcome(name="sql_understood", status="pass"))
    protected = {
        table: columns - rights.pii_columns.get(table, frozenset())
        for table, columns in policy.pii_columns.items()
    }
    shown: str | None = sql
    if policy.pii_mode == "mask" and not has_run:
        shown = masked_sql(sql, dialect, schema, facts, protected, policy, catalog)
        pii = [masking_check(facts, protected, policy, was_masked=shown is not None)]
    else:
        pii = pii_checks(facts, protected, policy)
    checks += [
        _functions(facts, policy),
        _scope(facts, bundle),
        _joins(facts, bundle, policy),
        *pii,
        _time(facts, bundle, policy),
        _limit(facts, bundle, policy, rights),
    ]
    return JudgedSql(tuple(checks), shown, tuple(facts.tables), facts.statement_count)


def _statement(facts: QueryFacts, policy: Policy) -> CheckOutcome:
    name = "statement_allowed"
    if facts.statement:
        fix = "only SELECT may run"
        return CheckOutcome(name=name, status="fail", detail=facts.statement, fix=fix)
    if policy.disallow_multi_statement and facts.statement_count > 1:
        detail = f"{facts.statement_count} statements in one text"
        return CheckOutcome(name=name, status="fail", detail=detail, fix="run them one by one")
    return CheckOutcome(name=name, status="pass")


def _functions(facts: QueryFacts, policy: Policy) -> CheckOutcome:
    unknown = sorted(facts.functions - policy.allow_functions)
    if not unknown:
        return CheckOutcome(name="function_allowed", status="pass")
    return CheckOutcome(
        name="function_allowed",
        status="fail",
        detail=f"{unknown[0]}() may read more than its arguments",
        evidence={"functions": unknown},
        fix="if it only computes, add it to execution.allow_functions of the policy",
    )


def _scope(facts: QueryFacts, bundle: Bundle | None) -> CheckOutcome:
    name = "bundle_tables_only"
    if bundle is None:
        return CheckOutcome(name=name, status="skip", detail="the project has no bundle")
    outside = [table for table in facts.tables if table not in bundle.tables]
    if not outside:
        return CheckOutcome(name=name, status="pass", evidence={"tables": facts.tables})
    return CheckOutcome(
        name=name,
        status="fail",
        detail=f"{', '.join(outside)} is not in bundle {bundle.bundle_id!r}",
        evidence={"outside": outside, "tables": facts.tables},
        fix=f"keep to {', '.join(bundle.tables.values())}",
    )


def _joins(facts: QueryFacts, bundle: Bundle | None, policy: Policy) -> CheckOutcome:
    name = "bundle_join_allowlist"
    if bundle is None or not policy.enforce_joins:
        return CheckOutcome(name=name, status="skip", detail="joins are not restricted")
    allowed = {join.edge for join in bundle.joins}
    listed = [" = ".join(f"{t}.{c}" for t, c in (join.left, join.right)) for join in bundle.joins]
    for left, right in sorted(facts.edges):
        if left != right and frozenset((left, right)) not in allowed:
            return CheckOutcome(
                name=name,
                status="fail",
                detail=f"{'.'.join(left)} = {'.'.join(right)} is none of the allowed joins",
                evidence={"join": [".".join(left), ".".join(right)], "allowed": listed},
                fix=f"join by {'; '.join(listed) or 'nothing: the bundle allows no join'}",
            )
    for block in facts.blocks:
        apart = _unconnected(block)
        if apart:
            return CheckOutcome(
                name=name,
                status="fail",
                detail=f"{' and '.join(apart)} are not joined by an equality of columns",
                evidence={"sources": apart, "allowed": listed},
                fix=f"join by {'; '.join(listed) or 'nothing: the bundle allows no join'}",
            )
    return CheckOutcome(name=name, status="pass", evidence={"joins": len(facts.edges)})


def _unconnected(block: JoinBlock) -> list[str]:
    """Give the names of two sources that no equality connects; all edges are allowed ones."""
    needed = [
        index
        for index, source in enumerate(block.sources)
        if source.tables and not source.is_single_row
    ]
    if len(needed) < 2:
        return []
    reached, grew = {needed[0]}, True
    while grew:
        grew = False
        for first, second, _ in block.edges:
            if (first in reached) != (second in reached):
                reached |= {first, second}
                grew = True
    apart = [index for index in needed if index not in reached]
    names = [block.sources[index].name or "a subquery" for index in (needed[0], *apart[:1])]
    return names if apart else []


def _time(facts: QueryFacts, bundle: Bundle | None, policy: Policy) -> CheckOutcome:
    name = "time_filter_required"
    if bundle is None or not policy.require_time_filter_for_fact_tables:
        return CheckOutcome(name=name, status="skip", detail="no time filter is required")
    needing = [use for use in facts.uses if use.table in bundle.fact_tables]
    for use in needing:
        column = bundle.time_columns.get(use.table, "").casefold()
        if "lower" not in use.bounds.get(column, set()):
            where = f"{use.table}.{column}" if column else f"{use.table}, which has no time column"
            return CheckOutcome(
                name=name,
                status="fail",
                detail=f"nothing bounds {where} from below in every row that is read",
                evidence={"table": use.table, "column": column},
                fix=f"add a condition such as {column or 'its date'} >= DATE '…' "
                "that holds for every row",
            )
    return CheckOutcome(name=name, status="pass", evidence={"tables": [u.table for u in needing]})


def _limit(
    facts: QueryFacts, bundle: Bundle | None, policy: Policy, rights: Rights
) -> CheckOutcome:
    name = "limit_check"
    most = min(policy.max_rows, bundle.max_rows if bundle and bundle.max_rows else policy.max_rows)
    most = rights.max_rows or most
    if not policy.enforce_limit:
        return CheckOutcome(name=name, status="skip", detail="limits are not enforced")
    if facts.limit_problem:
        detail = f"{facts.limit_problem}, so that the number of rows is not bounded"
    elif facts.limit is not None and facts.limit > most:
        detail = f"LIMIT {facts.limit} is above {most}"
    elif facts.limit is None and facts.is_raw_rows and policy.require_limit_for_raw_rows:
        detail = f"raw rows without a limit; at most {most} may be read"
    else:
        return CheckOutcome(name=name, status="pass", evidence={"limit": facts.limit})
    return CheckOutcome(
        name=name,
        status="fail",
        detail=detail,
        evidence={"limit": facts.limit, "most": most},
        fix=f"end the outermost query with LIMIT {most}",
    )
