"""A turn becomes stages: what the agent tagged itself, then what its spans show."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import is_masked, plain
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import LLM
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.executions import find_uses
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.handedon import with_unseen_executions
from dbagenteval.traces.hints import masked_content, missing_content
from dbagenteval.traces.nodes import NodeStep, find_node_steps
from dbagenteval.traces.resultrows import Outcome, outcome_of, read_result
from dbagenteval.traces.retrieval import looked_up, retrieved
from dbagenteval.traces.sqltext import is_sql, normal_sql, sql_in_text
from dbagenteval.traces.tagged import read_tagged
from dbagenteval.traces.toolkinds import CHECK, EXECUTE, HANDOFF, SCHEMA, WRITE
from dbagenteval.traces.toolresult import unwrap
from dbagenteval.traces.turnreading import Placed, TurnReading, draft_of, place_of
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use

__all__ = ["read_stages"]


def read_stages(turn: Turn) -> TurnReading:
    """Read the stages of a turn, all but the answer, in order."""
    reading = TurnReading(turn)
    placed: Placed = []
    for one in reading.tagged:
        placed += [(place_of(one), draft) for draft in read_tagged(one.node)]
    ran = [normal_sql(draft.sql) for _, draft in placed if draft.sql]
    rest = turn
    if reading.tagged_below:
        rest = Turn(
            [one for one in turn.facts if id(one.node) not in reading.tagged_below], turn.heads
        )
    reading.uses = find_uses(rest, reading.limit)
    reading.steps = find_node_steps(rest)
    observed = _from_uses(reading, ran) + _from_steps(reading) + _from_models(rest, placed, reading)
    observed = with_unseen_executions(sorted(observed, key=_by_place), reading)
    observed += retrieved(rest, reading)
    kinds = {one.node.span.attributes[own.STAGE] for one in reading.tagged}
    placed += [(place, draft) for place, draft in observed if not _is_tagged_already(draft, kinds)]
    placed.sort(key=_by_place)
    reading.drafts = _without_known_sql([draft for _, draft in placed])
    return reading


def _by_place(pair: tuple[tuple[int, int], StageDraft]) -> tuple[int, int]:
    return pair[0]


def _is_tagged_already(draft: StageDraft, kinds: set[Any]) -> bool:
    # An agent that tags a kind itself tells all of that kind; a statement it hides still counts.
    return draft.kind in kinds and draft.kind not in ("generate", "execute")


def _from_uses(reading: TurnReading, ran: list[str]) -> Placed:
    """Make stages of tools; `ran` are the statements whose execution the agent tagged itself."""
    placed: Placed = []
    for use in reading.uses:
        if use.kind == EXECUTE:
            drafts = [_generated(use, reading), _executed(use, reading)]
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


def _generated(use: Use, reading: TurnReading) -> StageDraft:
    draft = draft_of("generate", use.writer, output=use.sql)
    if use.writer is None:
        main = use.source or (use.database[0] if use.database else use.teller)
        draft.nodes = [main.node] if main is not None else []
        draft.implied = True
    if use.sql is None:
        draft.note("output", *_missing_sql(use, reading))
    elif reading.limit.cuts(use.sql):
        draft.note("output", "cut", reading.limit.why)
    return draft


def _missing_sql(use: Use, reading: TurnReading) -> tuple[str, str]:
    if is_masked(use.arguments):
        return "masked", masked_content(use.arguments)
    if reading.limit.cuts(use.arguments):
        return "cut", reading.limit.why
    if use.arguments is not None:
        return "unparseable", f"no SQL among the arguments of {use.name}"
    return "not captured", missing_content(reading.turn.facts, "sql")


def _executed(use: Use, reading: TurnReading) -> StageDraft:
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
    _put_rows(draft, outcome, reading)
    return draft


def _put_rows(draft: StageDraft, outcome: Outcome, reading: TurnReading) -> None:
    read = outcome.rows
    draft.rows, draft.positional = read.rows, read.positional
    if outcome.error is not None or read.state in ("present", "empty"):
        return
    why = read.why
    if read.state == "masked":
        why = masked_content(why) if len(why) < 20 else why
    if read.state == "not captured":
        why = missing_content(reading.turn.facts, "rows")
    draft.note("rows", read.state, why)


def _handed_off(use: Use) -> StageDraft:
    draft = draft_of("route", use.source or use.writer)
    target = use.results[0][0] if use.results else None
    target = plain(target)
    if isinstance(target, dict):
        target = target.get("assistant") or target.get("agent") or target.get("to")
    words = use.name.replace("handoff to ", "").replace("transfer_to_", "")
    draft.output = target if isinstance(target, str) and target and len(target) < 200 else words
    return draft


def _written(use: Use, reading: TurnReading) -> StageDraft | None:
    """Make a generate stage of a tool that writes SQL, if its SQL is in no execution."""
    for value, _ in use.results:
        content, _error = unwrap(value)
        if isinstance(content, dict):
            held = [value for value in content.values() if isinstance(value, str)]
            content = next((text for text in held if is_sql(text)), None)
        sql = sql_in_text(content) if isinstance(content, str) else None
        if sql and not _is_known(sql, reading):
            return draft_of("generate", use.source or use.writer, output=sql)
    return None


def _is_known(sql: str, reading: TurnReading) -> bool:
    wanted = normal_sql(sql)
    return any(use.sql is not None and normal_sql(use.sql) == wanted for use in reading.uses)


def _from_steps(reading: TurnReading) -> Placed:
    """Make stages of graph nodes; a statement that a tool or the database ran is known already."""
    placed: Placed = []
    has_executions = any(use.kind == EXECUTE for use in reading.uses)
    pending: StageDraft | None = None
    for step in reading.steps:
        place = place_of(step.facts)
        if step.kind == "generate":
            if step.sql and not _is_known(step.sql, reading):
                pending = draft_of("generate", step.facts, output=step.sql)
                placed.append((place, pending))
        elif step.kind == "execute":
            if step.sql and _is_known(step.sql, reading):
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
        _put_rows(draft, Outcome(read, error), reading)
        draft.error = error
    elif draft.error is None:
        draft.error = _error_told_below(step, reading)
        if draft.error is None:
            draft.note("rows", "not captured", missing_content(reading.turn.facts, "rows"))
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
            placed[index] = (place, _executed(use, reading))


def _from_models(rest: Turn, tagged: Placed, reading: TurnReading) -> Placed:
    """Make generate stages of SQL that a model wrote as text and nothing is seen to have run."""
    known = {normal_sql(use.sql) for use in reading.uses if use.sql}
    known |= {normal_sql(step.sql) for step in reading.steps if step.sql}
    known |= {normal_sql(str(draft.output)) for _, draft in tagged if draft.kind == "generate"}
    placed: Placed = []
    last = next((one for one in reversed(rest.facts) if one.role == LLM), None)
    for one in rest.facts:
        if one.role != LLM or _is_in_check(one, reading):
            continue
        for message in one.outputs:
            sql = sql_in_text(message.text) if message.text and not message.calls else None
            if sql and normal_sql(sql) not in known:
                known.add(normal_sql(sql))
                draft = draft_of("generate", one, output=sql)
                draft.is_said = one is last and sql != message.text.strip()
                placed.append((place_of(one), draft))
    return placed


def _is_in_check(one: Facts, reading: TurnReading) -> bool:
    checks = {id(use.source.node) for use in reading.uses if use.kind == CHECK and use.source}
    return any(id(above) in checks for above in one.node.ancestors)


def _without_known_sql(drafts: list[StageDraft]) -> list[StageDraft]:
    """Leave out a generate stage without a span of its own when its SQL was written before it."""
    kept: list[StageDraft] = []
    for draft in drafts:
        known = (
            draft.kind == "generate"
            and draft.implied
            and draft.output is not None
            and any(
                other.kind == "generate"
                and not other.implied
                and normal_sql(str(other.output)) == normal_sql(str(draft.output))
                and not _ran_since(kept, other)
                for other in kept
            )
        )
        if not known:
            kept.append(draft)
    return kept


def _ran_since(kept: list[StageDraft], generated: StageDraft) -> bool:
    """True if the statement of a generate stage ran already: the next run is a retry."""
    after = kept[kept.index(generated) + 1 :]
    wanted = normal_sql(str(generated.output))
    return any(d.kind == "execute" and d.sql and normal_sql(d.sql) == wanted for d in after)
