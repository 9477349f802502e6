"""The values that an evaluation gives: check results, scorecards and the result of a suite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbagenteval.printable import printable
from dbagenteval.tally import Tally

__all__ = [
    "DRAFT",
    "ERROR",
    "EXPECTATIONS",
    "FAIL",
    "PASS",
    "SKIP",
    "UNVERIFIED",
    "CheckResult",
    "Scorecard",
    "SuiteResult",
]

PASS = "pass"
FAIL = "fail"
SKIP = "skip"
ERROR = "error"
"""Not a status of a check: the verdict of a card whose evaluation could not run."""

DRAFT = "draft"
"""Check and reason code of the skip that keeps a draft case from passing."""

UNVERIFIED = "unverified"
"""Reason code of a skip: the answer states figures, and there is nothing to verify them by."""

_BY_STAGE = ("expected", "recall")
_OF_A_REFERENCE = ("reference_rows", "reference_numbers", "reference_answer")
EXPECTATIONS = frozenset((*_BY_STAGE, *_OF_A_REFERENCE, "rows_match", "sql", DRAFT))
"""Checks of what the case itself expects; all others are asked for beside it."""

_STATUSES = (PASS, FAIL, SKIP)


@dataclass
class CheckResult:
    """What one check says of one stage.

    Args:
        check: Name of the check, such as `reference_rows`.
        stage: Name of the stage it speaks of.
        status: `PASS`, `FAIL` or `SKIP`.
        detail: One line for a person: why it failed or was skipped, what a pass rests on.
        score: A share from 0 to 1 where the check has one (`recall`), else None.
        reason: A stable code for the kind of failure, such as `missing_rows`; empty if none.
        evidence: JSON-ready facts behind the detail, such as the first differing rows.

    Raises:
        ValueError: `status` is none of the three.
    """

    check: str
    stage: str
    status: str
    detail: str = ""
    score: float | None = None
    reason: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in _STATUSES:
            raise ValueError(
                f"check {self.check!r} returned status {self.status!r}; "
                "use the PASS, FAIL or SKIP constants from dbagenteval.scorecard"
            )

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON report form; `reason` and `evidence` appear only when there are any."""
        data: dict[str, Any] = {
            "check": self.check,
            "stage": self.stage,
            "status": self.status,
            "detail": self.detail,
            "score": self.score,
        }
        if self.reason:
            data["reason"] = self.reason
        if self.evidence:
            data["evidence"] = self.evidence
        return data


