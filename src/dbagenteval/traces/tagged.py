"""Stages that the agent tagged itself with our attributes."""

from __future__ import annotations

from typing import Any

import orjson

from dbagenteval.traces.content import is_masked, is_partly_masked
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.database import sql_of
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.hints import masked_content
from dbagenteval.traces.recorded import recorded_rows
from dbagenteval.traces.samestatement import is_told_by
from dbagenteval.traces.trace import STAGE_KINDS
from dbagenteval.traces.tree import Node

__all__ = ["is_tagged", "read_tagged"]


def is_tagged(node: Node) -> bool:
    """True if the span names a stage kind that exists."""
    return node.span.attributes.get(own.STAGE) in STAGE_KINDS


def read_tagged(node: Node) -> list[StageDraft]:
    """Make the stage of a tagged span, and what it implies.

    An execute span that has the SQL of which no generate span tells gives both stages; the caller
    drops the generated one when the SQL is known already.
    """
    attributes = node.span.attributes
    kind = attributes[own.STAGE]
    draft = StageDraft(
        kind=kind,
        name=str(attributes.get(own.STAGE_NAME) or ""),
        nodes=[node],
        start_ns=node.span.start_ns,
        end_ns=node.span.end_ns,
        error=span_error(node.span),
    )
    if kind == "execute":
        return _executed(node, draft)
    if kind == "generate":
        draft.output = sql_of(attributes)
    if draft.output is None:
        draft.output = _output(attributes.get(own.OUTPUT), kind)
    if kind == "generate" and draft.output is None:
        draft.output = _sql_at_or_below(node)
    if draft.output is None and draft.error is None:
        draft.note("output", "not captured", f"the span has no {own.OUTPUT}")
    elif kind == "answer" and (is_masked(draft.output) or is_partly_masked(draft.output)):
        draft.note("output", "masked", masked_content(draft.output))
    return [draft]


def _executed(node: Node, draft: StageDraft) -> list[StageDraft]:
    attributes = node.span.attributes
    draft.output = _output(attributes.get(own.OUTPUT), "execute")
    draft.sql = _sql_at_or_below(node)
    for below in node.walk():
        # Another statement below is an execution of its own: see `stages._below_tagged`.
        sql = sql_of(below.span.attributes)
        if below is not node and sql and is_told_by(sql, draft.sql or ""):
            draft.nodes.append(below)
            draft.error = draft.error or span_error(below.span)
    _read_rows(attributes, draft)
    if draft.sql is None:
        return [draft]
    generated = StageDraft(
        kind="generate",
        output=draft.sql,
        nodes=[node],
        start_ns=draft.start_ns,
        end_ns=draft.start_ns,
        implied=True,
    )
    return [generated, draft]


def _read_rows(attributes: Any, draft: StageDraft) -> None:
    read = recorded_rows(attributes, draft.sql or "")
    if read is None:
        if draft.error is None:
            draft.note("rows", "not captured", f"the span has no {own.ROWS}")
        return
    draft.rows, draft.positional = read.rows, read.positional
    if read.state not in ("present", "empty"):
        draft.note("rows", read.state, read.why)


def _sql_at_or_below(node: Node) -> str | None:
    """Give the statement of the span, else the first one of the spans below it."""
    own_sql = sql_of(node.span.attributes)
    if own_sql:
        return own_sql
    for below in node.walk():
        sql = sql_of(below.span.attributes)
        if sql:
            return sql
    return None


def _output(value: Any, kind: str) -> Any:
    """Give an output: text, except that a JSON list or object is read where text isn't meant."""
    if isinstance(value, str) and kind not in ("generate", "answer") and value[:1] in ("[", "{"):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value
