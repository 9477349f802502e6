"""Rows written as text: CSV, text tables, lines of tuples."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.content import MISSING, loads
from dbagenteval.traces.pyliteral import read_literal

__all__ = ["Table", "names_in_statement", "read_table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Cells read from a text; `note` is what else the text says."""

    rows: list[Any]
    columns: list[str] | None
    note: str = ""


_RULE = re.compile(r"^[\s|+:=-]*[-=]{2,}[\s|+:=-]*$")
_BOX = str.maketrans({"│": "|", "┃": "|", "║": "|"})
_BOX_RULE = re.compile(r"^[\s┌┬┐├┼┤└┴┘─━═╞╪╡╭╮╰╯┏┓┗┛┳┻╇┡┩]+$")
_COUNT = re.compile(r"^\(?\d+ rows?(?: in set)?\)?(?:\s*\([\d.]+ sec\))?\.?$", re.IGNORECASE)
_SPACES = re.compile(r"\s{2,}|\t")
_NAME = re.compile(r"[\w$]+(?:\.[\w$]+)?$")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*$")
_LITERAL = re.compile(r"'(?:[^']|'')*'")
# What servers call a column without a name.
_MADE_UP = re.compile(
    r"(?:\?column\?|_?col_?\d+|f\d+_|expr\$?\d+|_c\d+|\(no column name\))$", re.IGNORECASE
)
_EXPRESSION = re.compile(r"[\w.$]+\(.*\)$|\?column\?$", re.DOTALL)


def read_table(text: str, raw: str, sql: str) -> Table | None:
    """Read a text of several lines as a table, or give None.

    Args:
        text: The text without blank ends.
        raw: The text as sent.
        sql: The statement that was run, or empty.
    """
    for read in (_tuple_lines, _json_lines, _ruled, _data_frame):
        table = read(text)
        if table is not None:
            return table
    return _csv(raw, sql) or _listed_in_prose(text)


