"""Captured answers against the policy: which of them ran SQL that it does not allow."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Project
from dbagenteval.project.policy import decide
from dbagenteval.project.policy.request import Decision, Request
from dbagenteval.traces import Trace

__all__ = ["CapturedResult", "judge_trace"]

KEPT, BROKE, UNKNOWN = "KEPT", "BROKE", "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedResult:
    """What the policy says of one captured answer.

    Args:
        trace_id: The OTel trace it was captured in, or empty.
        question: What was asked.
        verdict: `KEPT`, `BROKE` (a statement it ran is not allowed) or `UNKNOWN` (it ran
            statements whose SQL was not seen, or answered without any).
        detail: One line.
        decisions: Each request with what was decided, in the order in which they ran.
    """

    trace_id: str
    question: str
    verdict: str
    detail: str
    decisions: tuple[tuple[Request, Decision], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "trace_id": self.trace_id,
            "question": self.question,
            "verdict": self.verdict,
            "detail": self.detail,
            "statements": [
                {"sql": request.sql, **decision.to_dict()} for request, decision in self.decisions
            ],
        }


def judge_trace(
    trace: Trace,
    project: Project,
    *,
    catalog: Catalog | None = None,
    roles: tuple[str, ...] = (),
    today: datetime.date | None = None,
) -> CapturedResult:
    """Judge every statement that an agent ran for one answer.

    Args:
        trace: The captured answer.
        project: Whose policy decides.
        catalog: The real schema, or None.
        roles: The roles that all captured actors are taken to have.
        today: The current date; None takes that of the bundle, else the clock.
    """
    decisions: list[tuple[Request, Decision]] = []
    unseen = 0
    statements = [stage for stage in trace.stages if stage.kind == "generate"]
    for stage in statements:
        if not isinstance(stage.output, str) or stage.observed("output").state != "present":
            unseen += 1
            continue
        request = Request(
            question=trace.question,
            sql=stage.output,
            actor=str(trace.meta.get("session_id") or ""),
            roles=roles,
            today=today,
            has_run=True,
        )
        decisions.append((request, decide(request, project, catalog)))
    executed = sum(stage.kind == "execute" for stage in trace.stages)
    broken = [decision for _, decision in decisions if decision.outcome != "allow"]
    if broken:
        verdict, detail = BROKE, broken[0].reason
    elif unseen or executed > len(statements):
        verdict, detail = UNKNOWN, "a statement ran whose SQL was not seen"
    elif not decisions:
        verdict, detail = UNKNOWN, "no SQL was seen"
    else:
        verdict, detail = KEPT, f"{len(decisions)} statement(s) allowed"
    return CapturedResult(
        trace_id=trace.trace_id,
        question=trace.question,
        verdict=verdict,
        detail=detail,
        decisions=tuple(decisions),
    )
