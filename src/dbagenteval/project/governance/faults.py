"""What keeps a governance case from being decided: found before anything is."""

from __future__ import annotations

from dbagenteval.project.folder.model import GovernanceCase, Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean
from dbagenteval.project.policy.request import CLARIFYING

__all__ = ["CHECK_NAMES", "case_faults", "check_cases"]

CHECK_NAMES = (
    "policy_valid",
    "role_known",
    "bundle_required",
    "bundle_exists",
    "ambiguity_check",
    "statement_allowed",
    "sql_understood",
    "sql_compiles",
    "function_allowed",
    "bundle_tables_only",
    "bundle_join_allowlist",
    "pii_block",
    "pii_block_star",
    "time_filter_required",
    "limit_check",
    "metric_exists",
    "metric_table_in_bundle",
    "execution_allowed",
    "certification_required",
)
"""Every check of the policy engine."""


def check_cases(project: Project) -> list[Problem]:
    """Check each governance case: names that exist, and an expectation that can hold."""
    found: list[Problem] = []
    for bundle in project.bundles.values():
        problems = Problems(bundle.file)
        seen: dict[str, int] = {}
        for case in bundle.cases:
            if case.id in seen:
                problems.error(
                    "duplicate-case", case.line, f"case {case.id!r} is also at line {seen[case.id]}"
                )
            seen.setdefault(case.id, case.line)
            for rule, message in case_faults(case, project):
                problems.error(rule, case.line, f"case {case.id!r}: {message}")
        found += problems.found
    return found


def case_faults(case: GovernanceCase, project: Project) -> list[tuple[str, str]]:
    """Give rule and message of everything that keeps a case's expectation from being decided."""
    expected = case.expected
    faults: list[tuple[str, str]] = []
    failed = texts(expected.get("check_failed"))
    for name in (*failed, *texts(expected.get("check_passed"))):
        if name not in CHECK_NAMES:
            near = did_you_mean(name, list(CHECK_NAMES)) or f"; known: {', '.join(CHECK_NAMES)}"
            faults.append(("unknown-check", f"there is no check {name!r}{near}"))
    outcome = expected.get("outcome", "allow")
    if failed and outcome == "allow":
        faults.append(
            ("contradicts-itself", f"expects allow although {failed[0]} fails; one can't be")
        )
    if failed and outcome == "block" and all(name in CLARIFYING for name in failed):
        faults.append(("contradicts-itself", f"{failed[0]} asks for clarification, never blocks"))
    if outcome == "needs_clarification" and any(
        name in CHECK_NAMES and name not in CLARIFYING for name in failed
    ):
        faults.append(("contradicts-itself", f"{failed[0]} blocks, it does not ask"))
    if "ambiguity_check" in failed and project.terms is None:
        faults.append(
            (
                "nothing-decides",
                "no semantics/glossary.yml says which words are ambiguous, so that nothing can "
                "decide ambiguity_check",
            )
        )
    faults += _metric_faults(case, project)
    for name in texts(expected.get("guidance_rules_include")):
        if name not in project.rules:
            faults.append(
                (
                    "unknown-rule",
                    f"there is no business rule {name!r}" + did_you_mean(name, list(project.rules)),
                )
            )
    if project.policy and project.policy.roles:
        faults += [
            (
                "unknown-role",
                f"there is no role {role!r}" + did_you_mean(role, list(project.policy.roles)),
            )
            for role in case.roles
            if role not in project.policy.roles
        ]
    return faults


def _metric_faults(case: GovernanceCase, project: Project) -> list[tuple[str, str]]:
    expected, faults = case.expected, []
    model_name, measure = expected.get("model_name"), expected.get("measure")
    wants_value = "result_range" in expected or "result" in expected
    if wants_value and not (model_name and measure):
        faults.append(("incomplete", "a result needs both model_name and measure"))
    if bool(model_name) != bool(measure) and not wants_value:
        faults.append(("incomplete", "model_name and measure belong together"))
    model = project.models.get(model_name) if model_name else None
    if model_name and model is None:
        near = did_you_mean(model_name, list(project.models))
        faults.append(("unknown-model", f"there is no semantic model {model_name!r}{near}"))
    elif model is not None and measure and measure not in model.measures:
        near = did_you_mean(measure, list(model.measures))
        faults.append(("unknown-measure", f"model {model_name!r} has no measure {measure!r}{near}"))
    limits = expected.get("result_range")
    if isinstance(limits, list) and (len(limits) != 2 or limits[0] > limits[1]):
        faults.append(("bad-range", f"result_range must be [lowest, highest], not {limits}"))
    policy = project.policy
    tool = expected.get("tool")
    if policy and expected.get("outcome", "allow") == "allow":
        if tool == "query_metrics" and not policy.allow_metrics:
            faults.append(("contradicts-policy", "the policy does not allow query_metrics"))
        if tool == "execute_sql" and not policy.allow_sql:
            faults.append(("contradicts-policy", "the policy does not allow execute_sql"))
    return faults
