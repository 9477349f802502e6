"""Stages of the nodes of a graph or pipeline."""

from __future__ import annotations

from dbagenteval.traces.content import plain
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.nodes import NodeStep
from dbagenteval.traces.resultrows import Outcome, read_result
from dbagenteval.traces.sqltext import normal_sql
from dbagenteval.traces.toolkinds import EXECUTE
from dbagenteval.traces.turnreading import Placed, TurnReading, draft_of, place_of
from dbagenteval.traces.uses import Use
from dbagenteval.traces.usestages import executed_of, is_known, put_rows

__all__ = ["from_steps"]


def from_steps(reading: TurnReading) -> Placed:
    """Make stages of graph nodes; a statement that a tool or the database ran is known already."""
    placed: Placed = []
    has_executions = any(use.kind == EXECUTE for use in reading.uses)
    pending: StageDraft | None = None
    for step in reading.steps:
        place = place_of(step.facts)
        if step.kind == "generate":
            if step.sql and not is_known(step.sql, reading):
                pending = draft_of("generate", step.facts, output=step.sql)
                placed.append((place, pending))
        elif step.kind == "execute":
            if step.sql and is_known(step.sql, reading):
                _add_rows(step, reading, placed)
            elif step.sql:
                _executed_by_node(step, reading, placed, place, pending)
                pending = None
        elif step.kind != "answer" and not (has_executions and step.kind == "retrieve"):
            placed.append((place, draft_of(step.kind, step.facts, output=step.output)))
    return placed


def _executed_by_node(
    step: NodeStep,
    reading: TurnReading,
    placed: Placed,
    place: tuple[int, int],
    pending: StageDraft | None,
) -> None:
    """Add the execution of a node, after the generate stage that wrote its statement."""
    if pending is None or normal_sql(str(pending.output)) != normal_sql(step.sql or ""):
        generated = draft_of("generate", step.facts, output=step.sql)
        generated.implied = True
        placed.append((place, generated))
    elif pending.start_ns >= place[0]:
        place = (pending.start_ns, place[1] + 1)  # a wrapper starts before what it wraps
    draft = draft_of("execute", step.facts, sql=step.sql)
    draft.error = step.error or span_error(step.facts.node.span)
    if draft.error is None and step.has_rows:
        read, error = read_result(step.rows, None, step.sql or "", reading.limit)
        put_rows(draft, Outcome(read, error), reading)
        draft.error = error
    elif draft.error is None:
        draft.error = _error_told_below(step, reading)
        if draft.error is None:
            draft.note("rows", "not captured", reading.missing("rows"))
    if draft.error is not None:
        draft.rows = None
    placed.append((place, draft))


def _error_told_below(step: NodeStep, reading: TurnReading) -> str | None:
    """Find the error of a statement in what was handed to the answering model.

    LlamaIndex has no result on the query span then, and the text in the synthesiser's input.
    """
    for one in reading.turn.facts:
        if step.facts.node in one.node.ancestors and one.node.span.name.endswith("get_response"):
            value = plain(one.question)
            chunks = value.get("text_chunks") if isinstance(value, dict) else None
            for chunk in chunks if isinstance(chunks, list) else ():
                if isinstance(chunk, str) and chunk.lstrip().startswith("Error"):
                    return chunk.strip()
    return None


def _add_rows(step: NodeStep, reading: TurnReading, placed: Placed) -> None:
    """Give a known execution the rows that a node around it shows."""
    wanted = normal_sql(step.sql or "")
    for use in reading.uses:
        if use.sql and normal_sql(use.sql) == wanted and step.has_rows and use.source is None:
            if not use.results:
                use.results.append((step.error or step.rows, bool(step.error) or None))
                _reread(use, reading, placed)
            return


def _reread(use: Use, reading: TurnReading, placed: Placed) -> None:
    for index, (place, draft) in enumerate(placed):
        if draft.kind == "execute" and place == use.place:
            placed[index] = (place, executed_of(use, reading))
