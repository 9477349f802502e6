"""Read from a database the rows that statements may touch, within a bound for each table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dbagenteval.slices.schema import ForeignKey, Row, Schema, Table
from dbagenteval.slices.tables import Link, conditions_on, links_between

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection, Engine

__all__ = ["Sample", "read_sample"]

_SECONDS = 30
_KEYS_AT_ONCE = 500


class Sample:
    """Rows by table, and of which tables there are more than were read.

    Args:
        schema: The tables.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._whole: dict[str, list[Row]] = {}
        self._parts: dict[str, dict[Row, None]] = {}

    def add_whole(self, table: Table, rows: list[Row]) -> None:
        """Add all rows of a table, equal ones too."""
        self._whole[table.name] = rows

    def add(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows of a table that may have been read before."""
        self._parts.setdefault(table.name, {}).update(dict.fromkeys(rows))

    @property
    def sampled(self) -> list[str]:
        """The tables that were not read whole."""
        return sorted(self._parts)

    @property
    def rows(self) -> dict[str, list[Row]]:
        """The rows by table, in an order that does not depend on how they were read."""
        return {table.name: sorted(self._of(table), key=_sortable) for table in self.schema}

    def values(self, table: Table, columns: tuple[str, ...]) -> list[Row]:
        """Give the values of columns as they were read, each once and none with NULL."""
        at = table.at(columns)
        found = dict.fromkeys(tuple(row[each] for each in at) for row in self._of(table))
        return [each for each in found if None not in each]

    def _of(self, table: Table) -> Iterable[Row]:
        if table.name in self._parts:
            return self._parts[table.name]
        return self._whole.get(table.name, [])


def read_sample(
    engine: Engine, schema: Schema, statements: Sequence[str], *, dialect: str, max_rows: int
) -> Sample:
    """Read rows of the tables that statements name, and the rows that those refer to.

    A table with at most `max_rows` rows is read whole. Of a larger one come rows that meet the
    statements' conditions, rows that don't, and rows that belong to those read of other tables.

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
        reader = _Reader(connection, Sample(schema), dialect, max_rows)
        reader.start(statements)
        reader.follow(links_between(schema, statements, dialect))
        reader.complete()
        return reader.sample


class _Reader:
    def __init__(self, connection: Connection, sample: Sample, dialect: str, max_rows: int) -> None:
        self.sample = sample
        self._connection = connection
        self._dialect = dialect
        self._max_rows = max_rows

    def start(self, statements: Sequence[str]) -> None:
        """Read each table whole or by the statements' conditions."""
        from sqlalchemy import literal_column, not_  # noqa: PLC0415

        for table in self.sample.schema:
            rows = self._select(table, limit=self._max_rows + 1)
            if len(rows) <= self._max_rows:
                self.sample.add_whole(table, rows)
                continue
            conditions: list[Any] = [
                literal_column(f"({condition.sql(dialect=self._dialect)})")
                for condition in conditions_on(table, statements, self._dialect)
            ]
            # What meets a condition comes first: of it, what belongs to it is read.
            for condition in conditions:
                self.sample.add(table, self._select(table, condition, limit=self._max_rows // 2))
            for condition in conditions:
                others = self._select(table, not_(condition), limit=self._max_rows // 8)
                self.sample.add(table, others)
            if not conditions:
                self.sample.add(table, rows[: self._max_rows // 2])

    def follow(self, links: Iterable[Link]) -> None:
        """Read of tables that are too large to be read whole what belongs to rows read so far."""
        for link in links:
            ends = (link.left, link.left_columns), (link.right, link.right_columns)
            for (one, its), (other, others) in (ends, ends[::-1]):
                known, wanted = self.sample.schema.get(one), self.sample.schema.get(other)
                if known and wanted and wanted.name in self.sample.sampled:
                    keys = self.sample.values(known, its)
                    self._add_by_keys(wanted, others, keys[:_KEYS_AT_ONCE])

    def complete(self) -> None:
        """Read the rows that foreign keys refer to, children's tables before their parents'."""
        for table in reversed(self.sample.schema.tables):
            for key in table.foreign_keys:
                self._add_parents(table, key)

    def _add_parents(self, table: Table, key: ForeignKey) -> None:
        parent = self.sample.schema.get(key.table)
        if parent is None or parent.name not in self.sample.sampled:
            return
        while True:
            there = set(self.sample.values(parent, key.referred))
            lacking = [each for each in self.sample.values(table, key.columns) if each not in there]
            for start in range(0, len(lacking), _KEYS_AT_ONCE):
                self._add_by_keys(parent, key.referred, lacking[start : start + _KEYS_AT_ONCE])
            # Rows of a table that refers to itself may refer to further ones.
            if parent is not table or set(self.sample.values(parent, key.referred)) == there:
                return

    def _add_by_keys(self, table: Table, columns: tuple[str, ...], keys: Sequence[Row]) -> None:
        from sqlalchemy import column, tuple_  # noqa: PLC0415

        if not keys:
            return
        names: list[Any] = [column(name) for name in columns]
        if len(names) == 1:
            condition: Any = names[0].in_([key[0] for key in keys])
        else:
            condition = tuple_(*names).in_(keys)
        self.sample.add(table, self._select(table, condition, limit=self._max_rows))

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
    """Give a row as a value: what lists and mappings hold is read as JSON by the script anyway."""
    return tuple(_Frozen(cell) if isinstance(cell, (list, dict)) else cell for cell in row)


class _Frozen(str):
    """A list or mapping as JSON text."""

    __slots__ = ()

    def __new__(cls, cell: Any) -> _Frozen:  # noqa: PYI034 Self needs Python 3.11
        import json  # noqa: PLC0415

        return super().__new__(cls, json.dumps(cell, default=str, ensure_ascii=False))


def _sortable(row: Row) -> tuple[tuple[int, float | Decimal, str], ...]:
    """Order rows whose cells may be NULL or of several types: numbers first, then texts."""
    return tuple(_order_of(cell) for cell in row)


def _order_of(cell: Any) -> tuple[int, float | Decimal, str]:
    if cell is None:
        return (0, 0, "")
    if isinstance(cell, (int, float, Decimal)) and cell == cell:  # noqa: PLR0124 not NaN
        return (1, cell, "")
    return (2, 0, str(cell))
