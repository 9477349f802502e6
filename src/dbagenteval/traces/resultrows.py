"""Rows or error of one use of a tool, from the places that tell of its result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.facts import Facts
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.limits import Limit
from dbagenteval.traces.recorded import recorded_rows
from dbagenteval.traces.rows import ReadRows, read_rows
from dbagenteval.traces.toolresult import error_in_text, unwrap
from dbagenteval.traces.uses import Use

__all__ = ["Outcome", "outcome_of"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an execution gave: rows as far as read, or the error."""

    rows: ReadRows
    error: str | None = None


_RANK = {"present": 0, "empty": 0, "cut": 1, "masked": 2, "unparseable": 3, "not captured": 4}


def outcome_of(use: Use, limit: Limit) -> Outcome:
    """Read rows or error of a use.

    Rows on a database span are the database's own; else the best of what the tool gave counts.
    """
    error = _span_error(use)
    best = _recorded_rows(use.database)
    if best is not None and error is None and best.state in ("present", "empty"):
        return Outcome(best)
    for value, is_error in use.results:
        read, told = read_result(value, is_error, use.sql or "", limit)
        error = error or told
        if best is None or _RANK[read.state] < _RANK[best.state]:
            best = read
    if error is not None:
        return Outcome(ReadRows(None, "not captured", "the statement failed"), error)
    none = ReadRows(None, "not captured", "what the statement gave is in no span")
    return Outcome(_known_cut(use, best) if best else none)


def _span_error(use: Use) -> str | None:
    spans = [one.node.span for one in use.database[-1:]]
    if use.source is not None:
        spans.append(use.source.node.span)
    return next((error for span in spans if (error := span_error(span))), None)


def _recorded_rows(database: Iterable[Facts]) -> ReadRows | None:
    """Read rows that a row-recording instrumentation put on the database span."""
    for one in database:
        read = recorded_rows(one.node.span.attributes, one.sql or "")
        if read is not None:
            return read
    return None


def read_result(
    value: Any, is_error: bool | None, sql: str, limit: Limit
) -> tuple[ReadRows, str | None]:
    """Read one result: rows, or the error's text."""
    if value is None:
        return read_rows(None), None
    is_cut = limit.cuts(value)
    content, error = unwrap(value)
    if is_error and error is None:
        error = str(content)
    if error is not None:
        return read_rows(None), error
    read = read_rows(content, sql)
    if read.state == "unparseable" and isinstance(content, str) and error_in_text(content):
        return read_rows(None), content.strip()
    if is_cut and read.state != "masked":
        return ReadRows(read.rows or None, "cut", limit.why, read.positional), None
    return read, None


def _known_cut(use: Use, read: ReadRows) -> ReadRows:
    """Mark rows that a tool is known to cut without a word.

    Agno's `run_sql_query` gives the model at most `limit` rows, 10 by default.
    """
    told = (use.source, use.writer, use.teller)
    is_agno = any(one and one.node.span.scope.name.endswith(".agno") for one in told)
    if read.rows is None or read.state != "present" or not is_agno:
        return read
    if use.name != "run_sql_query" or len(read.rows) != 10:
        return read
    return ReadRows(
        read.rows, "cut", "Agno's run_sql_query gives at most 10 rows by default", read.positional
    )
