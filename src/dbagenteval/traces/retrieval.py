"""Retrieve stages: schema tools, retrievers, and queries of the database's catalog."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import text_of
from dbagenteval.traces.conventions.convention import DB, LLM, RETRIEVER
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.resultrows import read_result
from dbagenteval.traces.rows import ReadRows
from dbagenteval.traces.sqltext import catalog_tables, is_catalog_query, is_connection_noise
from dbagenteval.traces.toolkinds import SCHEMA, asked_tables
from dbagenteval.traces.toolresult import error_in_text, unwrap
from dbagenteval.traces.turnreading import Placed, TurnReading, draft_of, place_of
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use

__all__ = ["looked_up", "retrieved"]


def looked_up(use: Use, reading: TurnReading) -> StageDraft:
    """Make a retrieve stage: the tables asked about, or those that were listed."""
    one = use.source or use.writer
    draft = draft_of("retrieve", one)
    for found in _catalog_spans(use, reading):
        draft.nodes.append(found.node)
    names = asked_tables(use.arguments)
    for value, is_error in use.results:
        if names:
            draft.error = draft.error or _told_error(value, is_error)
            continue
        rows, error = read_result(value, is_error, "", reading.limit)
        draft.error = draft.error or error
        names = _listed(value, rows)
    if use.source is not None:
        draft.error = draft.error or span_error(use.source.node.span)
    draft.output = names
    if not names and draft.error is None:
        told = [use.arguments, *(value for value, _ in use.results)]
        if all(value is None for value in told):
            draft.note("output", "not captured", reading.missing("rows"))
        else:
            draft.note("output", "unparseable", f"{use.name} names no tables that can be read")
    return draft


def _told_error(value: Any, is_error: bool | None) -> str | None:
    """Give the error that a schema tool reports; the schema itself need not be read."""
    content, error = unwrap(value)
    if error is None and (is_error or (isinstance(content, str) and error_in_text(content))):
        return text_of(content)
    return error


def _catalog_spans(use: Use, reading: TurnReading) -> list[Facts]:
    """Give the database spans below a schema tool, or between its call and the next model call."""
    spans = [one for one in reading.turn.facts if one.role == DB]
    if use.source is not None:
        return [one for one in spans if use.source.node in one.node.ancestors]
    starts = [one.node.span.start_ns for one in reading.turn.facts if one.role == LLM]
    until = min((start for start in starts if start >= use.place[0]), default=None)
    return [
        one
        for one in spans
        if one.sql
        and is_catalog_query(one.sql)
        and use.place[0] <= one.node.span.start_ns
        and (until is None or one.node.span.start_ns < until)
    ]


def _reads_catalog(sql: str) -> bool:
    return is_catalog_query(sql) and not is_connection_noise(sql)


_LISTED_KEYS = ("name", "table_name", "tablename", "table", "TABLE_NAME", "Name")


def _listed(value: Any, rows: ReadRows) -> list[str]:
    """Give the tables that a tool listed: rows with a name, or names with commas."""
    content, _ = unwrap(value)
    if isinstance(content, dict):
        content = next((held for held in content.values() if isinstance(held, list)), content)
    if isinstance(content, list) and all(isinstance(item, str) for item in content):
        return [str(item) for item in content]
    if (
        isinstance(content, str)
        and "\n" not in content
        and "{" not in content
        and "(" not in content
    ):
        return [name for part in content.split(",") if (name := part.strip())]
    names: list[str] = []
    for row in rows.rows or ():
        cell: Any = next((row[key] for key in _LISTED_KEYS if row.get(key)), None)
        if cell is None and len(row) == 1:
            cell = next(iter(row.values()))
        if isinstance(cell, str):
            names.append(cell)
    return names


def retrieved(rest: Turn, reading: TurnReading) -> Placed:
    """Make retrieve stages of retrievers and of catalog queries that no schema tool ran."""
    placed: Placed = []
    schema_tools = {id(u.source.node) for u in reading.uses if u.kind == SCHEMA and u.source}
    messages_tell = any(use.kind == SCHEMA and use.source is None for use in reading.uses)
    open_draft: StageDraft | None = None
    for one in rest.facts:
        if one.role == RETRIEVER:
            placed.append((place_of(one), draft_of("retrieve", one, output=one.documents)))
        elif one.role == DB and one.sql and _reads_catalog(one.sql):
            if any(id(above) in schema_tools for above in one.node.ancestors) or messages_tell:
                continue
            tables = catalog_tables(one.sql)
            if open_draft is None:
                open_draft = draft_of("retrieve", one, output=tables)
                placed.append((place_of(one), open_draft))
            else:
                open_draft.nodes.append(one.node)
                open_draft.end_ns = one.node.span.end_ns
                open_draft.output += [name for name in tables if name not in open_draft.output]
        elif one.role == LLM:
            open_draft = None
    for _, draft in placed:
        if not draft.output:
            draft.note("output", "not captured", reading.missing("rows"))
    return placed
