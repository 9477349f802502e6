"""Result rows from what a span or a tool recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from dbagenteval.traces.trace import Rows

__all__ = ["ReadRows", "read_rows"]


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Rows as far as they could be read.

    Args:
        rows: The rows, or None if nothing could be read.
        state: As in `Observed`: present, empty, cut, masked, unparseable or not captured.
        why: For a person.
        positional: True if there were no column names; they are `column_1`, `column_2`, … then.
    """

    rows: Rows | None
    state: str
    why: str = ""
    positional: bool = False


def read_rows(value: Any) -> ReadRows:
    """Read rows from a JSON text or a plain value.

    Args:
        value: A list of objects, `{"columns": […], "rows": [[…]]}`, or either as JSON text.
    """
    if isinstance(value, (str, bytes)):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return ReadRows(None, "unparseable", f"rows are not JSON: {str(value)[:80]!r}")
    if isinstance(value, dict) and isinstance(value.get("rows"), list):
        return _tabular(value["rows"], value.get("columns"))
    if isinstance(value, list):
        return _tabular(value, None)
    return ReadRows(
        None, "unparseable", f"rows are neither a list nor a table: {str(value)[:80]!r}"
    )


def _tabular(rows: list[Any], columns: Any) -> ReadRows:
    if not rows:
        return ReadRows([], "empty")
    if all(isinstance(row, dict) for row in rows):
        named = [{str(key): cell for key, cell in row.items()} for row in rows]
        return ReadRows(named, "present")
    if not all(isinstance(row, (list, tuple)) for row in rows):
        return ReadRows(None, "unparseable", f"a row is neither object nor list: {rows[0]!r}"[:120])
    width = max(len(row) for row in rows)
    if any(len(row) != width for row in rows):
        return ReadRows(None, "unparseable", "rows have different numbers of cells")
    names = column_names(columns, width)
    plain = [dict(zip(names, row)) for row in rows]  # noqa: B905 - equal by the check above
    return ReadRows(plain, "present", positional=not _fits(columns, width))


def _fits(columns: Any, width: int) -> bool:
    return isinstance(columns, (list, tuple)) and len(columns) == width


def column_names(columns: Any, width: int) -> list[str]:
    """Give unique names: those known, a repeated one with a number, `column_N` if unknown."""
    if not _fits(columns, width):
        return [f"column_{number}" for number in range(1, width + 1)]
    names: list[str] = []
    for column in columns:
        name, number = str(column), 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names
