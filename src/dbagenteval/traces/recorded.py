"""Rows that the agent or a row-recording instrumentation put on a span itself."""

from __future__ import annotations

from dbagenteval.otlp import Attributes
from dbagenteval.traces.conventions import own
from dbagenteval.traces.rows import ReadRows, read_rows

__all__ = ["recorded_rows"]

_TRUE = (True, "true", "True", 1)


def recorded_rows(attributes: Attributes, sql: str = "") -> ReadRows | None:
    """Read the rows on a span, or give None if it has none.

    Capped and redacted rows are given with a state that makes them no evidence.
    """
    if own.ROWS not in attributes:
        return None
    read = read_rows(attributes[own.ROWS], sql)
    if attributes.get(own.ROWS_TRUNCATED) in _TRUE:
        why = f"not all rows were recorded: {own.ROWS_TRUNCATED} is set"
        return ReadRows(read.rows, "cut", why, read.positional)
    if attributes.get(own.ROWS_REDACTED) in _TRUE:
        why = f"cells were hidden while recording: {own.ROWS_REDACTED} is set"
        return ReadRows(read.rows, "masked", why, read.positional)
    return read
