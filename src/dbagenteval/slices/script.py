"""Tables and rows as one SQL script that SQLite, DuckDB and PostgreSQL all load."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from dbagenteval.slices.schema import Row, Schema, Table

__all__ = ["Rows", "quoted_name", "render_script", "statements_of"]

Rows = Mapping[str, Sequence[Row]]
"""Rows by the name of their table."""

_INT32 = 2**31
_MAX_DIGITS = 38
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


def render_script(schema: Schema, rows: Rows, *, dialect: str) -> str:
    """Write the script: a comment, then for each table its definition and its rows.

    Args:
        schema: The tables, parents first.
        rows: In the order of the schema's columns.
        dialect: In which the statements that run on the data are written; the script says so.

    Returns:
        The same text for the same input, byte for byte.
    """
    lines = [f"-- dialect: {dialect}", *(f"{each};" for each in statements_of(schema, rows))]
    return "\n".join(lines) + "\n"


def statements_of(schema: Schema, rows: Rows) -> Iterator[str]:
    """Give the statements of the script, without comments and semicolons."""
    for table in schema:
        of_table = rows.get(table.name, ())
        types = [
            _type(column.kind, [row[at] for row in of_table])
            for at, column in enumerate(table.columns)
        ]
        yield _definition(table, types, _referred(schema, table))
        yield from _insertions(table, types, of_table)


def _insertions(table: Table, types: list[str], rows: Sequence[Row]) -> Iterator[str]:
    """Give one statement for all rows; one for each where they may refer to each other."""
    written = [
        "(" + ", ".join(map(_literal, row, types)) + ")"
        for row in _self_references_last(table, rows)
    ]
    is_whole = all(key.table != table.name for key in table.foreign_keys)
    for values in [written] if is_whole and written else [[each] for each in written]:
        yield f"INSERT INTO {quoted_name(table.name)} VALUES\n  " + ",\n  ".join(values)


def quoted_name(name: str) -> str:
    """Give a name in double quotes, which keep its case and let it be a keyword."""
    return '"' + name.replace('"', '""') + '"'


def _definition(table: Table, types: list[str], unique: set[tuple[str, ...]]) -> str:
    parts = [
        f"{quoted_name(column.name)} {type_}{' NOT NULL' if column.is_required else ''}"
        for column, type_ in zip(table.columns, types, strict=True)
    ]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({_names(table.primary_key)})")
    parts += [f"UNIQUE ({_names(columns)})" for columns in sorted(unique - {table.primary_key})]
    parts += [
        f"FOREIGN KEY ({_names(key.columns)}) REFERENCES {quoted_name(key.table)} "
        f"({_names(key.referred)})"
        for key in table.foreign_keys
    ]
    return f"CREATE TABLE {quoted_name(table.name)} (\n  " + ",\n  ".join(parts) + "\n)"


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(quoted_name, columns))


def _referred(schema: Schema, table: Table) -> set[tuple[str, ...]]:
    return {key.referred for each in schema for key in each.foreign_keys if key.table == table.name}


def _self_references_last(table: Table, rows: Sequence[Row]) -> Iterator[Row]:
    """Put a row behind the row of the same table that it refers to, else keep the order."""
    keys = [key for key in table.foreign_keys if key.table == table.name]
    todo = list(rows)
    while todo and keys:
        waiting = {
            key: {tuple(row[at] for at in table.at(key.referred)) for row in todo} for key in keys
        }
        free = [row for row in todo if not any(_refers(row, key, table, waiting) for key in keys)]
        if not free:
            break
        yield from free
        todo = [row for row in todo if row not in free]
    yield from todo


def _refers(row: Row, key: Any, table: Table, waiting: Mapping[Any, set[Row]]) -> bool:
    own = tuple(row[at] for at in table.at(key.columns))
    return own in waiting[key] and own != tuple(row[at] for at in table.at(key.referred))


def _type(kind: str, cells: Iterable[Any]) -> str:
    """Choose the type that holds these cells as they are; SQLite's columns may hold anything."""
    values = [cell for cell in cells if cell is not None]
    for choice in _CHOICES.get(kind, ()):
        type_ = choice(values)
        if type_ is not None:
            return type_
    return "TEXT"


def _integer(values: list[Any]) -> str | None:
    if not all(isinstance(value, int) for value in values):
        return None
    if all(-_INT32 <= value < _INT32 for value in values):
        return "INTEGER"
    is_bigint = all(-(2**63) <= value < 2**63 for value in values)
    return "BIGINT" if is_bigint else f"NUMERIC({_MAX_DIGITS}, 0)"


def _number(values: list[Any]) -> str | None:
    """Choose the scale from the values: databases differ in what NUMERIC alone means."""
    if not all(_is_number(value) and _is_finite(value) for value in values):
        return None
    decimals = [Decimal(str(value)).as_tuple() for value in values]
    scale = max((-int(each.exponent) for each in decimals), default=0)
    digits = max((len(each.digits) + int(each.exponent) for each in decimals), default=0) + scale
    if max(digits, scale) > _MAX_DIGITS:
        return None
    return f"NUMERIC({18 if max(digits, scale) <= 18 else _MAX_DIGITS}, {max(scale, 2)})"


def _float(values: list[Any]) -> str | None:
    return "DOUBLE PRECISION" if all(_is_number(value) for value in values) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and value == value  # noqa: PLR0124 not NaN


def _is_finite(value: float | Decimal) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _boolean(values: list[Any]) -> str | None:
    return "BOOLEAN" if all(value in (0, 1) for value in values) else None


def _date(values: list[Any]) -> str | None:
    is_date = all(_DATE.fullmatch(_plain_text(value)) for value in values)
    return "DATE" if is_date else None


def _timestamp(values: list[Any]) -> str | None:
    is_timestamp = all(_TIMESTAMP.fullmatch(_plain_text(value)) for value in values)
    return "TIMESTAMP" if is_timestamp else None


_CHOICES = {
    "integer": (_integer, _float),
    "number": (_number, _float),
    "float": (_float,),
    "boolean": (_boolean, _integer),
    "date": (_date, _timestamp, _integer, _float),
    "timestamp": (_timestamp, _integer, _float),
    "timestamptz": (lambda _values: "TIMESTAMPTZ",),
    "time": (lambda _values: "TIME",),
    "uuid": (lambda _values: "UUID",),
    "json": (lambda _values: "JSON",),
}


def _literal(cell: Any, type_: str) -> str:
    if cell is None:
        return "NULL"
    if type_ == "BOOLEAN":
        return "TRUE" if cell else "FALSE"
    if type_ != "TEXT" and isinstance(cell, (int, float, Decimal)):
        text = format(cell, "f") if isinstance(cell, Decimal) else repr(cell)
        return text if _is_finite(cell) else f"'{text}'"
    return "'" + _plain_text(cell).replace("'", "''") + "'"


def _plain_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.replace("\0", "")  # PostgreSQL's text can't hold it
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return bytes(cell).hex()
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, (list, dict, tuple)):
        return json.dumps(cell, default=str, ensure_ascii=False)
    return str(cell)
