"""NumbersGrounded: every number of the answer stands in the result rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dbagenteval.answers.derivation import with_derived
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.formulas import OPERATIONS
from dbagenteval.answers.grounding import SOURCES, Grounds, fates_of
from dbagenteval.answers.pairing import misplaced
from dbagenteval.answers.reader import read_figures
from dbagenteval.answers.stated import says_nothing_found, states_value, swapped
from dbagenteval.answers.superlatives import superlative_findings
from dbagenteval.cases import Case
from dbagenteval.checks.answer_evidence import Evidence, answer_stage, rows_evidence
from dbagenteval.checks.check import Check
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Rows, Trace

__all__ = ["NumbersGrounded", "reference_numbers", "states_value", "ungrounded_numbers"]

_EXECUTIONS = ("all", "last")
_MOST_NOTES = 6
_MOST_SHOWN = 100
_FEW_ROWS = 2_000
_LONGEST_HINTED = 20_000


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
        read_figures("", locale)
        self.stage = stage
        self.pairing = pairing
        self.signs = signs
        self.sources = sources
        self.executions = executions
        self.rounding = rounding
        self.locale = locale

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Look for each number of the answer in the rows; SKIP without an answer or rows."""
        del case
        stage, status, detail = answer_stage(trace, self.stage)
        if status:
            return self.result(stage, status, detail)
        seen = rows_evidence(trace, last_only=self.executions == "last")
        if seen.hidden_last:
            return self.result(stage, SKIP, seen.hidden_last)
        return self._judge(trace, stage, detail, seen)

    def _judge(self, trace: Trace, stage: str, answer: str, seen: Evidence) -> CheckResult:
        grounds = Grounds(
            results=seen.results,
            question=trace.question,
            sql=seen.sql,
            sources=self.sources,
            signs=self.signs,
            rounding=self.rounding,
        )
        fates = fates_of(read_figures(answer, self.locale), grounds)
        if self.operations:
            fates = with_derived(fates, seen.results, answer, self.operations)
        evidence = {"figures": [fate.to_dict() for fate in fates[:_MOST_SHOWN]]}
        missing = _missing(fates)
        notes = _notes(fates)
        if missing and seen.hidden_earlier:
            detail = f"{missing} may be in rows that were not seen; {seen.hidden_earlier}"
            return self.result(stage, SKIP, detail, evidence=evidence)
        if missing:
            detail = _joined(
                [f"not in the result rows: {missing}", *_hints(fates, seen, answer), *notes]
            )
            return self.result(stage, FAIL, detail, reason="ungrounded_numbers", evidence=evidence)
        wrong = self._misplaced(trace, answer, fates, seen)
        if wrong and self.pairing:
            return self.result(stage, FAIL, _joined(wrong), reason="misplaced", evidence=evidence)
        notes += [f"{one} (pairing=True fails this)" for one in wrong]
        return self.result(stage, PASS, _joined(notes), evidence=evidence)

    def _misplaced(self, trace: Trace, answer: str, fates: list[Fate], seen: Evidence) -> list[str]:
        if not self.pairing and sum(map(len, seen.results)) > _FEW_ROWS:
            return []
        wrong = misplaced(answer, fates, seen.results)
        for rows in seen.results:
            findings = superlative_findings(answer, trace.question, rows)
            wrong += [one.detail for one in findings if one.state == "fails"]
        return wrong


def ungrounded_numbers(answer: str, question: str, rows: Rows) -> list[str]:
    """List the numbers of the answer that neither the rows, their count nor the question have."""
    grounds = Grounds(results=[rows], question=question)
    return _missing(fates_of(read_figures(answer), grounds))


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
    grounds = Grounds(results=[rows], question=question)
    fates = fates_of(read_figures(answer), grounds)
    missing = _missing(fates)
    if missing:
        return FAIL, _joined([f"not in the reference result: {missing}", *_notes(fates)])
    values = [value for row in rows for value in row.values() if value is not None]
    if not values and not says_nothing_found(answer):
        return FAIL, "the reference result has no value, and the answer does not say so"
    if len(values) == 1 and not states_value(answer, values[0]):
        return FAIL, f"the answer does not state the reference value {values[0]!r}"
    if len(values) > 1 and not any(states_value(answer, value) for value in values):
        return FAIL, "the answer states no value from the reference result"
    wrong = swapped(answer, fates, rows)
    if wrong:
        return FAIL, _joined(wrong)
    return PASS, _joined(_notes(fates))


def _check_names(option: str, given: Collection[str], allowed: Collection[str]) -> None:
    unknown = sorted(name for name in given if name not in allowed)
    if unknown:
        raise ValueError(f"{option}: unknown {unknown}; allowed: {', '.join(allowed)}")


def _missing(fates: Sequence[Fate]) -> list[str]:
    return [text for fate in fates if fate.state == "ungrounded" for text in fate.missing]


def _notes(fates: Sequence[Fate]) -> list[str]:
    return list(dict.fromkeys(fate.note for fate in fates if fate.note))


def _hints(fates: Sequence[Fate], seen: Evidence, answer: str) -> list[str]:
    """Say how an ungrounded figure could be computed; `derived=True` would accept it."""
    if len(answer) > _LONGEST_HINTED or sum(map(len, seen.results)) > _FEW_ROWS:
        return []
    derived = with_derived(list(fates), seen.results, answer, OPERATIONS)
    return [
        f"derived=True accepts {after.note}"
        for before, after in zip(fates, derived, strict=True)
        if before.state == "ungrounded" and after.state == "derived"
    ]


def _joined(notes: Sequence[str]) -> str:
    shown = [" ".join(note.split()) for note in notes[:_MOST_NOTES]]
    more = len(notes) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")
