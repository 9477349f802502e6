"""Check: what every check is a kind of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from dbagenteval.cases import Case
from dbagenteval.scorecard import CheckResult
from dbagenteval.traces import Trace

__all__ = ["Check"]


class Check(ABC):
    """A check of one trace against one case. Subclass it to write your own.

    A check keeps no result on itself: one instance serves several cases at once.
    """

    name: ClassVar[str] = ""
    """Shown in the scorecard; empty means the class name."""

    @abstractmethod
    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Look at the trace and give one result; `PASS`, `FAIL`, or `SKIP` without evidence."""

    def result(
        self,
        stage: str,
        status: str,
        detail: str = "",
        score: float | None = None,
        *,
        reason: str = "",
        evidence: dict[str, Any] | None = None,
    ) -> CheckResult:
        """Make a result that carries this check's name."""
        name = self.name or type(self).__name__
        return CheckResult(name, stage, status, detail, score, reason, evidence or {})
