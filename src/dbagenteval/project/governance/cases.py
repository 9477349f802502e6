"""Governance cases: what the project says of a question, against what the case expects.

The decision is made from the question (or the case's SQL) and the project alone; the expectation
is only compared with it afterwards.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from dbagenteval.errors import UserError
from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import GovernanceCase, Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.governance.faults import case_faults
from dbagenteval.project.policy import decide
from dbagenteval.project.policy.compilation import Compiler, compiler_of
from dbagenteval.project.policy.metricsql import metric_sql
from dbagenteval.project.policy.request import Decision, MetricQuery, Request

__all__ = ["CaseResult", "evaluate_case"]

PASS, FAIL, ERROR = "PASS", "FAIL", "ERROR"

Executors = Callable[[str], Callable[[str], list[dict[str, Any]]]]
"""Gives the executor of the database of that name; raises UserError if it can't be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What became of a case.

    Args:
        case: The case.
        verdict: `PASS`, `FAIL`, or `ERROR` where the expectation can't be decided.
        detail: Why, in one line; what a pass rests on.
        decision: What the engine decided; None if it was not asked.
        value: The measure's value, if one was computed.
        request: What the engine was asked.
    """

    case: GovernanceCase
    verdict: str
    detail: str
    decision: Decision | None = None
    value: Any = None
    request: Request | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "id": self.case.id,
            "bundle": self.case.bundle_id,
            "category": self.case.category,
            "prompt": self.case.prompt,
            "file": self.case.file,
            "line": self.case.line,
            "verdict": self.verdict,
            "detail": self.detail,
            "expected": dict(self.case.expected),
            "value": self.value,
            "decision": self.decision.to_dict() if self.decision else None,
        }


def evaluate_case(
    case: GovernanceCase,
    project: Project,
    *,
    catalog: Catalog | None = None,
    executors: Executors | None = None,
    today: datetime.date | None = None,
) -> CaseResult:
    """Decide one case.

    Args:
        case: The case.
        project: Its project.
        catalog: The real schema, or None.
        executors: Opens databases, for cases that expect a measure's value; None makes those an
            ERROR.
        today: The date of all cases that fix none themselves.
    """
    faults = case_faults(case, project)
    if faults:
        return CaseResult(case=case, verdict=ERROR, detail="; ".join(text for _, text in faults))
    request = Request(
        question=case.prompt,
        sql=case.sql,
        bundle=case.bundle_id,
        roles=case.roles,
        today=case.today or today,
    )
    try:
        compiler = _compiler(project, case, executors)
        decision = decide(request, project, catalog, compiler)
    except UserError as error:  # the database to compile on can't be opened
        return CaseResult(case=case, verdict=ERROR, detail=str(error))
    compiles = decision.check("sql_compiles")
    if compiles is not None and compiles.evidence.get("unverified"):
        return CaseResult(case=case, verdict=ERROR, detail=compiles.detail, decision=decision)
    problems = _differences(case.expected, decision)
    value, verdict = None, PASS if not problems else FAIL
    if not problems and case.expected.get("measure") and decision.outcome == "allow":
        try:
            value, problem = _measure(case, project, decision, executors)
        except UserError as error:
            verdict, problem = ERROR, str(error)
        except Exception as error:  # noqa: BLE001 a driver's error is the finding
            verdict, problem = ERROR, f"the measure can't be computed: {error}"
        else:
            verdict = FAIL if problem else PASS
        problems = [problem] if problem else []
    return CaseResult(
        case=case,
        verdict=verdict,
        detail="; ".join(problems) or _rests_on(decision, value),
        decision=decision,
        value=value,
        request=request,
    )


def _compiler(
    project: Project, case: GovernanceCase, executors: Executors | None
) -> Compiler | None:
    """Give what compiles SQL on the case's database, if the policy asks it."""
    database = project.database_of(project.bundles[case.bundle_id])
    if project.policy is None or not project.policy.must_compile:
        return None
    if executors is None or database is None:
        return None
    return compiler_of(executors(database.name), database.dialect)


