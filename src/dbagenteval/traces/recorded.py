"""Rows that the agent or a row-recording instrumentation put on a span itself."""

from __future__ import annotations

from typing import Any

from dbagenteval.otlp import Attributes
from dbagenteval.traces.content import plain
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
    recorded = attributes[own.ROWS]
    if isinstance(recorded, str) and not recorded.strip():
        # An attribute that was never filled is no empty result, which is `[]`.
        return ReadRows(None, "not captured", f"{own.ROWS} is empty text; no rows are `[]`")
    read = read_rows(recorded, sql)
    if read.state == "empty" and not _is_empty_result(recorded):
        why = f"{own.ROWS} says in another way than `[]` that there are none: {recorded!r:.80}"
        return ReadRows(None, "unparseable", why)
    if attributes.get(own.ROWS_TRUNCATED) in _TRUE:
        why = f"not all rows were recorded: {own.ROWS_TRUNCATED} is set"
        return ReadRows(read.rows, "cut", why, read.positional)
    if attributes.get(own.ROWS_REDACTED) in _TRUE:
        why = f"cells were hidden while recording: {own.ROWS_REDACTED} is set"
        return ReadRows(read.rows, "masked", why, read.positional)
    return read


def _is_empty_result(recorded: Any) -> bool:
    """True for `[]` and `{"columns": …, "rows": []}`: who writes our attribute can say it so."""
    value = plain(recorded)
    if isinstance(value, dict):
        value = value.get("rows")
    return isinstance(value, (list, tuple)) and not value
