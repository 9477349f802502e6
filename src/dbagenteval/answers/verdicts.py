"""Verdicts on the numbers of an answer: grounded in rows, or equal to a reference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dbagenteval.answers.derivation import with_derived
from dbagenteval.answers.fate import Fate
from dbagenteval.answers.grounding import Grounds, fates_of
from dbagenteval.answers.options import OPERATIONS
from dbagenteval.answers.pairing import misplaced
from dbagenteval.answers.reader import read_figures
from dbagenteval.answers.stated import says_nothing_found, states_value
from dbagenteval.answers.superlatives import superlative_findings
from dbagenteval.answers.vague import vague_notes
from dbagenteval.traces import Rows

__all__ = ["NumbersVerdict", "compared_with_reference", "joined", "numbers_verdict", "ungrounded"]

_MOST_NOTES = 6
_FEW_ROWS = 2_000
_LONGEST_HINTED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersVerdict:
    """What was found about the numbers of an answer.

    Args:
        missing: Numbers that nothing grounds, as they are printed.
        misplaced: Numbers and superlatives that stand at the wrong name, one sentence each.
        notes: What a pass rests on, or does not vouch for.
        hints: How ungrounded numbers could be computed from the rows.
        fates: What became of each figure.
    """

    missing: list[str]
    misplaced: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)


def numbers_verdict(
    answer: str,
    grounds: Grounds,
    *,
    operations: Collection[str] = (),
    pairing: bool = False,
    locale: str | None = None,
) -> NumbersVerdict:
    """Decide on every number of an answer.

    Args:
        answer: Its text.
        grounds: What numbers may rest on.
        operations: Computations that are accepted.
        pairing: True looks for misplaced numbers in results of any size; else only in those of
            2,000 rows at most, to warn of them.
        locale: How the answer writes numbers.
    """
    results = grounds.results
    fates = fates_of(read_figures(answer, locale), grounds)
    if operations:
        fates = with_derived(fates, results, answer, operations)
    missing = _missing(fates)
    is_small = sum(map(len, results)) <= _FEW_ROWS
    wrong: list[str] = []
    if not missing and (pairing or is_small):
        wrong = _misplaced(answer, grounds, fates)
    return NumbersVerdict(
        missing=missing,
        misplaced=wrong,
        notes=[
            *dict.fromkeys(fate.note for fate in fates if fate.note),
            *vague_notes(answer, fates, max(map(len, results), default=0)),
        ],
        hints=_hints(fates, results, answer) if missing and is_small else [],
        fates=fates,
    )


def ungrounded(answer: str, question: str, rows: Rows) -> list[str]:
    """List the numbers of an answer that neither the rows, their count nor the question have."""
    grounds = Grounds(results=[rows], question=question)
    return _missing(fates_of(read_figures(answer), grounds))


def compared_with_reference(answer: str, question: str, rows: Rows) -> tuple[bool, str]:
    """Say whether an answer agrees with the reference rows, and why it does not.

    Returns:
        True and what it rests on, or False and the first disagreement.
    """
    verdict = numbers_verdict(answer, Grounds(results=[rows], question=question), pairing=True)
    if verdict.missing:
        return False, joined([f"not in the reference result: {verdict.missing}", *verdict.notes])
    values = [value for row in rows for value in row.values() if value is not None]
    if not values and not says_nothing_found(answer):
        return False, "the reference result has no value, and the answer does not say so"
    if len(values) == 1 and not states_value(answer, values[0], question):
        return False, f"the answer does not state the reference value {_shown(values[0])}"
    if len(values) > 1 and not any(states_value(answer, value) for value in values):
        return False, "the answer states no value from the reference result"
    if verdict.misplaced:
        return False, joined(verdict.misplaced)
    return True, joined(verdict.notes)


def joined(notes: Sequence[str]) -> str:
    """Give notes as one line, six of them at most."""
    shown = [" ".join(note.split()) for note in notes[:_MOST_NOTES]]
    more = len(notes) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _missing(fates: Sequence[Fate]) -> list[str]:
    return [text for fate in fates if fate.state == "ungrounded" for text in fate.missing]


def _misplaced(answer: str, grounds: Grounds, fates: list[Fate]) -> list[str]:
    wrong = misplaced(answer, fates, grounds.results)
    for rows in grounds.results:
        findings = superlative_findings(answer, grounds.question, rows)
        wrong += [one.detail for one in findings if one.state == "fails"]
    return wrong


def _hints(fates: Sequence[Fate], results: Sequence[Rows], answer: str) -> list[str]:
    if len(answer) > _LONGEST_HINTED:
        return []
    derived = with_derived(list(fates), results, answer, OPERATIONS)
    return [
        f"derived=True accepts {after.note}"
        for before, after in zip(fates, derived, strict=True)
        if before.state == "ungrounded" and after.state == "derived"
    ]


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "(a very long number)"
    return text if len(text) <= 200 else text[:199] + "…"
