"""Bundles and policy against each other and the configuration."""

from __future__ import annotations

from collections.abc import Iterator

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean
from dbagenteval.project.folder.translate import listed, mapping, texts

__all__ = ["check_bundles", "check_policy", "check_spelling"]

_NOT_ENFORCED = (
    (("defaults", "max_preview_rows"), "previews are not requests that the engine sees"),
    (
        ("defaults", "time_filter_max_days_default"),
        "a period of any length passes, if it is bounded",
    ),
    (("execution", "require_contract"), "the engine decides every request by itself"),
)


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
        (name for name in (_entries(node.at("defaults", key))) if name.casefold() == table), table
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


def check_policy(project: Project) -> list[Problem]:
    """Check the policy against the bundles, and say which of its keys are not enforced."""
    policy = project.policy
    if policy is None or policy.node is None or policy.faults:
        return []
    problems, node = Problems("policies/policy.yml"), policy.node
    _check_pii(project, node, problems)
    _check_not_enforced(node, problems)
    _check_roles(project, policy, node, problems)
    _check_levels(project, policy, node, problems)
    has_bundle_file = any(project.root.glob("datasets/*/dataset.y*ml"))
    if policy.require_bundle and not has_bundle_file:
        problems.error(
            "no-bundle-to-require",
            node.line_of("execution", "require_bundle"),
            "require_bundle is on, but the project has no bundle: every request is refused",
        )
    if policy.pii_mode == "mask" and not any(policy.pii_columns.values()):
        problems.warn("nothing-to-mask", node.line_of("pii", "mode"), "no PII column is declared")
    return problems.found


def _check_pii(project: Project, node: Node, problems: Problems) -> None:
    scoped = {table for bundle in project.bundles.values() for table in bundle.tables}
    for table, columns in _entries(node.at("pii", "columns")).items():
        line = node.line_of("pii", "columns", table)
        if "." not in table:
            problems.error(
                "unqualified-table", line, f"pii.columns names {table!r}; write schema.table"
            )
        elif project.bundles and table.casefold() not in scoped:
            problems.warn("pii-outside-bundles", line, f"PII table {table} is in no bundle")
        if not columns.items:
            problems.warn("pii-no-columns", line, f"PII table {table} has no columns")


def _check_not_enforced(node: Node, problems: Problems) -> None:
    for path, why in _NOT_ENFORCED:
        written = node.at(*path)
        if written is not None and written.data() is not False:
            name = ".".join(path)
            problems.warn("not-enforced", node.line_of(*path), f"{name} is not enforced: {why}")


def _check_roles(project: Project, policy: Policy, node: Node, problems: Problems) -> None:
    for name, role in policy.roles.items():
        for index, bundle_id in enumerate(role.bundles or ()):
            if bundle_id not in project.bundles:
                problems.error(
                    "unknown-bundle",
                    node.line_of("roles", name, "bundles", index),
                    f"role {name!r} names the bundle {bundle_id!r}, which does not exist"
                    + did_you_mean(bundle_id, list(project.bundles)),
                )
        for table, columns in role.pii_columns.items():
            unknown = columns - policy.pii_columns.get(table, frozenset())
            if unknown:
                problems.warn(
                    "role-not-pii",
                    node.line_of("roles", name, "pii_columns"),
                    f"role {name!r} may read {', '.join(sorted(unknown))} of {table}, "
                    "which is no PII column",
                )


def _check_levels(project: Project, policy: Policy, node: Node, problems: Problems) -> None:
    for flag, key in (
        (policy.require_level_for_sql, "require_for_execute_sql"),
        (policy.require_level_for_metrics, "require_for_query_metrics"),
    ):
        if not flag:
            continue
        for bundle in project.bundles.values():
            if LEVELS.index(bundle.level) > LEVELS.index(policy.prefer_level):
                problems.warn(
                    "level-too-low",
                    node.line_of("certification", key),
                    f"bundle {bundle.bundle_id!r} is {bundle.level}, below {policy.prefer_level}: "
                    "each of its requests is refused",
                )


def check_spelling(project: Project) -> list[Problem]:
    """Note a table that is spelled with different capitals in two places."""
    first: dict[str, tuple[str, str]] = {}
    found: list[Problem] = []
    for name, file, line in _spellings(project):
        spelled, where = first.setdefault(name.casefold(), (name, f"{file}:{line}"))
        if spelled != name:
            problems = Problems(file)
            problems.warn("case-differs", line, f"{name} is spelled {spelled} at {where}")
            found += problems.found
    return found


def _spellings(project: Project) -> Iterator[tuple[str, str, int]]:
    for bundle in project.bundles.values():
        node = bundle.node
        if node is None:
            continue
        for index, item in enumerate(listed(mapping(node.data()).get("tables"))):
            table = mapping(item)
            name = f"{table.get('schema')}.{table.get('table')}"
            yield name, bundle.file, node.line_of("tables", index)
        for key in _entries(node.at("defaults", "time_column_by_table")):
            yield key, bundle.file, node.line_of("defaults", "time_column_by_table", key)
    policy = project.policy.node if project.policy is not None else None
    if policy is not None:
        for key in _entries(policy.at("pii", "columns")):
            yield key, "policies/policy.yml", policy.line_of("pii", "columns", key)
    semantics = project.nodes.get("semantics/semantic_model.yml")
    if semantics is not None:
        for model in project.models.values():
            line = semantics.line_of("models", model.name, "table")
            yield f"{model.schema}.{model.table}", "semantics/semantic_model.yml", line


def _entries(node: Node | None) -> dict[str, Node]:
    return (node.entries or {}) if node is not None else {}