def _differences(expected: Mapping[str, Any], decision: Decision) -> list[str]:
    problems: list[str] = []
    outcome = expected.get("outcome", "allow")
    if decision.outcome != outcome:
        why = f" ({decision.reason})" if decision.reason else ""
        problems.append(f"expected {outcome}, decided {decision.outcome}{why}")
    failed = {check.name for check in decision.failed}
    problems += [
        f"expected {name} to fail, it {_status(decision, name)}"
        for name in texts(expected.get("check_failed"))
        if name not in failed
    ]
    for name in texts(expected.get("check_passed")):
        check = decision.check(name)
        if check is None or check.status != "pass":
            problems.append(f"expected {name} to pass, it {_status(decision, name)}")
    missing = [
        name for name in texts(expected.get("guidance_rules_include")) if name not in decision.rules
    ]
    if missing:
        matched = ", ".join(decision.rules) or "none"
        problems.append(
            f"rule {missing[0]!r} is not about this question; those that are: {matched}"
        )
    if outcome == "allow" and expected.get("tool") and decision.outcome == "allow":
        problems += _tool(expected["tool"], decision)
    return problems


def _tool(tool: str, decision: Decision) -> list[str]:
    check = decision.check("execution_allowed")
    if check is not None and check.status == "fail":
        return [f"expected the tool {tool}, but {check.detail}"]
    return []


def _status(decision: Decision, name: str) -> str:
    check = decision.check(name)
    if check is None:
        return "was not made"
    words = {"pass": "passed", "warn": "only warned", "skip": "was skipped", "fail": "failed"}
    return words[check.status] + (f" ({check.detail})" if check.detail else "")


def _measure(
    case: GovernanceCase,
    project: Project,
    decision: Decision,
    executors: Executors | None,
) -> tuple[Any, str]:
    """Compute the case's measure in the time that its question names, and compare it."""
    expected = case.expected
    bundle = project.bundles[case.bundle_id]
    database = project.database_of(bundle)
    if executors is None or database is None:
        raise UserError(f"no database to compute {expected['model_name']}.{expected['measure']}")
    model = project.models[expected["model_name"]]
    timed = model.time_dimension is not None
    query = MetricQuery(
        model=model.name,
        measures=(expected["measure"],),
        start=decision.start if timed else None,
        end=decision.end if timed else None,
    )
    allowed = decide(
        Request(question=case.prompt, metric=query, bundle=case.bundle_id, roles=case.roles),
        project,
        compiler=_compiler(project, case, executors),
    )
    if allowed.outcome != "allow":
        return None, f"the measure may not be computed: {allowed.reason}"
    rows = executors(database.name)(metric_sql(query, project, database.dialect))
    value = next(iter(rows[0].values())) if rows else None
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    return value, _value_problem(value, expected)


def _value_problem(value: Any, expected: Mapping[str, Any]) -> str:
    name = f"{expected['model_name']}.{expected['measure']}"
    if "result_range" not in expected and "result" not in expected:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"{name} is {value!r}, which is no number"
    if "result_range" in expected:
        low, high = expected["result_range"]
        if not low <= value <= high:
            return f"{name} is {value}, outside {low} to {high}"
    if "result" in expected:
        most = expected.get("tolerance", 0)
        if abs(value - expected["result"]) > most:
            return f"{name} is {value}, expected {expected['result']}" + (
                f" within {most}" if most else ""
            )
    return ""


def _rests_on(decision: Decision, value: Any) -> str:
    if value is not None:
        window = " to ".join(
            day.isoformat() if day else "open" for day in (decision.start, decision.end)
        )
        return f"{decision.outcome}; value {value}" + (f" for {window}" if decision.start else "")
    return decision.reason or decision.outcome
