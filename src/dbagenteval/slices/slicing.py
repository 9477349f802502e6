"""The smallest data that still shows a failure, as a SQL script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbagenteval.errors import SliceError
from dbagenteval.executors import Executor, read_only_engine
from dbagenteval.rules.dialects import from_system_name
from dbagenteval.slices.reading import read_sample
from dbagenteval.slices.redaction import Redact, Redaction, keepable
from dbagenteval.slices.reflection import read_schema
from dbagenteval.slices.sandbox import Sandbox
from dbagenteval.slices.schema import Row, Schema
from dbagenteval.slices.script import render_script, statements_of
from dbagenteval.slices.shrinking import shrink
from dbagenteval.slices.tables import tables_named
from dbagenteval.traces import Rows

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

__all__ = ["DataSlice", "StillFails", "slice_data"]

StillFails = Callable[[Executor], bool]
"""Says whether some data shows the failure, given what runs SQL on it. The first time it is
asked of all the data that was read."""

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
    """

    tables: tuple[str, ...]
    rows: Mapping[str, Sequence[Row]]
    script: str
    statements: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def row_count(self) -> int:
        """How many rows there are in all tables."""
        return sum(map(len, self.rows.values()))


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
    engine = read_only_engine(database_url)
    try:
        dialect = dialect or from_system_name(engine.dialect.name) or "duckdb"
        schema = _schema_of(engine, statements, dialect)
        sample = read_sample(engine, schema, statements, dialect=dialect, max_rows=_READ_ROWS)
    finally:
        engine.dispose()
    slicer = _Slicer(schema, dialect, still_fails)
    rows, is_minimal = slicer.shrink(sample.rows)
    notes = [f"{name} is large: rows were read by conditions and keys" for name in sample.sampled]
    if not is_minimal:
        notes.append("time ran out before no further row could be removed")
    count = sum(map(len, rows.values()))
    if count > max_rows:
        raise SliceError(f"the failure takes {count} rows to show, more than {max_rows}")
    if not keep_values:
        rows, statements, kept = slicer.redacted(rows, statements, redact)
        notes += [f"{name} is kept as it is: the failure needs its texts" for name in kept]
    named = {name.lower() for _, name in tables_named(statements, dialect)}
    kept = [table.name for table in schema if rows[table.name] or table.name.lower() in named]
    schema = schema.only(kept or [table.name for table in schema])
    return DataSlice(
        tables=tuple(table.name for table in schema),
        rows={table.name: rows[table.name] for table in schema},
        script=render_script(schema, rows, dialect=dialect),
        statements=tuple(statements),
        notes=tuple(notes),
    )


def _schema_of(engine: Engine, statements: Sequence[str], dialect: str) -> Schema:
    """Read the tables named; where none of them exists, which is a failure of its own, all."""
    schema = read_schema(engine, tables_named(statements, dialect))
    if schema.tables:
        return schema
    return Schema(read_schema(engine).tables[:_MAX_TABLES])


_Item = tuple[int, Row]
"""Position of a table in the schema, and one of its rows."""

_Columns = tuple[str, tuple[str, ...]]
"""A table's name and names of columns of it."""


class _Slicer:
    """Asks whether parts of the data fail."""

    def __init__(self, schema: Schema, dialect: str, still_fails: StillFails) -> None:
        self._schema = schema
        self._dialect = dialect
        self._still_fails = still_fails

    def shrink(self, rows: Mapping[str, Sequence[Row]]) -> tuple[dict[str, list[Row]], bool]:
        """Give the rows that are left, and whether none of them can go.

        Raises:
            SliceError: The rows given don't fail.
        """
        items = [(at, row) for at, table in enumerate(self._schema) for row in rows[table.name]]
        items = self._without_orphans(items)
        if not self._fails(items):
            raise SliceError("the failure does not show on a copy of the data")
        kept, is_minimal = shrink(items, self._fails, without_orphans=self._without_orphans)
        return self._by_table(kept), is_minimal

    def _fails(self, items: Sequence[_Item]) -> bool:
        return self._fail(self._by_table(items))

    def _fail(self, rows: Mapping[str, Sequence[Row]], redaction: Redaction | None = None) -> bool:
        sandbox = Sandbox(statements_of(self._schema, rows), dialect=self._dialect)

        def execute(sql: str) -> Rows:
            if redaction is None:
                return sandbox.run(sql)
            return redaction.restored(sandbox.run(redaction.sql(sql)))

        try:
            return self._still_fails(execute)
        finally:
            sandbox.close()

    def redacted(
        self,
        rows: Mapping[str, Sequence[Row]],
        statements: Sequence[str],
        redact: Redact | None,
    ) -> tuple[dict[str, list[Row]], list[str], list[str]]:
        """Give the rows and statements with texts replaced, and the columns that had to stay.

        Raises:
            SliceError: The failure goes away with the values of people.
        """
        kept: list[str] = []
        redaction = self._redaction(rows, statements, redact, kept)
        if redaction is None:
            kept = keepable(self._schema)
            for name in list(kept):
                fewer = [each for each in kept if each != name]
                if self._redaction(rows, statements, redact, fewer) is not None:
                    kept = fewer
            redaction = self._redaction(rows, statements, redact, kept)
        if redaction is None:
            raise SliceError("the failure goes away when personal values are replaced")
        return redaction.rows(rows), [redaction.sql(each) for each in statements], kept

    def _redaction(
        self,
        rows: Mapping[str, Sequence[Row]],
        statements: Sequence[str],
        redact: Redact | None,
        kept: Sequence[str],
    ) -> Redaction | None:
        """Give the redaction that keeps these columns, if the failure is still there then."""
        redaction = Redaction(
            self._schema, rows, statements, dialect=self._dialect, redact=redact, kept=kept
        )
        return redaction if self._fail(redaction.rows(rows), redaction) else None

    def _by_table(self, items: Sequence[_Item]) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {table.name: [] for table in self._schema}
        for at, row in items:
            rows[self._schema.tables[at].name].append(row)
        return rows

    def _without_orphans(self, items: list[_Item]) -> list[_Item]:
        """Take away rows that refer to rows that aren't there, and so on."""
        while True:
            there = self._referred_values(items)
            kept = [item for item in items if self._has_parents(item, there)]
            if len(kept) == len(items):
                return kept
            items = kept

    def _referred_values(self, items: Sequence[_Item]) -> dict[_Columns, set[Row]]:
        """Give the values that rows hold in the columns that foreign keys refer to."""
        rows = self._by_table(items)
        referred = {(key.table, key.referred) for each in self._schema for key in each.foreign_keys}
        found: dict[_Columns, set[Row]] = {}
        for table in self._schema:
            for name, columns in referred:
                if name == table.name:
                    at = table.at(columns)
                    found[name, columns] = {tuple(row[i] for i in at) for row in rows[name]}
        return found

    def _has_parents(self, item: _Item, there: Mapping[_Columns, set[Row]]) -> bool:
        table, row = self._schema.tables[item[0]], item[1]
        for key in table.foreign_keys:
            own = tuple(row[at] for at in table.at(key.columns))
            if None not in own and own not in there[key.table, key.referred]:
                return False
        return True
