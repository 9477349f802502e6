"""Counts of verdicts: the summary of a run that keeps no card."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbagenteval.scorecard import Scorecard

__all__ = ["Tally"]

_NUMBERED = re.compile(r"^(route|plan|retrieve|generate|execute|answer)_\d+$")
"""Names that a repeated stage of a Trace made from spans gets; counted together."""


@dataclass
class Tally:
    """Counts of verdicts, added card by card; keeps no card.

    Args:
        total: Cards counted.
        passed: Cards with the verdict PASS.
        failed: Cards with the verdict FAIL.
        errors: Cards with the verdict ERROR.
        skipped: Cards with the verdict SKIP.
        drafts: Those of them whose case is a draft.
        by_tag: For each tag its `total` and `passed`.
        failed_stages: For each first failing stage the number of cards, in order of occurrence.
    """

    total: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    drafts: int = 0
    by_tag: dict[str, dict[str, int]] = field(default_factory=dict)
    failed_stages: dict[str, int] = field(default_factory=dict)

    def add(self, card: Scorecard) -> None:
        """Count one card."""
        verdict = card.verdict
        self.total += 1
        self.passed += verdict == "PASS"
        self.failed += verdict == "FAIL"
        self.errors += verdict == "ERROR"
        self.skipped += verdict == "SKIP"
        self.drafts += card.is_draft
        for tag in card.tags:
            counts = self.by_tag.setdefault(tag, {"total": 0, "passed": 0})
            counts["total"] += 1
            counts["passed"] += verdict == "PASS"
        stage = card.failed_stage if verdict == "FAIL" else None
        if stage is not None:
            stage = _NUMBERED.sub(r"\1", stage)
            self.failed_stages[stage] = self.failed_stages.get(stage, 0) + 1

    def to_dict(self) -> dict[str, Any]:
        """Give the `summary` of a JSON report; `pass_rate` is from 0 to 1.

        `drafts` appears only when there are any.
        """
        summary: dict[str, Any] = {
            "total": self.total,
            "passed": self.passed,
            "failed": self.failed,
            "errors": self.errors,
            "skipped": self.skipped,
            "pass_rate": self.passed / self.total if self.total else 0.0,
            "by_tag": self.by_tag,
            "failed_stages": self.failed_stages,
        }
        if self.drafts:
            summary["drafts"] = self.drafts
        return summary
