"""Tables and rows as one SQL script that SQLite, DuckDB and PostgreSQL all load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dbagenteval.slices.schema import ForeignKey, Row, Schema, Table
from dbagenteval.slices.types import column_type, literal

__all__ = ["Rows", "quoted_name", "render_script", "statements_of"]

Rows = Mapping[str, Sequence[Row]]
"""Rows by the name of their table."""


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
            column_type(column.kind, [row[at] for row in of_table])
            for at, column in enumerate(table.columns)
        ]
        own_keys = [key for key in table.foreign_keys if key.table == table.name]
        ordered = _in_order(table, own_keys, of_table)
        if ordered is None:  # rows in a circle: DuckDB would load none of them
            keys = tuple(key for key in table.foreign_keys if key not in own_keys)
            table, ordered, own_keys = replace(table, foreign_keys=keys), of_table, []  # noqa: PLW2901
        yield _definition(table, types, _referred(schema, table))
        written = [f"({', '.join(map(literal, row, types))})" for row in ordered]
        # One statement for all rows, unless they refer to each other.
        for values in [[each] for each in written] if own_keys else [written] if written else []:
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


def _in_order(
    table: Table, own_keys: Sequence[ForeignKey], rows: Sequence[Row]
) -> Sequence[Row] | None:
    """Put each row behind the row of the same table that it refers to; None if that can't be."""
    todo, done = list(rows), list[Row]()
    while todo and own_keys:
        waiting = [
            (table.at(key.columns), {_cells(row, table.at(key.referred)) for row in todo})
            for key in own_keys
        ]
        free = [row for row in todo if not any(_cells(row, at) in keys for at, keys in waiting)]
        if not free:
            return None
        done += free
        todo = [row for row in todo if row not in free]
    return [*done, *todo]


def _cells(row: Row, positions: Sequence[int]) -> Row:
    return tuple(row[at] for at in positions)
