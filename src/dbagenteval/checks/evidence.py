"""What a check may rest on: results and answers that were seen whole."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces import Stage, Trace

__all__ = ["NOT_OBSERVED", "answer_text", "last_result", "one_line", "shown_rows", "why_hidden"]

NOT_OBSERVED = "not_observed"
"""Reason code of a check that was skipped because its evidence was hidden."""

_DETAIL_MAX_CHARS = 200


def why_hidden(trace: Trace, stage: Stage | None, what: str, kind: str) -> str | None:
    """Say why `rows` or `output` of a stage is no evidence, or None if it is.

    A live trace holds what the agent gave back, so there nothing is hidden; only a trace made
    from spans notes what it could not see.

    Args:
        trace: The trace of the stage.
        stage: The stage, or None if the trace has no such stage.
        what: `rows` or `output`.
        kind: Kind of the stage that is looked for when `stage` is None.
    """
    if stage is not None:
        if what not in stage.meta.get("observed", {}):
            return None
        seen = stage.observed(what)
        return None if seen.is_evidence else _said(what, seen.state, seen.why)
    for note in trace.meta.get("not_observed", ()):
        if note.get("what") == what and note.get("stage") in (None, "", kind):
            return _said(what, note.get("state", ""), note.get("why", ""))
    return None


def _said(what: str, state: str, why: str) -> str:
    said = f"{what} {state or 'not captured'}"
    return f"{said}: {why}" if why else said


def last_result(trace: Trace) -> Stage | None:
    """Give the stage whose rows are the agent's result: its last execution."""
    return trace.last_of("execute")


def answer_text(trace: Trace) -> str:
    """Give the last answer's text; empty if there is none, it is blank or no text."""
    stage = trace.last_of("answer")
    output = stage.output if stage is not None else None
    return output if isinstance(output, str) and output.strip() else ""


def one_line(text: object) -> str:
    """Give text on one line, cut to 200 characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= _DETAIL_MAX_CHARS else line[: _DETAIL_MAX_CHARS - 1] + "…"


def shown_rows(rows: list[dict[str, Any]]) -> str:
    """Describe rows for a person: how many, and the first."""
    try:
        first = repr(rows[:1])
    except (ValueError, RecursionError):  # an integer with more digits than Python prints
        first = "[…]"
    return f"{len(rows)} row(s), first: {one_line(first)}"
