"""The policy engine: may this request run, and if not, why and what would make it right.

Use it as a library: `decide(Request(sql="…"), load_project("."))`. Where a request has SQL, the
SQL decides, read as its dialect reads it, and never the words of the question. What can't be
judged is not allowed: an invalid policy, SQL that is not understood, an unknown role.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.project.policy.compilation import Compiler
from dbagenteval.project.policy.metricsql import metric_faults, metric_sql, metric_tables
from dbagenteval.project.policy.question import Asked, read_question
from dbagenteval.project.policy.request import (
    ALLOW,
    BLOCK,
    CLARIFY,
    CheckOutcome,
    Decision,
    MetricQuery,
    Request,
)
from dbagenteval.project.policy.rights import Rights, rights_of
from dbagenteval.project.policy.sqlchecks import judge_sql, tables_in
from dbagenteval.rules.lineage import Schema

__all__ = ["CheckOutcome", "Decision", "MetricQuery", "Request", "decide"]

CLARIFYING = ("ambiguity_check", "time_filter_required", "bundle_required")
"""Checks whose failure asks the user something; any other failure blocks."""


def decide(
    request: Request,
    project: Project,
    catalog: Catalog | None = None,
    compiler: Compiler | None = None,
) -> Decision:
    """Decide a request.

    Args:
        request: What is asked.
        project: The project whose policy, bundles and semantic model decide.
        catalog: The real schema of the database; without it a star over a table with protected
            columns is blocked, and nothing can be masked.
        compiler: Compiles SQL on the bundle's database, for a policy that asks it; without one
            such a policy blocks.

    Returns:
        The outcome with every check. A project without a policy file is judged by a policy of
        the format's defaults, which protects no columns; `policy_valid` then warns.
    """
    policy = project.policy or Policy()
    if policy.faults:
        detail = f"the policy can't be used: {policy.faults[0]}"
        fix = "mend policies/policy.yml (`dbagenteval validate` names every fault)"
        return _decision([CheckOutcome(name="policy_valid", status="fail", detail=detail, fix=fix)])
    checks = [_policy_there(project)]
    rights = rights_of(policy, request.roles, checks)
    if rights is None:
        return _decision(checks)
    bundle = _bundle_for(request, project, policy, rights, catalog, checks)
    if bundle is None and any(check.status == "fail" for check in checks):
        return _decision(checks)
    checks.append(_tool(request, policy, rights))
    checks.append(_level(request, policy, bundle))
    schema = schema_of(project, bundle, catalog)
    scope = _Scope(request, project, policy, rights, bundle, schema, catalog, compiler)
    if request.sql is not None:
        return scope.decide_sql(request.sql, checks)
    if request.metric is not None:
        return scope.decide_metric(request.metric, checks)
    return scope.decide_question(checks)


class _Scope:
    """Everything that a request is judged by, once its bundle is found."""

    def __init__(
        self,
        request: Request,
        project: Project,
        policy: Policy,
        rights: Rights,
        bundle: Bundle | None,
        schema: Schema,
        catalog: Catalog | None,
        compiler: Compiler | None,
    ) -> None:
        self.request = request
        self.project = project
        self.policy = policy
        self.rights = rights
        self.bundle = bundle
        self.schema = schema
        self.catalog = catalog
        self.compiler = compiler
        database = project.database_of(bundle)
        self.dialect = database.dialect if database else ""

    @property
    def today(self) -> datetime.date:
        fixed = self.bundle.today if self.bundle else None
        return self.request.today or fixed or datetime.datetime.now().astimezone().date()

    def decide_sql(self, sql: str, checks: list[CheckOutcome]) -> Decision:
        judged = judge_sql(
            sql,
            self.dialect,
            self.schema,
            bundle=self.bundle,
            policy=self.policy,
            rights=self.rights,
            catalog=self.catalog,
            has_run=self.request.has_run,
        )
        checks = [*checks, *judged.checks]
        failed = any(check.status == "fail" for check in checks)
        if self.policy.must_compile and not self.request.has_run and not failed:
            checks.append(self._compiles(judged.sql or sql, judged.statement_count))
        return replace(_decision(checks, self.bundle), sql=judged.sql, tables=judged.tables)

    def _compiles(self, sql: str, statement_count: int) -> CheckOutcome:
        name = "sql_compiles"
        if statement_count != 1:  # to plan the first would run the others
            detail = f"{statement_count} statements in one text can't be compiled"
            return CheckOutcome(name=name, status="fail", detail=detail, fix="run them one by one")
        if self.compiler is None:
            return CheckOutcome(
                name=name,
                status="fail",
                detail="the policy asks that SQL compiles, and there is no database to compile it",
                evidence={"unverified": True},
                fix="give the engine a compiler (`compiler_of`), or set sql_validation.mode: parse",
            )
        problem = self.compiler(sql)
        if not problem:
            return CheckOutcome(name=name, status="pass")
        detail = f"the database does not take it: {problem}"
        return CheckOutcome(name=name, status="fail", detail=detail, fix="mend the statement")

    def decide_metric(self, metric: MetricQuery, checks: list[CheckOutcome]) -> Decision:
        faults = metric_faults(metric, self.project)
        if faults:
            fix = "use a model, measure and dimensions of semantics/semantic_model.yml"
            detail = "; ".join(faults)
            failed = CheckOutcome(name="metric_exists", status="fail", detail=detail, fix=fix)
            return _decision([*checks, failed], self.bundle)
        tables = metric_tables(metric, self.project)
        outside = [key for key in tables if self.bundle and key not in self.bundle.tables]
        checks = [
            *checks,
            CheckOutcome(name="metric_exists", status="pass"),
            _metric_scope(outside),
        ]
        written = metric_sql(metric, self.project, self.dialect)
        decision = self.decide_sql(written, checks)
        asked = read_question(
            self.request.question, self.project, self.bundle, self.today, self.catalog
        )
        return replace(decision, rules=asked.rules, start=metric.start, end=metric.end)

    def decide_question(self, checks: list[CheckOutcome]) -> Decision:
        asked = read_question(
            self.request.question, self.project, self.bundle, self.today, self.catalog
        )
        if asked.sql is not None:
            return replace(self.decide_sql(asked.sql, checks), rules=asked.rules)
        checks = [
            *checks,
            self._vague(asked),
            self._outside(asked),
            self._pii(asked),
            self._time(asked),
        ]
        decision = _decision(checks, self.bundle)
        window = asked.window
        return replace(
            decision,
            rules=asked.rules,
            tables=asked.tables,
            start=window.start if window else None,
            end=window.end if window else None,
        )

    def _vague(self, asked: Asked) -> CheckOutcome:
        if self.project.terms is None:
            return CheckOutcome(
                name="ambiguity_check", status="skip", detail="there is no semantics/glossary.yml"
            )
        if not asked.vague:
            return CheckOutcome(name="ambiguity_check", status="pass")
        term = asked.vague[0]
        return CheckOutcome(
            name="ambiguity_check",
            status="fail",
            detail=f"{term.term!r} may mean: {'; '.join(term.meanings)}",
            evidence={item.term: list(item.meanings) for item in asked.vague},
            fix="ask the user which is meant",
        )

    def _outside(self, asked: Asked) -> CheckOutcome:
        if self.bundle is None:
            return CheckOutcome(name="bundle_tables_only", status="skip", detail="no bundle")
        if not asked.outside:
            return CheckOutcome(
                name="bundle_tables_only", status="pass", evidence={"tables": list(asked.tables)}
            )
        return CheckOutcome(
            name="bundle_tables_only",
            status="fail",
            detail=f"{', '.join(asked.outside)} is not in bundle {self.bundle.bundle_id!r}",
            evidence={"outside": list(asked.outside)},
            fix=f"keep to {', '.join(self.bundle.tables.values())}",
        )

    def _pii(self, asked: Asked) -> CheckOutcome:
        hidden = [item for item in asked.pii if not self.rights.may_read(item[0], item[1])]
        if not hidden:
            return CheckOutcome(name="pii_block", status="pass")
        table, column, words = hidden[0]
        masked = self.policy.pii_mode == "mask" and not self.request.has_run
        return CheckOutcome(
            name="pii_block",
            status="warn" if masked else "fail",
            detail=f"{words!r} asks for {column} of {table}, which is protected"
            + (" and will be masked" if masked else ""),
            evidence={"columns": [f"{item[0]}.{item[1]}" for item in hidden]},
            fix="" if masked else "leave it out, or ask for a count",
        )

    def _time(self, asked: Asked) -> CheckOutcome:
        name = "time_filter_required"
        facts = [
            table
            for table in asked.tables
            if self.bundle is not None and table in self.bundle.fact_tables
        ]
        if not self.policy.require_time_filter_for_fact_tables or not facts:
            return CheckOutcome(name=name, status="pass", detail="no table that needs one")
        window = asked.window
        if window is None:
            return CheckOutcome(
                name=name,
                status="fail",
                detail=f"{facts[0]} must be read with a time, and the question names none",
                evidence={"tables": facts},
                fix="ask the user for the period",
            )
        start, end = (day.isoformat() if day else "open" for day in (window.start, window.end))
        return CheckOutcome(
            name=name,
            status="pass",
            detail=f"{window.words!r} is {start} to {end}",
            evidence={"words": window.words, "start": start, "end": end},
        )


def _policy_there(project: Project) -> CheckOutcome:
    if project.policy is None:
        detail = "there is no policy file; the format's defaults hold, which protect no columns"
        return CheckOutcome(name="policy_valid", status="warn", detail=detail)
    return CheckOutcome(name="policy_valid", status="pass")


def _bundle_for(
    request: Request,
    project: Project,
    policy: Policy,
    rights: Rights,
    catalog: Catalog | None,
    checks: list[CheckOutcome],
) -> Bundle | None:
    """Find the bundle to judge in; notes why there is none."""
    allowed = {
        key: item
        for key, item in project.bundles.items()
        if rights.bundles is None or key in rights.bundles
    }
    if request.bundle is not None:
        named = allowed.get(request.bundle)
        if named is None:
            exists = request.bundle in project.bundles
            why = "is not for this role" if exists else "does not exist"
            detail = f"bundle {request.bundle!r} {why}"
            fix = f"use {', '.join(allowed) or 'none: there is no bundle'}"
            checks.append(CheckOutcome(name="bundle_exists", status="fail", detail=detail, fix=fix))
        return named
    if not allowed:
        refused = policy.require_bundle or bool(project.bundles)
        detail = "there is no bundle that this request may use"
        if refused:
            checks.append(CheckOutcome(name="bundle_exists", status="fail", detail=detail))
        return None
    if policy.allow_cross_bundle and len(allowed) > 1:
        return _union(list(allowed.values()))
    fitting = [item for item in allowed.values() if _fits(request, project, item, catalog)]
    if len(allowed) == 1 or fitting:
        return fitting[0] if fitting else next(iter(allowed.values()))
    if policy.require_bundle and request.sql is None and request.metric is None:
        checks.append(
            CheckOutcome(
                name="bundle_required",
                status="fail",
                detail="the question fits none of the bundles",
                fix=f"say which is meant: {', '.join(allowed)}",
            )
        )
        return None
    return next(iter(allowed.values()))


def _fits(request: Request, project: Project, bundle: Bundle, catalog: Catalog | None) -> bool:
    """Say whether everything that a request reads lies in a bundle."""
    schema = schema_of(project, bundle, catalog)
    database = project.database_of(bundle)
    if request.sql is not None:
        tables = tables_in(request.sql, database.dialect if database else "", schema)
        return bool(tables) and all(table in bundle.tables for table in tables)
    if request.metric is not None:
        if metric_faults(request.metric, project):
            return False
        return all(table in bundle.tables for table in metric_tables(request.metric, project))
    asked = read_question(request.question, project, bundle, datetime.date.max, catalog)
    return bool(asked.tables) and not asked.outside


def _union(bundles: list[Bundle]) -> Bundle:
    first = bundles[0]
    tables: dict[str, str] = {}
    times: dict[str, str] = {}
    for item in bundles:
        tables.update(item.tables)
        times.update(item.time_columns)
    limits = [item.max_rows for item in bundles if item.max_rows is not None]
    return replace(
        first,
        bundle_id="+".join(item.bundle_id for item in bundles),
        tables=tables,
        joins=tuple(join for item in bundles for join in item.joins),
        time_columns=times,
        fact_tables=tuple(table for item in bundles for table in item.fact_tables),
        max_rows=min(limits, default=None),
        level=max((item.level for item in bundles), key=LEVELS.index),
    )


def _tool(request: Request, policy: Policy, rights: Rights) -> CheckOutcome:
    allowed = {
        "execute_sql": policy.allow_sql and (rights.tools is None or "execute_sql" in rights.tools),
        "query_metrics": policy.allow_metrics
        and (rights.tools is None or "query_metrics" in rights.tools),
    }
    if request.sql is not None or request.metric is not None:
        tool = "execute_sql" if request.sql is not None else "query_metrics"
        is_allowed = allowed[tool]
    else:
        tool, is_allowed = "every tool", any(allowed.values())
    if is_allowed:
        return CheckOutcome(name="execution_allowed", status="pass")
    others = [name for name, ok in allowed.items() if ok]
    return CheckOutcome(
        name="execution_allowed",
        status="fail",
        detail=f"{tool} is switched off",
        fix=f"use {others[0]}" if others else "",
    )


def _level(request: Request, policy: Policy, bundle: Bundle | None) -> CheckOutcome:
    name = "certification_required"
    if bundle is None:
        return CheckOutcome(name=name, status="skip", detail="no bundle")
    required = (
        policy.require_level_for_metrics
        if request.metric is not None
        else policy.require_level_for_sql
    )
    if LEVELS.index(bundle.level) <= LEVELS.index(policy.prefer_level):
        return CheckOutcome(name=name, status="pass", detail=f"bundle is {bundle.level}")
    return CheckOutcome(
        name=name,
        status="fail" if required else "warn",
        detail=f"bundle {bundle.bundle_id!r} is {bundle.level}, below {policy.prefer_level}",
        fix="use a certified bundle" if required else "",
    )


def _metric_scope(outside: list[str]) -> CheckOutcome:
    name = "metric_table_in_bundle"
    if not outside:
        return CheckOutcome(name=name, status="pass")
    detail = f"the metric reads {', '.join(outside)}, which is not in the bundle"
    return CheckOutcome(name=name, status="fail", detail=detail, evidence={"outside": outside})


def _decision(checks: list[CheckOutcome], bundle: Bundle | None = None) -> Decision:
    failed = [check.name for check in checks if check.status == "fail"]
    outcome = ALLOW
    if failed:
        outcome = CLARIFY if all(name in CLARIFYING for name in failed) else BLOCK
    return Decision(
        outcome=outcome, checks=tuple(checks), bundle=bundle.bundle_id if bundle else ""
    )
