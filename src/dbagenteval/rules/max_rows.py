"""MaxRows: the agent's query gave no more rows than allowed."""

from __future__ import annotations

from typing import ClassVar

from dbagenteval.cases import Case
from dbagenteval.checks import Check
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Trace

__all__ = ["MaxRows"]


class MaxRows(Check):
    """The agent's queries gave no more rows than allowed.

    **Passes when** each execute stage whose rows were recorded has at most `rows` of them.

    **Fails** with `MaxRows(1000)`: an execute stage with 1,001 rows.

    **Passes** with `MaxRows(1000)`: execute stages with 0 and 1,000 rows.

    **Limits** It looks at what came back, not at the SQL; see `RequireLimit` for that. Without
    recorded rows it SKIPs.

    Args:
        rows: The most rows that one query may give.
        stage: Name of the one stage to look at; None means every execute stage.

    Raises:
        ValueError: `rows` is negative.
    """

    name: ClassVar[str] = "max_rows"

    def __init__(self, rows: int, stage: str | None = None) -> None:
        if rows < 0:
            raise ValueError(f"rows cannot be negative, got {rows}")
        self.rows = rows
        self.stage = stage

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Count the recorded rows."""
        del case
        wanted = [
            stage
            for stage in trace.stages
            if (stage.kind == "execute" if self.stage is None else stage.name == self.stage)
        ]
        if self.stage is not None and not wanted:
            found = [stage.name for stage in trace.stages]
            return self.result(
                self.stage, FAIL, f"stage {self.stage!r} is not in the trace (found {found})"
            )
        seen = [stage for stage in wanted if stage.rows is not None]
        for stage in seen:
            count = len(stage.rows or ())
            if count > self.rows:
                return self.result(stage.name, FAIL, f"{count} rows, more than {self.rows}")
        if not seen:
            return self.result(self.stage or "execute", SKIP, "no result rows were recorded")
        most = max(len(stage.rows or ()) for stage in seen)
        return self.result(seen[-1].name, PASS, f"{most} row(s) at most")
