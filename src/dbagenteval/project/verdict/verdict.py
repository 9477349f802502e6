"""From an agent's reply and a reference to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import NumbersGrounded
from dbagenteval.evaluation import evaluate
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.verdict.comparison import AnswerComparison, compare_answer
from dbagenteval.project.verdict.extraction import extract_rows
from dbagenteval.project.verdict.outcomes import outcome_of
from dbagenteval.project.verdict.references import Reference
from dbagenteval.traces import Trace

__all__ = ["AnswerVerdict", "judge_answer"]

PASS, FAIL = "pass", "fail"
_OUTCOME_WORDS = {
    "answer": "answered",
    "refuse": "refused",
    "clarify": "asked back",
    "unavailable": "said the data is not there",
    "none": "gave no answer",
}
_VERDICT_OF = {
    "refuse": "refused",
    "clarify": "clarified",
    "unavailable": "unavailable",
    "none": "no_answer",
}

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVerdict:
    """What became of one attempt, by its answer.

    Args:
        verdict: `pass`, `fail`, `no_answer`, `refused`, `clarified`, `unavailable` or
            `not_verified`.
        message: One phrase for the table.
        reason: Stable code, empty for a pass.
        detail: The difference in one line.
        actual: The rows that were compared, or None.
        actual_from: Where they were seen; `extraction` if a model read them.
        notes: What a pass rests on.
        evidence: JSON-ready facts on the difference.
    """

    verdict: str
    message: str
    reason: str = ""
    detail: str = ""
    actual: Rows | None = None
    actual_from: str = ""
    notes: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


def judge_answer(
    test: AnswerTest,
    prompt: str,
    reply: AgentReply,
    reference: Reference,
    *,
    mode: str = "exact",
    tolerance: Mapping[str, float] | None = None,
    extract: Callable[[str], str] | None = None,
) -> AnswerVerdict:
    """Judge one reply.

    Args:
        test: The test.
        prompt: The question that the reply is to (the last turn's).
        reply: The reply.
        reference: What the test's reference gave.
        mode: The run's comparison: `exact` or `dazense`; the test's own goes before it.
        tolerance: The run's tolerance, or None; the test's own goes before it.
        extract: A model that reads rows out of text, or None.
    """
    outcome = outcome_of(reply)
    if "answer" not in test.expect or (outcome in test.expect and outcome != "answer"):
        return _expected_outcome(test.expect, outcome, reply)
    if outcome != "answer" and not (reply.rows and not reply.outcome):
        return AnswerVerdict(
            verdict=_VERDICT_OF[outcome],
            message=f"agent {_OUTCOME_WORDS[outcome]}",
            reason=_VERDICT_OF[outcome],
            detail=reply.text[:200],
            actual=reply.rows,
        )
    if not reference.rows:
        return AnswerVerdict(verdict=PASS, message="answered", actual=reply.rows)
    rows, came_from = reply.rows, reply.rows_from
    if rows is None:
        by_text = _by_text(prompt, reply, reference)
        if by_text is not None:
            return by_text
        if extract is None:
            return AnswerVerdict(
                verdict="not_verified",
                message="not verified",
                reason="rows_not_seen",
                detail="the agent's rows can't be seen; return them, or name an extracting model "
                "with --extract",
            )
        extracted = extract_rows(
            prompt, reply, list(reference.rows[0][0]) if reference.rows[0] else [], extract
        )
        if extracted.rows is None:
            return AnswerVerdict(
                verdict="no_answer",
                message="no answer found",
                reason="no_rows_extracted",
                detail=extracted.problem,
            )
        rows, came_from = extracted.rows, "extraction"
    return _compared(test, prompt, reply, reference, rows, came_from, mode, tolerance)


def _expected_outcome(expected: tuple[str, ...], outcome: str, reply: AgentReply) -> AnswerVerdict:
    shown = bool(reply.rows)
    if outcome in expected and not shown:
        return AnswerVerdict(verdict=PASS, message=f"agent {_OUTCOME_WORDS[outcome]}")
    what = "gave rows" if shown else _OUTCOME_WORDS[outcome]
    return AnswerVerdict(
        verdict=FAIL,
        message=f"agent {what}, expected: {' or '.join(expected)}",
        reason="wrong_outcome",
        detail=reply.text[:200],
        actual=reply.rows,
    )


def _by_text(prompt: str, reply: AgentReply, reference: Reference) -> AnswerVerdict | None:
    """Judge a single number by the text; None if the reference is more than that."""
    for rows in reference.rows:
        if len(rows) != 1 or len(rows[0]) != 1:
            return None
    failed = ""
    for rows in reference.rows:
        case = Case(question=prompt, reference_sql="SELECT 1")
        trace = Trace.simple(prompt, answer=reply.text)
        card = evaluate(trace, case, execute=_giving(rows))
        check = next((item for item in card.results if item.check == "reference_numbers"), None)
        if check is None or check.status == "skip":
            return None
        if check.status == "pass":
            note = "the number stands in the text; the agent's rows were not seen"
            return AnswerVerdict(verdict=PASS, message="match (text)", notes=(note,))
        failed = failed or check.detail
    return AnswerVerdict(verdict=FAIL, message="values differ", reason="answer_text", detail=failed)


def _giving(rows: Rows) -> Callable[[str], Rows]:
    return lambda _sql: rows


def _compared(
    test: AnswerTest,
    prompt: str,
    reply: AgentReply,
    reference: Reference,
    rows: Rows,
    came_from: str,
    mode: str,
    tolerance: Mapping[str, float] | None,
) -> AnswerVerdict:
    ordered = reference.is_ordered if test.ordered is None else test.ordered
    found: AnswerComparison | None = None
    for expected in reference.rows:
        this = compare_answer(
            expected,
            rows,
            ordered=ordered,
            order_columns=reference.order_columns,
            tolerance=test.tolerance or tolerance,
            extra_columns=test.extra_columns,
            empty_for_null=test.empty_for_null,
            mode=test.comparison or mode,
        )
        found = found if found is not None and not this.equal else this
        if this.equal:
            break
    assert found is not None  # noqa: S101 a reference has at least one query here
    if not found.equal:
        return AnswerVerdict(
            verdict=FAIL,
            message=found.message,
            reason=found.reason,
            detail=found.detail,
            actual=rows,
            actual_from=came_from,
            notes=found.notes,
            evidence=found.evidence,
        )
    wrong = _wrong_text(prompt, reply, rows)
    if wrong:
        return AnswerVerdict(
            verdict=FAIL,
            message="text differs from the rows",
            reason="answer_text",
            detail=f"the rows are right, but the text is not: {wrong}",
            actual=rows,
            actual_from=came_from,
            notes=found.notes,
        )
    notes = found.notes
    if came_from == "extraction":
        notes = (*notes, "a model read the rows out of the agent's text")
    elif came_from == "verification":
        notes = (*notes, "the agent's server gave these rows as its reading of the answer")
    elif not reply.sqls:
        notes = (*notes, "no SQL was seen that gave these rows")
    return AnswerVerdict(
        verdict=PASS, message=found.message, actual=rows, actual_from=came_from, notes=notes
    )


def _wrong_text(prompt: str, reply: AgentReply, rows: Rows) -> str:
    """Say which number of the text stands in none of the agent's rows."""
    if not reply.text.strip():
        return ""
    trace = Trace.simple(prompt, answer=reply.text, rows=rows)
    result = NumbersGrounded().run(trace, Case(question=prompt))
    return result.detail if result.status == FAIL else ""
