"""Result rows from what a span or a tool recorded: the ladder of forms they come in."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dbagenteval.traces.content import MISSING, cut_mark, is_masked, is_partly_masked, loads
from dbagenteval.traces.pyliteral import read_literal
from dbagenteval.traces.resttables import RestTable, rest_table
from dbagenteval.traces.rowtext import Table, names_in_statement, read_table
from dbagenteval.traces.trace import Rows

__all__ = ["ReadRows", "read_rows"]

_ROWS_KEYS = ("rows", "data", "results", "result", "records", "items", "output", "values")
_COLUMNS_KEYS = ("columns", "col_keys", "column_names", "headers", "header", "fields", "schema")
_CUT_KEYS = ("truncated", "is_truncated", "has_more", "hasMore", "more_rows", "partial")
_TOTAL_KEYS = ("total_rows", "row_count", "rowcount", "total", "rowCount", "num_rows", "count")
_NOTE_KEYS = ("note", "notice", "message", "warning", "info")
# An object with one of these tells about a result and is no row.
_STATUS_KEYS = frozenset(
    {"status", "message", "error", "success", "detail", "affected_rows", "rows_affected"}
) | frozenset(_TOTAL_KEYS[:4])
_EMPTY = re.compile(
    r"^\W*(?:no (?:rows?|results?|data|records?)(?: (?:were )?(?:found|returned|match\w*))?"
    r"|(?:the )?query (?:was )?(?:executed|returned|ran|succe\w+)[^.\n]*(?:\.\s*)?"
    r"(?:no (?:rows?|results?|data|records?)[^\n]*|0 rows[^\n]*)"
    r"|0 rows?(?: (?:returned|found))?|empty(?: (?:result|set))*(?: set)?(?: \([\d.]+ sec\))?"
    r"|(?:the )?(?:query )?result(?: set)? is empty|\(0 rows\))\W*$",
    re.IGNORECASE,
)
_CUT_TEXT = re.compile(
    r"truncated|\b(?:more|additional|other) rows?\b|rows? (?:omitted|not shown)"
    r"|(?:showing|displaying|first|limited to) (?:the )?(?:first )?\d+ (?:rows?|of)\b"
    r"|\.\.\. ?\(?\d+ more|\[\.\.\.\]",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_LONG_NUMBER = re.compile(r"\d[\d.]{16,}")
_FLOAT_CHARS = 16
_MAX_QUOTED = 80


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


def read_rows(value: Any, sql: str = "") -> ReadRows:
    """Read rows from what a tool returned.

    Args:
        value: A plain value or a text: JSON (objects, lists, a table with columns), a Python repr,
            CSV, a Markdown or other text table, lines of tuples, or a sentence that says that
            there are none.
        sql: The statement, whose columns tell a one-column CSV from prose.
    """
    if value is None:
        return ReadRows(None, "not captured", "the tool's result is not in the spans")
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode(errors="replace")
        return _unless_masked(_from_text(text, sql))
    return _unless_masked(_from_value(value, sql))


def _unless_masked(read: ReadRows) -> ReadRows:
    """Take rows for masked or cut where a cell says that it is not what the database gave."""
    if read.state != "present":
        return read
    texts = [cell for row in read.rows or () for cell in row.values() if type(cell) is str]
    together = "\n".join(texts)  # no mark goes over a line, so one look tells of all cells
    if not is_partly_masked(together) and "truncated" not in together.lower():
        return read
    for cell in texts:
        if is_partly_masked(cell):
            why = f"a redaction rule hid cells: {cell:.80}"
            return ReadRows(read.rows, "masked", why, read.positional)
        if "truncated" in cell.lower() and cut_mark(cell):
            return ReadRows(read.rows, "cut", f"a cell is cut: {cell[-80:]}", read.positional)
    return read


def _from_text(text: str, sql: str) -> ReadRows:
    stripped = text.strip()
    if is_masked(stripped):
        return ReadRows(None, "masked", stripped)
    if not stripped or _EMPTY.match(stripped):
        return ReadRows([], "empty")
    # orjson gives big numbers as floats, which loses digits that a comparison needs.
    decoded = _json_exact(stripped) if _LONG_NUMBER.search(stripped) else loads(stripped)
    if decoded is MISSING and stripped[0] in "[({":
        decoded = read_literal(stripped)
    if decoded is not MISSING and not isinstance(decoded, str):
        return _from_value(decoded, sql)
    if isinstance(decoded, str) and decoded != text:
        return _from_text(decoded, sql)
    fenced = _FENCED.findall(stripped) if "```" in stripped else []
    if len(fenced) == 1:
        return _from_text(fenced[0], sql)
    table = read_table(stripped, text, sql)
    if table is not None:
        return _table(table)
    return _unreadable(stripped)


def _json_exact(text: str) -> Any:
    """Decode JSON with integers and decimals as exact as they were written."""
    try:
        return json.loads(text, parse_float=_exact)
    except (ValueError, RecursionError):
        return MISSING


def _exact(number: str) -> float | Decimal:
    return float(number) if len(number) <= _FLOAT_CHARS else Decimal(number)


def _unreadable(text: str) -> ReadRows:
    if text[0] in "[({":
        partial = _salvaged(text)
        why = f"the text ends within a value after {len(text)} characters"
        if partial:
            rows = _tabular(partial, None)
            return ReadRows(rows.rows, "cut", why, rows.positional)
        if _is_open_ended(text):
            return ReadRows(None, "cut", why)
    return ReadRows(None, "unparseable", f"no known form of rows: {text[:_MAX_QUOTED]!r}")


def _is_open_ended(text: str) -> bool:
    """True if the text has more opening than closing brackets, as a cut one does."""
    opened = text.count("[") + text.count("{") + text.count("(")
    return opened > text.count("]") + text.count("}") + text.count(")")


def _salvaged(text: str) -> list[Any]:
    """Give the whole rows at the head of a list that was cut."""
    for closing in ("}", ")", "]"):
        end = text.rfind(closing + ",")
        if text[0] == "[" and end > 0:
            head = text[: end + 1] + "]"
            value = loads(head)
            value = read_literal(head) if value is MISSING else value
            if isinstance(value, list):
                return value
    return []


def _table(table: Table) -> ReadRows:
    read = _tabular(table.rows, table.columns)
    if table.note and _CUT_TEXT.search(table.note):
        return ReadRows(read.rows, "cut", f"the tool says: {table.note[:200]}", read.positional)
    return read


def _from_value(value: Any, sql: str) -> ReadRows:
    if isinstance(value, dict):
        return _from_object(value, sql)
    if isinstance(value, tuple):
        value = list(value) if value and isinstance(value[0], (tuple, list, dict)) else [value]
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return _from_strings(value, sql)
        head = _header_row(value, sql)
        return _tabular(value[1:], head) if head else _tabular(value, None)
    if isinstance(value, (bool, int, float)):
        return ReadRows([{"column_1": value}], "present", positional=True)
    return ReadRows(None, "unparseable", f"no known form of rows: {value!r}"[:_MAX_QUOTED])


def _header_row(rows: list[Any], sql: str) -> list[str] | None:
    """Give the first row if it holds the column names of the statement, as some tools send it."""
    first = rows[0] if rows else None
    if not sql or not isinstance(first, (list, tuple)) or not first:
        return None
    if not all(isinstance(cell, str) for cell in first) or len(set(first)) != len(first):
        return None
    return list(first) if names_in_statement(list(first), sql) == len(first) else None


def _from_strings(lines: list[str], sql: str) -> ReadRows:
    """Read a list of texts, each a row in itself."""
    read = read_table("\n".join(lines), "\n".join(lines), sql)
    if read is not None and read.columns is None:
        return _table(read)
    return ReadRows([{"column_1": line} for line in lines], "present", positional=True)


def _from_object(value: dict[str, Any], sql: str) -> ReadRows:
    sent = rest_table(value)
    if sent is not None:
        return _of_rest(sent)
    columns = next((_names(value[key]) for key in _COLUMNS_KEYS if key in value), None)
    for key in _ROWS_KEYS:
        held = value.get(key)
        if isinstance(held, (list, tuple)):
            read = _tabular(list(held), columns)
        elif isinstance(held, (dict, str)) and (key in ("result", "output", "data") or held):
            read = read_rows(held, sql)
            if read.state == "unparseable":
                continue
        else:
            continue
        return _marked_cut(value, read)
    lists = [held for held in value.values() if isinstance(held, list)]
    if columns is None and lists and len(lists) == len(value) and _equal_lengths(lists):
        # Columns side by side, as pandas writes them.
        return _tabular([list(row) for row in zip(*lists)], list(value))  # noqa: B905 - equal
    if value and all(isinstance(held, dict) and "0" in held for held in value.values()):
        # Cells by column and row number, as pandas writes JSON.
        columns_of = list(value.values())
        return _tabular(
            [[column.get(key) for column in columns_of] for key in columns_of[0]], list(value)
        )
    if value and not any(isinstance(cell, (dict, list)) for cell in value.values()):
        if value.keys() & _STATUS_KEYS:
            return ReadRows(None, "unparseable", f"the result tells of no rows: {value!r}"[:120])
        return _tabular([value], None)
    return ReadRows(None, "unparseable", f"no known form of rows: {value!r}"[:120])


def _of_rest(sent: RestTable) -> ReadRows:
    if sent.rows is None:
        return ReadRows(None, "unparseable", sent.why)
    read = _tabular(sent.rows, sent.columns)
    return ReadRows(read.rows, "cut", sent.why, read.positional) if sent.why else read


def _marked_cut(holder: dict[str, Any], read: ReadRows) -> ReadRows:
    if read.rows is None or read.state == "cut":
        return read
    why = next(
        (f"the tool says so: {key} is set" for key in _CUT_KEYS if holder.get(key) is True), ""
    )
    for key in _NOTE_KEYS:
        note = holder.get(key)
        if isinstance(note, str) and _CUT_TEXT.search(note):
            why = f"the tool says: {note[:200]}"
    for key in _TOTAL_KEYS:
        total = holder.get(key)
        if isinstance(total, int) and not isinstance(total, bool) and total > len(read.rows):
            why = f"the tool gives {len(read.rows)} of {total} rows ({key})"
    return ReadRows(read.rows, "cut", why, read.positional) if why else read


def _names(columns: Any) -> list[str] | None:
    """Give column names from texts or from objects with a name."""
    if not isinstance(columns, list):
        return None
    if all(isinstance(column, dict) and "name" in column for column in columns):
        return [str(column["name"]) for column in columns]
    return [str(column) for column in columns]


def _equal_lengths(lists: list[list[Any]]) -> bool:
    return len({len(one) for one in lists}) == 1


def _tabular(rows: list[Any], columns: list[str] | None) -> ReadRows:
    if not rows:
        return ReadRows([], "empty")
    if all(isinstance(row, dict) for row in rows):
        named = [{str(key): cell for key, cell in row.items()} for row in rows]
        return ReadRows(named, "present")
    if not any(isinstance(row, (list, tuple, dict)) for row in rows):
        return ReadRows([{"column_1": cell} for cell in rows], "present", positional=True)
    if not all(isinstance(row, (list, tuple)) for row in rows):
        return ReadRows(None, "unparseable", "rows are of several forms")
    width = max(len(row) for row in rows)
    if any(len(row) != width for row in rows):
        return ReadRows(None, "unparseable", "rows have different numbers of cells")
    names = _column_names(columns, width)
    plain = [dict(zip(names, row)) for row in rows]  # noqa: B905 - equal by the check above
    return ReadRows(plain, "present", positional=columns is None or len(columns) != width)


def _column_names(columns: list[str] | None, width: int) -> list[str]:
    """Give unique names: those known, a repeated one with a number, `column_N` if unknown."""
    if columns is None or len(columns) != width:
        return [f"column_{number}" for number in range(1, width + 1)]
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names
