"""Statements that ran where no span is: their rows show in what was handed to the next step.

DSPy modules and home-made pipelines run SQL in plain functions. What such a function gave is in
the input of the node that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import CHAIN
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.nodes import ERROR_KEYS
from dbagenteval.traces.resultrows import read_result
from dbagenteval.traces.sqltext import normal_sql
from dbagenteval.traces.turnreading import Placed, TurnReading

__all__ = ["with_unseen_executions"]

_ROWS_KEYS = (
    "rows",
    "query_result",
    "query_results",
    "sql_result",
    "sql_results",
    "sql_output",
    "query_output",
    "db_result",
    "results",
    "result",
    "data",
    "context",
    "context_str",
    "observation",
)
# Keys that hold rows even where the statement doesn't stand beside them.
_SURE_KEYS = _ROWS_KEYS[:8]
_MAX_DEPTH = 3


def with_unseen_executions(placed: Placed, reading: TurnReading) -> Placed:
    """Add an execute stage after each generate stage whose statement no span is seen to run.

    Args:
        placed: The stages that were read from spans, in order.
        reading: The turn.
    """
    ran = {normal_sql(d.sql) for _, d in placed if d.kind == "execute" and d.sql}
    unseen = [
        (place, draft)
        for place, draft in placed
        if draft.kind == "generate"
        and draft.output
        and not draft.is_unrun
        and normal_sql(str(draft.output)) not in ran
    ]
    is_only = len(unseen) == 1
    added = {id(draft): _execution(draft, reading, is_only=is_only) for _, draft in unseen}
    result: Placed = []
    for place, draft in placed:
        result.append((place, draft))
        if id(draft) in added:
            result.append((place, added[id(draft)]))
    return result


def _execution(generated: StageDraft, reading: TurnReading, *, is_only: bool) -> StageDraft:
    sql = str(generated.output)
    draft = StageDraft(
        kind="execute",
        sql=sql,
        nodes=list(generated.nodes),
        start_ns=generated.end_ns,
        end_ns=generated.end_ns,
        implied=True,
    )
    for one, value in _handed_on(sql, generated, reading, is_only=is_only):
        read, draft.error = read_result(value, None, sql, reading.limit)
        draft.rows, draft.positional = read.rows, read.positional
        draft.nodes = [one.node]
        if draft.error is None and read.state not in ("present", "empty"):
            draft.note("rows", read.state, read.why)
        return draft
    why = f"no span shows that the statement ran; {reading.missing('rows')}"
    draft.note("rows", "not captured", why)
    return draft


def _handed_on(
    sql: str, generated: StageDraft, reading: TurnReading, *, is_only: bool
) -> Iterator[tuple[Facts, Any]]:
    """Give the values beside a statement in the inputs of later nodes."""
    wanted = normal_sql(sql)
    for one in reading.turn.facts:
        if one.role != CHAIN or one.node.span.start_ns < generated.start_ns:
            continue
        for held in _objects(plain(one.question), 0):
            texts = [value for value in held.values() if isinstance(value, str)]
            beside = any(normal_sql(text) == wanted for text in texts)
            failed = next((held[key] for key in ERROR_KEYS if held.get(key)), None)
            keys = _ROWS_KEYS if beside else (_SURE_KEYS if is_only and not failed else ())
            for key in keys:
                if held.get(key) is not None and held.get(key) != sql:
                    # Beside an error, empty rows are no result.
                    yield one, {"error": failed} if failed else held[key]


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        yield value
        for held in value.values():
            yield from _objects(plain(held), depth + 1)