@dataclass
class Scorecard:
    """The result for one question: every check, and the verdict that follows from them.

    Args:
        question: The question of the trace.
        results: In the order in which the checks ran.
        stage_order: Names of the trace's stages, first to last; decides which failure is first.
        case_id: Id of the case, empty if it has none.
        tags: Tags of the case.
        error: Why the evaluation itself could not run; makes the verdict ERROR.
        meta: JSON-ready facts for reports (SQL, capped rows, answer, timings, versions).
    """

    question: str
    results: list[CheckResult] = field(default_factory=list)
    stage_order: list[str] = field(default_factory=list)
    case_id: str = ""
    tags: list[str] = field(default_factory=list)
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`ERROR`, `FAIL`, `PASS` or `SKIP`.

        SKIP means that nothing was checked: no check ran, all that were asked for beside
        `no_error` had nothing to look at, something that the case expects could not be checked
        (`unchecked`), or the answer states figures that could not be verified. An answer does
        not pass because everything that could fail it was skipped.
        """
        if self.error:
            return "ERROR"
        statuses = {result.status for result in self.results}
        if FAIL in statuses:
            return "FAIL"
        if self.unchecked or self._is_unproven:
            return "SKIP"
        return "PASS" if PASS in statuses else "SKIP"

    @property
    def unchecked(self) -> list[CheckResult]:
        """The skipped checks of expectations of the case that no other check made good.

        Rows that were hidden leave the reference unchecked, unless the answer was compared with
        it instead.
        """
        own = [result for result in self.results if result.check in EXPECTATIONS]
        met = {_expectation(result) for result in own if result.status == PASS}
        return [
            result for result in own if result.status == SKIP and _expectation(result) not in met
        ]

    @property
    def passes_if_waived(self) -> bool:
        """True for a SKIP that would be a PASS if its unchecked expectations were waived."""
        proven = any(
            result.check != "no_error" and result.status == PASS for result in self.results
        )
        return self.verdict == "SKIP" and bool(self.unchecked) and proven and not self._is_unproven

    @property
    def is_draft(self) -> bool:
        """True for the SKIP of a case that nobody has accepted yet, not for a broken rule."""
        return self.verdict == "SKIP" and any(result.reason == DRAFT for result in self.results)

    @property
    def _is_unproven(self) -> bool:
        asked = {result.status for result in self.results if result.check != "no_error"}
        return asked == {SKIP} or any(result.reason == UNVERIFIED for result in self.results)

    @property
    def failed(self) -> CheckResult | None:
        """The failed check of the earliest stage; a stage that is not in the trace comes last."""
        position = {name: index for index, name in enumerate(self.stage_order)}
        failures = [result for result in self.results if result.status == FAIL]
        return min(
            failures, key=lambda result: position.get(result.stage, len(position)), default=None
        )

    @property
    def failed_stage(self) -> str | None:
        """Name of the first stage that failed, or None."""
        failed = self.failed
        return None if failed is None else failed.stage

    @property
    def goes_back_to(self) -> str:
        """The stage to blame and why, where that is not the first that failed; else empty."""
        blame = self.meta.get("blame")
        if blame is None or blame["stage"] == self.failed_stage:
            return ""
        return str(blame["words"])

    @property
    def skipped(self) -> list[CheckResult]:
        """The checks that had no evidence to look at."""
        return [result for result in self.results if result.status == SKIP]

    def stages(self) -> dict[str, str]:
        """Give each stage's status: fail if a check of it failed, else pass if one passed."""
        found: dict[str, str] = dict.fromkeys(self.stage_order, SKIP)
        for result in self.results:
            before = found.setdefault(result.stage, SKIP)
            if FAIL in (before, result.status):
                found[result.stage] = FAIL
            elif PASS in (before, result.status):
                found[result.stage] = PASS
        return found

    def summary(self) -> str:
        """Give the card as text: the question, a line for each check, the verdict."""
        lines = [f"Q: {_shown(self.question)}"]
        if self.error:
            lines.append(f"  error: {_shown(self.error)}")
        for stage in self.stages():
            lines.extend(
                f"  {_shown(stage):<12} {_shown(result.check):<18} {result.status.upper():<5} "
                f"{_shown(result.detail)}".rstrip()
                for result in self.results
                if result.stage == stage
            )
        ending = (
            f"  (first failing stage: {_shown(self.failed_stage)})" if self.failed_stage else ""
        )
        lines.append(f"  VERDICT      {self.verdict}{ending}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON report form; `meta` appears only when there is any."""
        failed = self.failed
        data: dict[str, Any] = {
            "id": self.case_id,
            "question": self.question,
            "tags": list(self.tags),
            "verdict": self.verdict,
            "failed_stage": failed.stage if failed else None,
            "failed_check": failed.check if failed else None,
            "error": self.error,
            "results": [result.to_dict() for result in self.results],
        }
        if self.meta:
            data["meta"] = self.meta
        return data


def _expectation(result: CheckResult) -> tuple[str, str]:
    """Tell which expectation of the case a result speaks of."""
    if result.check in _OF_A_REFERENCE:
        return "reference", ""
    return result.check, result.stage if result.check in _BY_STAGE else ""


def _shown(text: str) -> str:
    return printable(text, collapse=False)


@dataclass
class SuiteResult:
    """The scorecards of a run, in case order, and the facts about the run as a whole.

    Args:
        cards: One for each case (or stored trace).
        meta: JSON-ready facts about the run, such as the version; shown in reports.
    """

    cards: list[Scorecard] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True if there is a card and every card's verdict is PASS."""
        return bool(self.cards) and all(card.verdict == "PASS" for card in self.cards)

    def summary(self) -> dict[str, Any]:
        """Count verdicts, by tag and by first failing stage; `pass_rate` is from 0 to 1."""
        tally = Tally()
        for card in self.cards:
            tally.add(card)
        return tally.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON report: `summary`, `cases`, and `meta` when there is any."""
        data: dict[str, Any] = {
            "summary": self.summary(),
            "cases": [card.to_dict() for card in self.cards],
        }
        if self.meta:
            data["meta"] = self.meta
        return data
