"""The policy against the bundles, and its keys that are not enforced."""

from __future__ import annotations

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import Policy, Project
from dbagenteval.project.folder.plain import entries_of
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["check_policy"]

_NOT_ENFORCED = (
    (("defaults", "max_preview_rows"), "previews are not requests that the engine sees"),
    (
        ("defaults", "time_filter_max_days_default"),
        "a period of any length passes, if it is bounded",
    ),
    (("execution", "require_contract"), "the engine decides every request by itself"),
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
    for table, columns in entries_of(node.at("pii", "columns")).items():
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
