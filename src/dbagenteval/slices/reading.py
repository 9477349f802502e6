"""Read from a database the rows that statements may touch, within a bound for each table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dbagenteval.slices.endless_times import read_as_text
from dbagenteval.slices.sample import Sample, values_of
from dbagenteval.slices.schema import ForeignKey, Row, Schema, Table
from dbagenteval.slices.tables import Link, conditions_on, links_between

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection, Engine

__all__ = ["read_sample"]

_SECONDS = 30
_KEYS_AT_ONCE = 500


def read_sample(
    engine: Engine, schema: Schema, statements: Sequence[str], *, dialect: str, max_rows: int
) -> Sample:
    """Read rows of the tables that statements name, and the rows that those refer to.

    A table with at most `max_rows` rows is read whole. Of a larger one come rows that meet the
    statements' conditions and some that don't, and rows of other tables with all rows that belong
    to them: a part of a table on which a join gives what it gives on the whole.

    Args:
        engine: The database.
        schema: The tables named, with those that they refer to.
        statements: What is to run on the rows.
        dialect: Of the statements.
        max_rows: Of one table and one look at it.
    """
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET statement_timeout = {_SECONDS * 1000}")
            read_as_text(connection)
        links = links_between(schema, statements, dialect)
        reader = _Reader(connection, Sample(schema), links, max_rows)
        reader.read_small()
        reader.read_large(
            [(table, conditions_on(table, statements, dialect)) for table in schema], dialect
        )
        reader.complete()
        return reader.sample


class _Reader:
    def __init__(
        self, connection: Connection, sample: Sample, links: Sequence[Link], max_rows: int
    ) -> None:
        self.sample = sample
        self._connection = connection
        self._links = links
        self._max_rows = max_rows

    def read_small(self) -> None:
        """Read whole the tables that are small enough."""
        for table in self.sample.schema:
            rows = self._select(table, limit=self._max_rows + 1)
            if len(rows) <= self._max_rows:
                self.sample.add_whole(table, rows)

    def read_large(self, conditions: Iterable[tuple[Table, list[Any]]], dialect: str) -> None:
        """Read rows of the other tables, starting from those that conditions name.

        What few rows meet is followed first, since a failure may hang on just these.
        """
        if all(map(self.sample.is_whole, self.sample.schema)):
            return
        starts = [
            (table, rows)
            for table, on_table in conditions
            for condition in on_table
            for rows in self._meeting(table, condition.sql(dialect=dialect))
        ]
        for table, rows in sorted(starts, key=lambda start: len(start[1])):
            self._spread(table, rows)
        for table in self.sample.schema:
            if self.sample.is_empty(table):
                self._spread(table, self._select(table, limit=self._max_rows // 8))

    def _meeting(self, table: Table, condition: str) -> Iterator[list[Row]]:
        """Give rows that meet a condition, and fewer that don't."""
        from sqlalchemy import literal_column, not_  # noqa: PLC0415

        text: Any = literal_column(f"({condition})")
        yield self._select(table, text, limit=self._max_rows // 8)
        yield self._select(table, not_(text), limit=self._max_rows // 32)

    def _spread(self, table: Table, rows: list[Row]) -> None:
        """Add rows, and of large tables all rows that belong to them, through others as well."""
        if not self.sample.is_whole(table):
            self.sample.add(table, rows)
        reached, edge = {table.name}, [(table, rows)]
        while edge:
            table, rows = edge.pop(0)
            for other, its_columns, columns in self._neighbours(table):
                if other.name not in reached and not self.sample.is_whole(other):
                    reached.add(other.name)
                    found = self._by_keys(other, its_columns, values_of(rows, table, columns))
                    self.sample.add(other, found)
                    edge.append((other, found))

    def _neighbours(self, table: Table) -> Iterator[tuple[Table, tuple[str, ...], tuple[str, ...]]]:
        """Give the tables that are linked to one, with their columns and its."""
        for link in self._links:
            for (name, columns), (other, its) in (link, link[::-1]):
                found = self.sample.schema.get(other)
                if name == table.name and found is not None:
                    yield found, its, columns

    def complete(self) -> None:
        """Read the rows that foreign keys refer to, children's tables before their parents'."""
        for table in reversed(self.sample.schema.tables):
            for key in table.foreign_keys:
                self._add_parents(table, key)

    def _add_parents(self, table: Table, key: ForeignKey) -> None:
        parent = self.sample.schema.get(key.table)
        while parent is not None and not self.sample.is_whole(parent):
            there = set(self.sample.values(parent, key.referred))
            lacking = [each for each in self.sample.values(table, key.columns) if each not in there]
            new = self.sample.add(parent, self._by_keys(parent, key.referred, lacking))
            # Rows of a table that refers to itself may refer to further ones.
            if parent is not table or not new:
                return

    def _by_keys(self, table: Table, columns: tuple[str, ...], keys: Sequence[Row]) -> list[Row]:
        """Give the rows with such keys, all or as many as may be read at once."""
        from sqlalchemy import column, tuple_  # noqa: PLC0415

        names: list[Any] = [column(name) for name in columns]
        rows: list[Row] = []
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[start : start + _KEYS_AT_ONCE]
            if len(names) == 1:
                condition: Any = names[0].in_([key[0] for key in some])
            else:
                condition = tuple_(*names).in_(some)
            rows += self._select(table, condition, limit=self._max_rows - len(rows))
            if len(rows) >= self._max_rows:
                break
        return rows

    def _select(
        self, table: Table, condition: ColumnElement[bool] | None = None, *, limit: int
    ) -> list[Row]:
        from sqlalchemy import column, select  # noqa: PLC0415
        from sqlalchemy import table as from_table  # noqa: PLC0415

        columns: list[Any] = [column(each.name) for each in table.columns]
        query = select(*columns).select_from(from_table(table.name, schema=table.namespace))
        if condition is not None:
            query = query.where(condition)
        query = query.order_by(*(column(name) for name in table.primary_key)).limit(limit)
        return [_hashable(row) for row in self._connection.execute(query)]


def _hashable(row: Iterable[Any]) -> Row:
    """Give a row as a value: lists and mappings as JSON, which is what the script holds anyway."""
    return tuple(
        json.dumps(cell, default=str, ensure_ascii=False)
        if isinstance(cell, (list, dict))
        else cell
        for cell in row
    )
