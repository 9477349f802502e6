"""What a trace lets a check of the answer see: its text, and the rows that count."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbagenteval.checks.evidence import NOT_OBSERVED, why_hidden
from dbagenteval.scorecard import FAIL, SKIP, UNVERIFIED
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["Answer", "Evidence", "answer_stage", "rows_evidence"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or why there is none to check.

    Args:
        stage: Name of its stage.
        text: The answer.
        status: What the check gives if there is nothing to check, else empty.
        detail: Why there is nothing to check.
        reason: The reason code of that.
    """

    stage: str
    text: str = ""
    status: str = ""
    detail: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The rows that an answer can be held against.

    Args:
        results: Rows of the successful executions, the last one first.
        sql: Texts of the generate stages.
        hidden_last: Why the rows that count were not seen; empty if they were.
        hidden_earlier: Why rows of an earlier execution were not seen; empty if all were.
    """

    results: list[Rows] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)
    hidden_last: str = ""
    hidden_earlier: str = ""


def answer_stage(trace: Trace, name: str | None) -> Answer:
    """Find the answer.

    Args:
        trace: The trace.
        name: Name of the stage; None means the last stage of kind `answer`.
    """
    found = [stage.name for stage in trace.stages if stage.kind == "answer"]
    stage = trace.last_of("answer") if name is None else trace.stage(name)
    if stage is None and found:
        told = f"stage {name!r} is not in the trace (found {found})"
        return Answer(name or "answer", status=FAIL, detail=told)
    hidden = why_hidden(trace, stage, "output", "answer")
    if stage is None and not hidden and _is_seen_in_part(trace):
        hidden = "the spans hold none"
    where = name or "answer" if stage is None else stage.name
    if hidden:
        told = f"no answer text ({hidden})"
        return Answer(where, status=SKIP, detail=told, reason=NOT_OBSERVED)
    output = None if stage is None else stage.output
    if isinstance(output, str) and output.strip():
        return Answer(where, text=output)
    if output is None or output in ("", [], {}) or isinstance(output, str):
        return Answer(where, status=SKIP, detail="no answer text")
    # What its numbers and names mean can't be told, and an answer that was not read passes nothing.
    return Answer(where, status=SKIP, detail="no answer text", reason=UNVERIFIED)


def _is_seen_in_part(trace: Trace) -> bool:
    """Tell whether a trace made from spans shows queries; a live trace is what the agent gave."""
    queried = any(stage.kind in ("generate", "execute") for stage in trace.stages)
    return queried and "not_observed" in trace.meta


def rows_evidence(trace: Trace, *, last_only: bool = False) -> Evidence:
    """Collect the rows of successful executions and say which could not be seen.

    Args:
        trace: The trace.
        last_only: True if only the last execution counts.
    """
    executed = [stage for stage in trace.stages if stage.kind == "execute"]
    if not last_only:
        # A query that failed gave no rows, and an agent may answer from an earlier one.
        executed = [stage for stage in executed if stage.rows is not None or not stage.error]
    executed = executed[-1:] if last_only else executed
    sql = [
        stage.output
        for stage in trace.stages
        if stage.kind == "generate" and isinstance(stage.output, str)
    ]
    why = [_why_no_rows(trace, stage) for stage in executed]
    results = [stage.rows for stage, reason in zip(executed, why, strict=True) if not reason]
    if not executed or why[-1]:
        reason = why[-1] if executed else _why_no_rows(trace, None)
        return Evidence(sql=sql, hidden_last=reason)
    hidden = next((reason for reason in why if reason), "")
    return Evidence(
        results=[rows for rows in reversed(results) if rows is not None],
        sql=sql,
        hidden_earlier=hidden,
    )


def _why_no_rows(trace: Trace, stage: Stage | None) -> str:
    hidden = why_hidden(trace, stage, "rows", "execute")
    if hidden:
        return f"no query result to ground the answer in ({hidden})"
    if stage is None or stage.rows is None:
        return "no query result to ground the answer in"
    return ""
