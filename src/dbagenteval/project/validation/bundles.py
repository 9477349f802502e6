"""Bundles against the configuration, the policy and the semantic models."""

from __future__ import annotations

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.plain import entries_of, listed, mapping, texts
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["check_bundles"]


def check_bundles(project: Project) -> list[Problem]:
    """Check each bundle: its database, tables, joins, dates and limits."""
    found: list[Problem] = []
    for bundle in project.bundles.values():
        if bundle.node is None:
            continue
        problems = Problems(bundle.file)
        _check_database(bundle, bundle.node, project, problems)
        _check_tables(bundle, bundle.node, problems)
        _check_joins(bundle, bundle.node, problems)
        _check_defaults(bundle, bundle.node, project.policy, problems)
        _check_time_models(bundle, bundle.node, project, problems)
        found += problems.found
    return found


def _check_database(bundle: Bundle, node: Node, project: Project, problems: Problems) -> None:
    names = [database.name for database in project.config.databases]
    line = node.line_of("warehouse", "database_id")
    if bundle.database_id and bundle.database_id not in names:
        known = f"; the configuration has {', '.join(names) or 'none'}"
        problems.error(
            "unknown-database",
            line,
            f"database_id {bundle.database_id!r} is no database of {project.config.file}"
            + (did_you_mean(bundle.database_id, names) or known),
        )
        return
    database = project.config.database(bundle.database_id)
    written = mapping(mapping(node.data()).get("warehouse")).get("type")
    if database is not None and isinstance(written, str) and written.casefold() != database.type:
        problems.error(
            "wrong-warehouse-type",
            node.line_of("warehouse", "type"),
            f"warehouse type {written!r}, but database {database.name!r} is {database.type}",
        )


def _check_tables(bundle: Bundle, node: Node, problems: Problems) -> None:
    if not bundle.tables:
        problems.warn("no-tables", node.line_of("tables"), "the bundle has no tables")
    seen: dict[str, int] = {}
    for index, item in enumerate(listed(mapping(node.data()).get("tables"))):
        data = mapping(item)
        key = f"{data.get('schema')}.{data.get('table')}".casefold()
        line = node.line_of("tables", index)
        if key in seen:
            problems.warn("duplicate-table", line, f"{key} is also at line {seen[key]}")
        seen.setdefault(key, line)


def _check_joins(bundle: Bundle, node: Node, problems: Problems) -> None:
    for index, item in enumerate(listed(mapping(node.data()).get("joins"))):
        for side in ("left", "right"):
            data = mapping(mapping(item).get(side))
            if not {"schema", "table", "column"} <= data.keys():
                continue
            name = f"{data['schema']}.{data['table']}"
            if name.casefold() not in bundle.tables:
                problems.error(
                    "join-outside-bundle",
                    node.line_of("joins", index, side),
                    f"the join's {side} side {name} is not a table of the bundle"
                    + did_you_mean(name, list(bundle.tables.values())),
                )


def _check_defaults(bundle: Bundle, node: Node, policy: Policy | None, problems: Problems) -> None:
    for table in bundle.time_columns:
        _require_table(bundle, node, "time_column_by_table", table, problems)
    for index, table in enumerate(
        texts(mapping(mapping(node.data()).get("defaults")).get("require_time_filter_for_tables"))
    ):
        line = node.line_of("defaults", "require_time_filter_for_tables", index)
        if table.casefold() not in bundle.tables:
            problems.error(
                "table-outside-bundle",
                line,
                f"require_time_filter_for_tables names {table}, which is not in the bundle"
                + did_you_mean(table, list(bundle.tables.values())),
            )
        elif table.casefold() not in bundle.time_columns:
            problems.error(
                "no-time-column",
                line,
                f"{table} must be read with a time filter, but time_column_by_table has no "
                "column for it",
            )
    if bundle.today and bundle.data_start and bundle.data_start > bundle.today:
        problems.error(
            "dates-reversed",
            node.line_of("defaults", "data_start_date"),
            f"data_start_date {bundle.data_start} is after demo_current_date {bundle.today}",
        )
    if policy and bundle.max_rows and not policy.faults and bundle.max_rows > policy.max_rows:
        problems.warn(
            "limit-not-reached",
            node.line_of("defaults", "max_rows"),
            f"max_rows {bundle.max_rows} is above the policy's {policy.max_rows}, which wins",
        )


def _require_table(bundle: Bundle, node: Node, key: str, table: str, problems: Problems) -> None:
    if table in bundle.tables:
        return
    written = next(
        (name for name in (entries_of(node.at("defaults", key))) if name.casefold() == table), table
    )
    problems.error(
        "table-outside-bundle",
        node.line_of("defaults", key, written),
        f"{key} names {written}, which is not in the bundle"
        + did_you_mean(written, list(bundle.tables.values())),
    )


def _check_time_models(bundle: Bundle, node: Node, project: Project, problems: Problems) -> None:
    for model in project.models.values():
        column = bundle.time_columns.get(model.key)
        if column is None or not model.time_dimension:
            continue
        own = model.dimensions.get(model.time_dimension, model.time_dimension)
        if own.casefold() != column.casefold():
            problems.warn(
                "time-column-differs",
                node.line_of("defaults", "time_column_by_table", bundle.tables.get(model.key, "")),
                f"the time column of {model.key} is {column!r} here and {own!r} in model "
                f"{model.name!r}",
            )