def _tuple_lines(text: str) -> Table | None:
    """Read lines that are Python tuples or dicts each; a line of names may come first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if line[0] in "({["), None)
    if first is None or first > 1:
        return None
    rows: list[Any] = []
    for index, line in enumerate(lines[first:], first):
        value = read_literal(line) if line[0] in "({[" else MISSING
        if not isinstance(value, (tuple, dict, list)):
            if not rows or index < len(lines) - 2:
                return None
            return _table_of(rows, lines[:first], lines[index:])
        rows.append(value)
    return _table_of(rows, lines[:first], []) if rows else None


def _table_of(rows: list[Any], before: list[str], after: list[str]) -> Table:
    if len(rows) == 1 and isinstance(rows[0], list) and rows[0] and _are_rows(rows[0]):
        return Table(rows[0], None, "\n".join(before + after))
    return Table(rows, _header(before), "\n".join(after))


def _are_rows(value: list[Any]) -> bool:
    return all(isinstance(row, (tuple, list, dict)) for row in value)


def _header(lines: list[str]) -> list[str] | None:
    if not lines:
        return None
    names = [name.strip() for name in re.split(r"[|,\t]", lines[0])]
    return names if all(names) else None


def _json_lines(text: str) -> Table | None:
    lines = text.splitlines()
    if len(lines) < 2 or not text.startswith("{"):
        return None
    rows = [loads(line) for line in lines if line.strip()]
    return Table(rows, None) if all(isinstance(row, dict) for row in rows) else None


def _ruled(text: str) -> Table | None:
    """Read a table whose header stands above a rule: Markdown, psql, DuckDB, tabulate."""
    lines = [line.translate(_BOX) for line in text.splitlines()]
    rule = next(
        (i for i, line in enumerate(lines) if i and (_RULE.match(line) or _is_box_rule(line))), None
    )
    if rule is None:
        return None
    head = rule - 1
    if not lines[head].strip() or ("|" not in lines[head] and not _SPACES.search(lines[rule])):
        return _one_column(lines, rule)
    if "|" not in lines[head]:
        return None
    columns = _cells(lines[head])
    if "┌" in text and head > 1 and _is_type_line(columns):  # DuckDB: types below the names
        columns = _cells(lines[head - 1])
    rows, note = [], []
    for line in lines[rule + 1 :]:
        if not line.strip() or _RULE.match(line) or _is_box_rule(line):
            continue
        cells = _cells(line) if "|" in line else []
        if len(cells) == len(columns):
            rows.append([_cell(cell) for cell in cells])
        elif not _COUNT.match(line.strip()):
            note.append(line.strip())
    return Table(rows, columns, "\n".join(note))


def _one_column(lines: list[str], rule: int) -> Table | None:
    name = lines[rule - 1].strip()
    if not name or not set(lines[rule].strip()) <= {"-"}:
        return None
    body = [line.strip() for line in lines[rule + 1 :] if line.strip()]
    rows = [[_cell(line)] for line in body if not _COUNT.match(line)]
    return Table(rows, [name])


def _is_box_rule(line: str) -> bool:
    return bool(line.strip()) and _BOX_RULE.match(line) is not None


def _is_type_line(cells: list[str]) -> bool:
    return all(re.fullmatch(r"[a-z][a-z0-9]*(?:\(.*\))?(?:\[\])?", cell) for cell in cells)


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner.removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _cell(text: str) -> Any:
    return None if text in ("NULL", "null", "None", "<NA>", "NaN") else text


_FRAME_SIZE = re.compile(r"^\[(\d+) rows x \d+ columns\]$")


def _data_frame(text: str, raw: str = "") -> Table | None:
    """Read a pandas frame as it prints itself: names, then an index and cells on each line."""
    lines = [line for line in (raw or text).splitlines() if line.strip()]
    if len(lines) < 2 or not re.match(r"0\s", lines[1].lstrip()):
        return None
    columns = [name for name in _SPACES.split(lines[0].strip()) if name]
    rows: list[Any] = []
    note = ""
    for line in lines[1:]:
        size = _FRAME_SIZE.match(line.strip())
        cells = _SPACES.split(line.strip())
        if size is not None:
            note = "" if int(size.group(1)) == len(rows) else f"truncated: {line.strip()}"
        elif set(line.strip()) <= {".", " "}:
            note = "truncated: the frame prints no more"
        elif len(cells) == len(columns) + 1 and cells[0].isdigit():
            rows.append([_cell(cell) for cell in cells[1:]])
        else:
            return None
    return Table(rows, columns, note)


def _csv(raw: str, sql: str) -> Table | None:
    """Read CSV up to its first blank line; what follows is a note."""
    body, _, note = raw.lstrip("\n").replace("\r\n", "\n").partition("\n\n")
    first = body.split("\n", 1)[0]
    delimiter = next((mark for mark in (",", "\t", ";", "|") if mark in first), ",")
    try:
        records = list(csv.reader(io.StringIO(body.rstrip("\n") + "\n"), delimiter=delimiter))
    except csv.Error:
        return None
    records = [record for record in records if record]
    while len(records) > 1 and len(records[-1]) != len(records[0]):
        tail = records.pop()
        # A last line with too few cells broke off, unless it counts the rows.
        mark = "" if _COUNT.match(delimiter.join(tail).strip()) else "truncated row: "
        note = f"{mark}{delimiter.join(tail)}\n{note}"
    if not records or any(len(record) != len(records[0]) for record in records):
        return None
    header = [name.strip() for name in records[0]]
    if not _is_header(header, sql, is_csv_file="\r\n" in raw):
        return None
    return Table([[_csv_cell(cell) for cell in row] for row in records[1:]], header, note.strip())


def _csv_cell(text: str) -> Any:
    # CSV can't tell NULL from an empty text; an empty cell is what writers give for NULL.
    return None if text == "" else text


def _is_header(names: list[str], sql: str, *, is_csv_file: bool) -> bool:
    """True if a first line is one of column names, as the statement shows.

    A value taken for a header would make one row too few, so in doubt it is none.
    """
    if not all(name and len(name) < 200 for name in names) or len(set(names)) != len(names):
        return False
    if any(_NUMBER.match(name) for name in names):
        return False
    looks = all(_NAME.match(name) or _EXPRESSION.match(name) for name in names)
    if not sql:
        return looks and (is_csv_file or len(names) > 1)
    known = names_in_statement(names, sql)
    if len(names) == 1:
        return known == 1 or (is_csv_file and looks and "*" in sql)
    return known == len(names) or (looks and (known > 0 or "*" in sql))


def names_in_statement(names: list[Any], sql: str) -> int:
    """Count the names that stand in a statement outside its literals, or that a server makes up."""
    outside = _squeezed(_LITERAL.sub(" ", sql))
    found = 0
    for name in names:
        bare = _squeezed(_LITERAL.sub("", name)) if isinstance(name, str) else ""
        if bare and (bare in outside or _MADE_UP.match(name)):
            found += 1
    return found


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\"`\[\]]+", "", text).lower()


def _listed_in_prose(text: str) -> Table | None:
    """Read a list that stands after a short introduction such as `Result:`."""
    start = min((at for mark in ("[", "{") if (at := text.find(mark)) >= 0), default=-1)
    if start < 0 or start > 120 or "\n" in text[:start].strip():
        return None
    end = max(text.rfind("]"), text.rfind("}"), text.rfind(")"))
    body = text[start : end + 1]
    value = loads(body)
    value = read_literal(body) if value is MISSING else value
    if not isinstance(value, list):
        return None
    return Table(value, None, f"{text[:start]} {text[end + 1 :]}".strip())
