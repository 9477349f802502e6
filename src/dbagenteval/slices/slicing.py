"""The smallest data that still shows a failure, as a SQL script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbagenteval.errors import SliceError, first_line
from dbagenteval.executors import read_only_engine
from dbagenteval.rules.query.dialects import from_system_name
from dbagenteval.slices.parts import Slicer, StillFails
from dbagenteval.slices.reading import read_sample
from dbagenteval.slices.redaction import Redact
from dbagenteval.slices.reflection import read_schema
from dbagenteval.slices.schema import Row, Schema
from dbagenteval.slices.script import Rows, render_script
from dbagenteval.slices.tables import tables_named

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

__all__ = ["DataSlice", "Extract", "StillFails", "read_extract", "slice_data", "slice_extract"]

_READ_ROWS = 2_000
_MAX_TABLES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSlice:
    """A few rows of a few tables.

    Args:
        tables: The names of the tables, those that others refer to first.
        rows: By table, in the order of its columns.
        script: Makes the tables and rows on SQLite, DuckDB and PostgreSQL.
        statements: The statements that were given, as they are to be run on the slice: texts
            in them are replaced as those in the rows are.
        notes: For a person: what was cut short.
        shows: For a person: what the rows still show; empty if the caller knows.
    """

    tables: tuple[str, ...]
    rows: Mapping[str, Sequence[Row]]
    script: str
    statements: tuple[str, ...]
    notes: tuple[str, ...] = ()
    shows: str = ""

    @property
    def row_count(self) -> int:
        """How many rows there are in all tables."""
        return sum(map(len, self.rows.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What was read of a database for some statements.

    Args:
        schema: The tables that they name, and those that these refer to.
        rows: By table.
        statements: The agent's SQL and the references'.
        dialect: Of the statements.
        notes: For a person: which tables were read in part.
    """

    schema: Schema
    rows: Rows
    statements: tuple[str, ...]
    dialect: str
    notes: tuple[str, ...] = ()


def slice_data(
    database_url: str,
    statements: Sequence[str],
    still_fails: StillFails,
    *,
    redact: Redact | None = None,
    keep_values: bool = False,
    max_rows: int = 20,
    dialect: str | None = None,
) -> DataSlice:
    """Find few rows that still show a failure.

    The rows that the statements may touch are read, with the rows that they refer to, and are
    taken away again while the failure shows on a copy of what is left.

    Args:
        database_url: A SQLAlchemy URL; the database is only read.
        statements: The agent's SQL and the references'.
        still_fails: Recognises the failure; see `failing`.
        redact: Replaces texts beyond what is replaced anyway, in rows and statements alike.
        keep_values: Replace nothing.
        max_rows: The most rows that the slice may have.
        dialect: Of the statements; None takes the database's.

    Raises:
        SliceError: The failure does not show on a copy, or takes more rows.
        TargetError: The database can't be opened.
    """
    extract = read_extract(database_url, statements, dialect=dialect)
    return slice_extract(
        extract, still_fails, redact=redact, keep_values=keep_values, max_rows=max_rows
    )


def read_extract(
    database_url: str, statements: Sequence[str], *, dialect: str | None = None
) -> Extract:
    """Read what `slice_data` starts from, with the same arguments and errors."""
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 loaded late, as the engine is

    engine = read_only_engine(database_url)
    try:
        dialect = from_system_name(dialect or engine.dialect.name) or "duckdb"
        schema = _schema_of(engine, statements, dialect)
        sample = read_sample(engine, schema, statements, dialect=dialect, max_rows=_READ_ROWS)
    except SQLAlchemyError as error:
        raise SliceError(f"the rows can't be read: {first_line(error)}") from error
    finally:
        engine.dispose()
    return Extract(
        schema=schema,
        rows=sample.rows,
        statements=tuple(statements),
        dialect=dialect,
        notes=tuple(
            f"{name} is large: its rows were read by conditions and keys" for name in sample.in_part
        ),
    )


def _schema_of(engine: Engine, statements: Sequence[str], dialect: str) -> Schema:
    """Read the tables named; where none of them exists, which is a failure of its own, all."""
    schema = read_schema(engine, tables_named(statements, dialect))
    return schema if schema.tables else Schema(read_schema(engine).tables[:_MAX_TABLES])


def slice_extract(
    extract: Extract,
    still_fails: StillFails,
    *,
    redact: Redact | None = None,
    keep_values: bool = False,
    max_rows: int = 20,
) -> DataSlice:
    """Find few of the rows read that still show a failure; see `slice_data`."""
    schema, statements, dialect = extract.schema, extract.statements, extract.dialect
    slicer = Slicer(schema, dialect, still_fails)
    rows, is_minimal = slicer.shrink(extract.rows)
    count = sum(map(len, rows.values()))
    if count > max_rows:
        raise SliceError(f"the failure takes {count} rows to show, more than {max_rows}")
    notes = list(extract.notes)
    if not is_minimal:
        notes.append("time ran out before no further row could be removed")
    if not keep_values:
        redacted = slicer.redacted(rows, statements, redact)
        rows, statements = redacted.rows, redacted.statements
        notes += [f"{name} is kept: the failure needs its texts" for name in redacted.kept]
    schema = _needed(schema, rows, statements, dialect)
    return DataSlice(
        tables=tuple(table.name for table in schema),
        rows={table.name: rows[table.name] for table in schema},
        script=render_script(schema, rows, dialect=dialect),
        statements=statements,
        notes=tuple(notes),
    )


def _needed(schema: Schema, rows: Rows, statements: Sequence[str], dialect: str) -> Schema:
    """Leave out tables that have no rows left and that no statement names."""
    named = {name.lower() for _, name in tables_named(statements, dialect)}
    kept = [table.name for table in schema if rows[table.name] or table.name.lower() in named]
    return schema.only(kept) if kept else schema
