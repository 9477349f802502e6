"""Should this question be answered from the database at all?"""

from __future__ import annotations

from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import NOT_OBSERVED, one_line
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Stage, Trace

__all__ = ["check_sql_use"]


def check_sql_use(trace: Trace, case: Case) -> CheckResult:
    """Check that the agent used SQL, or none, as the case asks (`sql: required`, `sql: none`).

    Small talk and refusals have no rows to compare; `sql: none` is what makes them a test. With
    `sql: required` a refusal fails even where nothing else is expected.
    """
    used = [stage for stage in trace.stages if _holds_sql(stage)]
    if used:
        if case.sql == "required":
            return CheckResult("sql", used[-1].name, PASS, "the agent used SQL")
        detail = f"the case expects no SQL, got {one_line(repr(used[0].output or 'a result'))}"
        return CheckResult("sql", used[0].name, FAIL, detail, reason="unexpected_sql")
    hidden = [note for note in trace.meta.get("not_observed", ()) if _may_hide_sql(note)]
    if hidden:
        detail = f"{hidden[0].get('what')} {hidden[0].get('state')}: {hidden[0].get('why')}"
        return CheckResult("sql", "generate", SKIP, detail, reason=NOT_OBSERVED)
    if case.sql == "required":
        return CheckResult("sql", "generate", FAIL, "the agent used no SQL", reason="no_sql")
    return CheckResult("sql", "answer", PASS, "no SQL, as the case expects")


def _may_hide_sql(note: dict[str, Any]) -> bool:
    """Where even the question is hidden, or a step is, an absent SQL may have been there."""
    stage = str(note.get("stage") or "")
    return note.get("what") in ("question", "stage") or stage.startswith(("generate", "execute"))


def _holds_sql(stage: Stage) -> bool:
    if stage.kind == "generate":
        return isinstance(stage.output, str) and bool(stage.output.strip())
    return stage.kind == "execute"
