"""Should this question be answered from the database at all?"""

from __future__ import annotations

from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import NOT_OBSERVED, one_line, why_hidden
from dbagenteval.checks.numbers import ungrounded_numbers
from dbagenteval.checks.sql_text import looks_like_statement, reads_a_source
from dbagenteval.scorecard import FAIL, PASS, SKIP, UNVERIFIED, CheckResult
from dbagenteval.traces import Stage, Trace

__all__ = ["check_sql_use"]


def check_sql_use(trace: Trace, case: Case) -> CheckResult:
    """Check that the agent used SQL, or none, as the case asks (`sql: required`, `sql: none`).

    Small talk and refusals have no rows to compare; `sql: none` is what makes them a test: there
    must be an answer, and it must not state figures, which nothing could verify, unless the case
    says what the answer is. With `sql: required` a refusal fails even where nothing else is
    expected; what counts is an execution, or a text that looks like a statement.
    """
    used = [stage for stage in trace.stages if _holds_sql(stage, strictly=case.sql == "required")]
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
    return _check_plain_answer(trace, case)


def _check_plain_answer(trace: Trace, case: Case) -> CheckResult:
    stage = trace.last_of("answer")
    name = stage.name if stage is not None else "answer"
    hidden = why_hidden(trace, stage, "output", "answer")
    if hidden:
        return CheckResult("sql", name, SKIP, hidden, reason=NOT_OBSERVED)
    output = None if stage is None else stage.output
    text = "" if output is None else str(output)
    if not text.strip():
        return CheckResult("sql", name, FAIL, "the agent gave no answer", reason="no_answer")
    figures = [] if name in case.expect else ungrounded_numbers(text, case.question, [])
    if figures:
        detail = f"no SQL, but the answer states figures that nothing grounds: {figures}"
        return CheckResult("sql", name, SKIP, one_line(detail), reason=UNVERIFIED)
    return CheckResult("sql", name, PASS, "no SQL, as the case expects")


def _may_hide_sql(note: dict[str, Any]) -> bool:
    """Where even the question is hidden, or a step is, an absent SQL may have been there."""
    stage = str(note.get("stage") or "")
    return note.get("what") in ("question", "stage") or stage.startswith(("generate", "execute"))


def _holds_sql(stage: Stage, *, strictly: bool) -> bool:
    if stage.kind != "generate":
        return stage.kind == "execute"
    if not isinstance(stage.output, str) or not stage.output.strip():
        return False
    # An agent may note in words that it wrote none.
    return looks_like_statement(stage.output) or (not strictly and reads_a_source(stage.output))
