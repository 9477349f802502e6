"""RowsFromSql: the rows of the trace are what the agent's SQL returns."""

from __future__ import annotations

from dbagenteval.cases import Case
from dbagenteval.checks.check import Check
from dbagenteval.checks.evidence import NOT_OBSERVED, last_result, one_line, shown_rows, why_hidden
from dbagenteval.checks.reference import Executor
from dbagenteval.checks.result_rows import row_options
from dbagenteval.compare import compare_rows
from dbagenteval.errors import described
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Trace

__all__ = ["RowsFromSql"]


class RowsFromSql(Check):
    """Passes when the agent's last SQL, run again, returns the rows that the trace holds.

    Nothing else runs the agent's SQL. Put this check in your list of rules only with an executor
    that can't change data: a user who may only read, in a read-only transaction.

    Args:
        execute: Runs the agent's SQL.
    """

    name = "rows_from_sql"

    def __init__(self, execute: Executor) -> None:
        self.execute = execute

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Run the SQL and compare; SKIP without SQL or rows, FAIL if the SQL doesn't run."""
        written = trace.last_of("generate")
        result = last_result(trace)
        name = result.name if result is not None else "execute"
        hidden = why_hidden(trace, result, "rows", "execute") or why_hidden(
            trace, written, "output", "generate"
        )
        if hidden:
            return self.result(name, SKIP, hidden, reason=NOT_OBSERVED)
        sql = written.output if written is not None else None
        if not isinstance(sql, str) or not sql.strip():
            return self.result(name, SKIP, "no SQL to run")
        if result is None or result.rows is None:
            return self.result(name, SKIP, "no rows to compare")
        try:
            rows = self.execute(sql)
        except Exception as error:  # noqa: BLE001 a database may raise anything
            detail = f"the agent's SQL does not run: {described(error)}"
            return self.result(name, FAIL, one_line(detail))
        found = compare_rows(rows, result.rows, row_options(case, stage=result))
        if found.equal:
            return self.result(name, PASS, f"{len(rows)} row(s)")
        detail = f"the trace has {shown_rows(result.rows)}; its SQL returns {shown_rows(rows)}"
        return self.result(name, FAIL, detail, reason=found.reason, evidence=dict(found.evidence))
