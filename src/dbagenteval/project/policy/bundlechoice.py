"""The bundle that a request is judged in."""

from __future__ import annotations

import datetime
from dataclasses import replace

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.project.policy.metricsql import metric_faults, metric_tables
from dbagenteval.project.policy.question import read_question
from dbagenteval.project.policy.request import (
    CheckOutcome,
    Request,
)
from dbagenteval.project.policy.rights import Rights
from dbagenteval.project.policy.sqlchecks import tables_in

__all__ = ["bundle_for"]


def bundle_for(
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
