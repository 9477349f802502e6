"""Rows that were read of tables, whole or in part."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from dbagenteval.slices.schema import Row, Schema, Table

__all__ = ["Sample", "values_of"]


class Sample:
    """Rows by table, and which tables are too large to be read whole.

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

    def add(self, table: Table, rows: Iterable[Row]) -> list[Row]:
        """Add rows of a large table, which may have been read before; gives those that were not.

        Equal rows of a table without a key are one here.
        """
        known = self._parts.setdefault(table.name, {})
        new = [row for row in dict.fromkeys(rows) if row not in known]
        known.update(dict.fromkeys(new))
        return new

    def is_whole(self, table: Table) -> bool:
        """Say whether all rows of a table are there."""
        return table.name in self._whole

    def is_empty(self, table: Table) -> bool:
        """Say whether no row of a table is there."""
        return not self._whole.get(table.name) and not self._parts.get(table.name)

    @property
    def in_part(self) -> list[str]:
        """The names of the tables that were not read whole."""
        return [table.name for table in self.schema if not self.is_whole(table)]

    @property
    def rows(self) -> dict[str, list[Row]]:
        """The rows by table, in an order that does not depend on how they were read."""
        return {table.name: sorted(self._of(table), key=_sortable) for table in self.schema}

    def values(self, table: Table, columns: tuple[str, ...]) -> list[Row]:
        """Give the values of columns, each once and none with NULL."""
        return values_of(self._of(table), table, columns)

    def _of(self, table: Table) -> Iterable[Row]:
        whole = self._whole.get(table.name)
        return self._parts.get(table.name, {}) if whole is None else whole


def values_of(rows: Iterable[Row], table: Table, columns: tuple[str, ...]) -> list[Row]:
    """Give the values that rows of a table have in columns, each once and none with NULL."""
    at = table.at(columns)
    found = dict.fromkeys(tuple(row[each] for each in at) for row in rows)
    return [each for each in found if None not in each]


def _sortable(row: Row) -> tuple[tuple[int, float | Decimal, str], ...]:
    """Order rows whose cells may be NULL or of several types: numbers first, then texts."""
    return tuple(_order_of(cell) for cell in row)


def _order_of(cell: Any) -> tuple[int, float | Decimal, str]:
    if cell is None:
        return (0, 0, "")
    if isinstance(cell, (int, float, Decimal)) and cell == cell:  # noqa: PLR0124 not NaN
        return (1, cell, "")
    return (2, 0, str(cell))
