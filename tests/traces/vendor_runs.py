"""The run that tests of vendors' conventions tell: one question, a failed statement, a good one."""

from __future__ import annotations

import json
from typing import Any

from dbagenteval.traces import Trace, assemble
from tests.traces.spans import one_trace

QUESTION = "How many orders were delivered?"
SQL = "SELECT COUNT(*) AS n FROM orders WHERE status = 'delivered'"
BAD_SQL = "SELECT COUNT(*) AS n FROM orders WHERE order_status = 'delivered'"
ERROR = "no such column: order_status"
ANSWER = "47 orders were delivered."
ROWS = [{"n": 47}]
USER = {"role": "user", "content": QUESTION}
SAID = {"role": "assistant", "content": ANSWER}


def asked(call_id: str, sql: str, tool: str = "run_sql") -> dict[str, Any]:
    """Give OpenAI's message of a model that asks for a statement."""
    function = {"name": tool, "arguments": json.dumps({"sql": sql})}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def gave(call_id: str, rows: Any = ROWS) -> dict[str, Any]:
    """Give OpenAI's message of a tool's result."""
    content = rows if isinstance(rows, str) else json.dumps(rows)
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def check(
    *spans: Any, tries: tuple[str, ...] = (SQL,), rows: Any = ROWS, session: str | None = None
) -> Trace:
    """Check that the spans tell the run exactly: every try but the last failed."""
    (trace,) = assemble(one_trace(*spans))
    assert trace.question == QUESTION
    told = [(stage.kind, stage.output) for stage in trace.stages]
    wanted = [pair for sql in tries for pair in (("generate", sql), ("execute", None))]
    assert told == [*wanted, ("answer", ANSWER)]
    executions = [stage for stage in trace.stages if stage.kind == "execute"]
    assert [stage.rows for stage in executions] == [None] * (len(tries) - 1) + [rows]
    assert [ERROR in (stage.error or "") for stage in executions] == [True] * (len(tries) - 1) + [
        False
    ]
    assert executions[-1].error is None
    assert trace.meta["session_id"] == session
    assert trace.meta["not_observed"] == []
    return trace
