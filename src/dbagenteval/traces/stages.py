"""A turn becomes stages: what the agent tagged itself, then what its spans show."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import LLM
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.executions import find_uses
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.handedon import with_unseen_executions
from dbagenteval.traces.nodes import find_node_steps
from dbagenteval.traces.nodestages import from_steps
from dbagenteval.traces.retrieval import retrieved
from dbagenteval.traces.samestatement import is_told_by
from dbagenteval.traces.sqltext import normal_sql, sql_in_text
from dbagenteval.traces.tagged import read_tagged
from dbagenteval.traces.toolkinds import CHECK, EXECUTE
from dbagenteval.traces.turnreading import Placed, TurnReading, draft_of, place_of
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.usestages import from_uses, generated_and_executed

__all__ = ["read_stages"]


def read_stages(turn: Turn) -> TurnReading:
    """Read the stages of a turn, all but the answer, in order."""
    reading = TurnReading(turn)
    placed: Placed = []
    for one in reading.tagged:
        placed += [(place_of(one), draft) for draft in read_tagged(one.node)]
    placed += _ran_below_tagged(placed, reading)
    ran = [normal_sql(draft.sql) for _, draft in placed if draft.sql]
    rest = turn
    if reading.tagged_below:
        rest = Turn(
            [one for one in turn.facts if id(one.node) not in reading.tagged_below], turn.heads
        )
    reading.uses = find_uses(rest, reading.limit)
    reading.steps = find_node_steps(rest)
    observed = from_uses(reading, ran) + from_steps(reading) + _from_models(rest, placed, reading)
    observed = with_unseen_executions(sorted(observed, key=_by_place), reading)
    observed += retrieved(rest, reading)
    kinds = {one.node.span.attributes[own.STAGE] for one in reading.tagged}
    placed += [(place, draft) for place, draft in observed if not _is_tagged_already(draft, kinds)]
    placed.sort(key=_by_place)
    reading.drafts = _without_known_sql([draft for _, draft in placed])
    return reading


def _ran_below_tagged(tagged: Placed, reading: TurnReading) -> Placed:
    """Make stages of the statements on or below tagged spans that no tagged execution tells of.

    An agent that tags its stages tells what it knows of; what else ran must not escape the rules.
    """
    below = [
        one
        for one in reading.turn.facts
        if id(one.node) in reading.tagged_below
        and one.node.span.attributes.get(own.STAGE) not in ("generate", "execute")
    ]
    if not below:
        return []
    told = [draft.sql for _, draft in tagged if draft.kind == "execute" and draft.sql]
    placed: Placed = []
    for use in find_uses(Turn(below), reading.limit):
        seen = use.source is not None or use.database
        if use.kind != EXECUTE or not seen or not use.sql:
            continue
        if any(is_told_by(use.sql, known) for known in told):
            continue
        told.append(use.sql)
        placed += [(use.place, draft) for draft in generated_and_executed(use, reading)]
    return placed


def _by_place(pair: tuple[tuple[int, int], StageDraft]) -> tuple[int, int]:
    return pair[0]


def _is_tagged_already(draft: StageDraft, kinds: set[Any]) -> bool:
    # An agent that tags a kind itself tells all of that kind; a statement it hides still counts.
    return draft.kind in kinds and draft.kind not in ("generate", "execute")


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
                draft.is_unrun = one is last and sql != message.text.strip()
                placed.append((place_of(one), draft))
    return placed


def _is_in_check(one: Facts, reading: TurnReading) -> bool:
    checks = {id(use.source.node) for use in reading.uses if use.kind == CHECK and use.source}
    return any(id(above) in checks for above in one.node.ancestors)


def _without_known_sql(drafts: list[StageDraft]) -> list[StageDraft]:
    """Leave out a generate stage without a span of its own when its SQL was written before it.

    A statement that ran since it was written is known no more: its next run is a retry.
    """
    kept: list[StageDraft] = []
    written: set[str] = set()
    for draft in drafts:
        if draft.kind == "generate" and draft.output is not None:
            sql = normal_sql(str(draft.output))
            if draft.implied and sql in written:
                continue
            if not draft.implied:
                written.add(sql)
        elif draft.kind == "execute" and draft.sql:
            written.discard(normal_sql(draft.sql))
        kept.append(draft)
    return kept
