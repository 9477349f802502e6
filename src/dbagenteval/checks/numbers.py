"""NumbersGrounded: every number of the answer stands in the result rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dbagenteval.answers import OPERATIONS, SOURCES
from dbagenteval.cases import Case
from dbagenteval.checks.answer_evidence import Evidence, answer_stage, rows_evidence
from dbagenteval.checks.check import Check
from dbagenteval.checks.evidence import NOT_OBSERVED, last_result, why_hidden
from dbagenteval.scorecard import FAIL, PASS, SKIP, UNVERIFIED, CheckResult
from dbagenteval.traces import Rows, Trace

__all__ = ["NumbersGrounded", "reference_numbers", "states_value", "ungrounded_numbers"]

_EXECUTIONS = ("all", "last")
_MOST_SHOWN = 100
_SHORTEST_QUESTION = 8


class NumbersGrounded(Check):
    """Passes when every number in the answer text is also in the result rows.

    Dates, times, codes, list numbers and the like count nothing, unless the rows hold some
    that they contradict. The detail of a pass says what it does not vouch for.

    Args:
        stage: Name of the answer stage; None means the last stage of kind `answer`.
        derived: True accepts figures that are computed from the rows, and says how: `30 = 60 -
            30`. A list of names from `OPERATIONS` accepts only those computations.
        pairing: True fails a number that stands at one name in the answer and at another in
            the rows, and a name that is called the highest and is not.
        signs: True fails `-500` for a cell 500. By default the sign is not compared.
        sources: What may ground a number; see `dbagenteval.answers.SOURCES`.
        executions: `all` takes the rows of every successful execution, `last` of the last.
        rounding: Largest relative distance between a printed figure and the cell it rounds, such
            as 0.05; None allows what its digits allow, so that 1 million stands for 1,490,000.
        locale: How the answer writes numbers, such as `de`; None reads ambiguous figures in
            the ways that the answer's language allows.

    Raises:
        ValueError: An option has an unknown value.
    """

    name = "numbers_grounded"

    def __init__(
        self,
        stage: str | None = None,
        *,
        derived: bool | Collection[str] = False,
        pairing: bool = False,
        signs: bool = False,
        sources: Sequence[str] = SOURCES,
        executions: str = "all",
        rounding: float | None = None,
        locale: str | None = None,
    ) -> None:
        operations = OPERATIONS if derived is True else tuple(derived or ())
        self.operations = (derived,) if isinstance(derived, str) else operations
        sources = (sources,) if isinstance(sources, str) else tuple(sources)
        _check_names("derived", self.operations, OPERATIONS)
        _check_names("sources", sources, SOURCES)
        _check_names("executions", (executions,), _EXECUTIONS)
        if locale is not None:
            _check_locale(locale)
        self.stage = stage
        self.pairing = pairing
        self.signs = signs
        self.sources = sources
        self.executions = executions
        self.rounding = rounding
        self.locale = locale

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Look for each number of the answer in the rows; SKIP without an answer or rows."""
        answer = answer_stage(trace, self.stage)
        if answer.status:
            return self.result(answer.stage, answer.status, answer.detail, reason=answer.reason)
        seen = rows_evidence(trace, last_only=self.executions == "last")
        if seen.hidden_last:
            reason = _reason_of_skip(trace, answer.text, case.question)
            return self.result(answer.stage, SKIP, seen.hidden_last, reason=reason)
        return self._judge(_asked(trace, case), answer.stage, answer.text, seen)

    def _judge(self, question: str, stage: str, answer: str, seen: Evidence) -> CheckResult:
        from dbagenteval.answers.grounding import Grounds  # noqa: PLC0415 - keeps import light
        from dbagenteval.answers.verdicts import joined, numbers_verdict  # noqa: PLC0415

        grounds = Grounds(
            results=seen.results,
            question=question,
            sql=seen.sql,
            sources=self.sources,
            signs=self.signs,
            rounding=self.rounding,
        )
        found = numbers_verdict(
            answer,
            grounds,
            operations=self.operations,
            pairing=self.pairing,
            locale=self.locale,
        )
        evidence = {"figures": [fate.to_dict() for fate in found.fates[:_MOST_SHOWN]]}
        if found.missing and seen.hidden_earlier:
            detail = f"{found.missing} may be in rows that were not seen; {seen.hidden_earlier}"
            return self.result(stage, SKIP, detail, reason=NOT_OBSERVED, evidence=evidence)
        if found.missing:
            told = [f"not in the result rows: {found.missing}", *found.hints, *found.notes]
            detail, reason = joined(told), "ungrounded_numbers"
            return self.result(stage, FAIL, detail, reason=reason, evidence=evidence)
        if found.misplaced and self.pairing:
            detail, reason = joined(found.misplaced), "misplaced_numbers"
            return self.result(stage, FAIL, detail, reason=reason, evidence=evidence)
        warnings = [f"{one} (pairing=True fails this)" for one in found.misplaced]
        return self.result(stage, PASS, joined([*warnings, *found.notes]), evidence=evidence)


def _reason_of_skip(trace: Trace, answer: str, question: str) -> str:
    """Tell rows that were hidden from us, and figures that nothing was queried for, apart."""
    if why_hidden(trace, last_result(trace), "rows", "execute"):
        return NOT_OBSERVED
    return UNVERIFIED if ungrounded_numbers(answer, question, []) else ""


def ungrounded_numbers(answer: str, question: str, rows: Rows) -> list[str]:
    """List the numbers of the answer that neither the rows, their count nor the question have."""
    from dbagenteval.answers.verdicts import ungrounded  # noqa: PLC0415 - keeps import light

    return ungrounded(answer, question, rows)


def states_value(answer: str, value: object) -> bool:
    """Say whether the answer states a cell's value.

    A number counts as the answer rounds it, and not if `not` stands before it; a date in any
    spelling; a boolean as true, yes, false or no; a text as whole words, short ones such as IN
    only in their own capitals.
    """
    from dbagenteval.answers import stated  # noqa: PLC0415 - keeps import light

    return stated.states_value(answer, value)


def reference_numbers(answer: str, question: str, rows: Rows) -> tuple[str, str]:
    """Compare an answer text with the reference result.

    Args:
        answer: The answer.
        question: The question.
        rows: What the reference query gives.

    Returns:
        `PASS` or `FAIL`, and the detail. It fails if the answer has a number that the reference
        does not have, or lacks its only value, or states none of its several values, or has
        numbers at the wrong names. If the reference has no value, the answer must say so.
    """
    from dbagenteval.answers.verdicts import compared_with_reference  # noqa: PLC0415

    agrees, detail = compared_with_reference(answer, question, rows)
    return (PASS if agrees else FAIL), detail


def _asked(trace: Trace, case: Case) -> str:
    """Give the question without what the agent put before or after it, such as the history."""
    question = case.question.strip()
    is_part = len(question) >= _SHORTEST_QUESTION and question in trace.question
    return question if is_part else trace.question


def _check_names(option: str, given: Collection[str], allowed: Collection[str]) -> None:
    unknown = sorted(name for name in given if name not in allowed)
    if unknown:
        raise ValueError(f"{option}: unknown {unknown}; allowed: {', '.join(allowed)}")


def _check_locale(locale: str) -> None:
    from dbagenteval.answers.language import writing_of  # noqa: PLC0415 - keeps import light

    writing_of("", locale)
