"""Decide a request by the policy, its bundle and the checks."""

from __future__ import annotations

import datetime
from dataclasses import replace

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.project.policy.bundlechoice import bundle_for
from dbagenteval.project.policy.compilation import Compiler
from dbagenteval.project.policy.metricsql import metric_faults, metric_sql, metric_tables
from dbagenteval.project.policy.question import read_question
from dbagenteval.project.policy.questionchecks import question_checks
from dbagenteval.project.policy.request import (
    ALLOW,
    BLOCK,
    CLARIFY,
    CLARIFYING,
    CheckOutcome,
    Decision,
    MetricQuery,
    Request,
)
from dbagenteval.project.policy.rights import Rights, rights_of
from dbagenteval.project.policy.sqlchecks import judge_sql
from dbagenteval.rules.lineage.facts import Schema

__all__ = ["decide"]


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
    bundle = bundle_for(request, project, policy, rights, catalog, checks)
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
        judged = question_checks(
            asked,
            self.project,
            bundle=self.bundle,
            policy=self.policy,
            rights=self.rights,
            has_run=self.request.has_run,
        )
        decision = _decision([*checks, *judged], self.bundle)
        window = asked.window
        return replace(
            decision,
            rules=asked.rules,
            tables=asked.tables,
            start=window.start if window else None,
            end=window.end if window else None,
        )


def _policy_there(project: Project) -> CheckOutcome:
    if project.policy is None:
        detail = "there is no policy file; the format's defaults hold, which protect no columns"
        return CheckOutcome(name="policy_valid", status="warn", detail=detail)
    return CheckOutcome(name="policy_valid", status="pass")


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
