"""Stages of the uses of tools: what was asked for, what ran and what it gave."""

from __future__ import annotations

import re

from dbagenteval.traces.content import (
    cut_mark,
    is_broken_json,
    is_masked,
    is_partly_masked,
    plain,
)
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.hints import masked_content
from dbagenteval.traces.rejections import is_rejected
from dbagenteval.traces.resultrows import Outcome, outcome_of
from dbagenteval.traces.retrieval import looked_up
from dbagenteval.traces.sqltext import is_sql, normal_sql, sql_in_text
from dbagenteval.traces.toolkinds import EXECUTE, HANDOFF, SCHEMA, WRITE
from dbagenteval.traces.toolresult import unwrap
from dbagenteval.traces.turnreading import Placed, TurnReading, draft_of
from dbagenteval.traces.uses import Use

__all__ = ["executed_of", "from_uses", "generated_and_executed", "is_known", "put_rows"]

# The agent that a handoff's name gives: `transfer_to_X`, `handoff to X`, `A → X.handoff`.
_HANDED_TO = re.compile(r"(?:→|transfer_to_|hand_?off[ _]to[ _])\s*([^→]+)$", re.IGNORECASE)
_MAX_NAME = 200


def from_uses(reading: TurnReading, ran: list[str]) -> Placed:
    """Make stages of tools; `ran` are the statements whose execution the agent tagged itself."""
    placed: Placed = []
    for use in reading.uses:
        if use.kind == EXECUTE:
            drafts = generated_and_executed(use, reading)
            if use.sql is not None and normal_sql(use.sql) in ran:
                ran.remove(normal_sql(use.sql))
                drafts = drafts[:1] if use.writer is not None else []
            placed += [(use.place, draft) for draft in drafts]
        elif use.kind == HANDOFF:
            placed.append((use.place, _handed_off(use)))
        elif use.kind == SCHEMA:
            placed.append((use.place, looked_up(use, reading)))
        elif use.kind == WRITE:
            draft = _written(use, reading)
            if draft is not None:
                placed.append((use.place, draft))
    return placed


def generated_and_executed(use: Use, reading: TurnReading) -> list[StageDraft]:
    """Make the two stages of a statement that ran: its text, and what it gave.

    One that was refused before it ran has its text alone.
    """
    generated, executed = _generated(use, reading), executed_of(use, reading)
    # An object that says so can look like one row.
    if len(executed.rows or ()) <= 1 and is_rejected(use):
        generated.is_unrun = True
        return [generated]
    return [generated, executed]


def _generated(use: Use, reading: TurnReading) -> StageDraft:
    draft = draft_of("generate", use.writer, output=use.sql)
    if use.writer is None:
        main = use.source or (use.database[0] if use.database else use.teller)
        draft.nodes = [main.node] if main is not None else []
        draft.implied = True
    if use.sql is None:
        draft.note("output", *_missing_sql(use, reading))
    elif is_masked(use.sql) or is_partly_masked(use.sql):
        draft.note("output", "masked", masked_content(use.sql))
    elif reading.limit.cuts(use.sql):
        draft.note("output", "cut", reading.limit.why)
    elif mark := cut_mark(use.sql):
        draft.note("output", "cut", f"the statement ends with {mark!r}")
    return draft


def _missing_sql(use: Use, reading: TurnReading) -> tuple[str, str]:
    if is_masked(use.arguments):
        return "masked", masked_content(use.arguments)
    if reading.limit.cuts(use.arguments):
        return "cut", reading.limit.why
    if is_broken_json(use.arguments):
        return "cut", f"the arguments break off after {len(use.arguments)} characters"
    if use.arguments not in (None, ""):
        return "unparseable", f"no SQL among the arguments of {use.name}"
    return "not captured", reading.missing("sql")


def executed_of(use: Use, reading: TurnReading) -> StageDraft:
    """Make the execute stage of a use: its rows, or its error."""
    outcome = outcome_of(use, reading.limit)
    main = use.source or (use.database[0] if use.database else None)
    draft = draft_of("execute", main, error=outcome.error)
    draft.nodes += [one.node for one in use.database if one is not main]
    draft.sql = use.sql
    ran = use.database[-1].sql if use.database else None
    if ran and (use.sql is None or normal_sql(ran) != normal_sql(use.sql)):
        draft.sql = ran
    if main is None:
        draft.implied = True
        told = use.writer or use.teller
        draft.nodes = [told.node] if told is not None else []
    put_rows(draft, outcome, reading)
    if main is None and not use.results:
        draft.note("rows", "not captured", _without_reply(use, reading))
    return draft


def _without_reply(use: Use, reading: TurnReading) -> str:
    return (
        f"only the model's call of {use.name or 'a tool'} is seen and no reply to it: "
        f"whether it ran can't be told; {reading.missing('rows')}"
    )


def put_rows(draft: StageDraft, outcome: Outcome, reading: TurnReading) -> None:
    """Put rows on a stage, and why they are no evidence if they aren't."""
    read = outcome.rows
    draft.rows, draft.positional = read.rows, read.positional
    if outcome.error is not None or read.state in ("present", "empty"):
        return
    why = read.why
    if read.state == "masked":
        why = masked_content(why) if len(why) < 20 else why
    if read.state == "not captured":
        why = reading.missing("rows")
    draft.note("rows", read.state, why)


def _handed_off(use: Use) -> StageDraft:
    draft = draft_of("route", use.source or use.writer)
    target = use.results[0][0] if use.results else None
    target = plain(target)
    if isinstance(target, dict):
        target = target.get("assistant") or target.get("agent") or target.get("to")
    named = _HANDED_TO.search(use.name)
    if named is not None:
        draft.output = named.group(1).removesuffix(".handoff").strip()
    elif isinstance(target, str) and target and len(target) < _MAX_NAME:
        draft.output = target
    else:
        draft.output = use.name
    return draft


def _written(use: Use, reading: TurnReading) -> StageDraft | None:
    """Make a generate stage of a tool that writes SQL, if its SQL is in no execution."""
    for value, _ in use.results:
        content, _error = unwrap(value)
        if isinstance(content, dict):
            held = [value for value in content.values() if isinstance(value, str)]
            content = next((text for text in held if is_sql(text)), None)
        sql = sql_in_text(content) if isinstance(content, str) else None
        if sql and not is_known(sql, reading):
            return draft_of("generate", use.source or use.writer, output=sql)
    return None


def is_known(sql: str, reading: TurnReading) -> bool:
    """True if a tool or the database is seen to have got the statement."""
    wanted = normal_sql(sql)
    return any(use.sql is not None and normal_sql(use.sql) == wanted for use in reading.uses)
