"""What a turn must have had and no stage shows: its answer, and statements of no stage."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.conventions import own
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.samestatement import is_told_by
from dbagenteval.traces.sqltext import is_catalog_query, is_connection_noise, normal_sql
from dbagenteval.traces.turnreading import TurnReading

__all__ = ["without_stage"]

_MAX_QUOTED = 200


def without_stage(reading: TurnReading, drafts: list[StageDraft]) -> list[dict[str, Any]]:
    """Note a missing answer and statements of no stage, in the form of `not_observed`."""
    notes = [] if _has_end(drafts) else [_no_answer(reading)]
    notes += [
        {
            "what": "statement",
            "stage": None,
            "state": "not captured",
            "why": f"a statement belongs to no stage, so that no rule saw it: {sql:.{_MAX_QUOTED}}",
        }
        for sql in _untold(reading, drafts)
    ]
    return notes


def _has_end(drafts: list[StageDraft]) -> bool:
    """True if no answer is missing: there is one, the last step failed, or no statement ran."""
    if any(draft.kind == "answer" for draft in drafts) or (drafts and drafts[-1].error):
        return True
    return not any(draft.kind == "execute" for draft in drafts)


def _no_answer(reading: TurnReading) -> dict[str, Any]:
    why = (
        f"statements ran and no span has {own.STAGE}=answer"
        if reading.tagged
        else reading.missing("answer")
    )
    return {"what": "output", "stage": "answer", "state": "not captured", "why": why}


def _untold(reading: TurnReading, drafts: list[StageDraft]) -> list[str]:
    """Give the statements on spans of the turn that no generate stage shows to the rules."""
    told = {str(d.output) for d in drafts if d.kind == "generate" and d.output is not None}
    known = {normal_sql(sql) for sql in told}
    untold = []
    for one in reading.turn.facts:
        sql = one.sql
        if not sql or normal_sql(sql) in known or is_catalog_query(sql) or is_connection_noise(sql):
            continue
        known.add(normal_sql(sql))
        if not any(is_told_by(sql, written) for written in told):
            untold.append(sql)
    return untold
