"""Rows of another tenant, added where none happen to show that a query reads them."""

from __future__ import annotations

from typing import Any

from dbagenteval.slices.schema import Row, Schema, Table
from dbagenteval.slices.script import Rows

__all__ = ["with_another_tenant"]


def with_another_tenant(
    schema: Schema, rows: Rows, column: str, value: Any
) -> dict[str, list[Row]]:
    """Copy the tenant's rows for another tenant, with new keys that refer to copies in turn.

    Args:
        schema: The tables.
        rows: Their rows.
        column: Of the tenant, in each table that has one.
        value: The tenant whose rows are copied.

    Returns:
        All rows, the copies last.
    """
    planter = _Planter(schema, rows, column, value)
    return {table.name: [*rows[table.name], *planter.copies(table)] for table in schema}


class _Planter:
    def __init__(self, schema: Schema, rows: Rows, column: str, value: Any) -> None:
        self._rows = rows
        self._column = column.lower()
        self._value = value
        self._other = self._another_tenant(schema)
        self._new_keys: dict[tuple[str, str], dict[Any, Any]] = {}

    def copies(self, table: Table) -> list[Row]:
        """Copy the rows of a table; parents before their children."""
        at = self._tenant_at(table)
        if at is None:
            return []
        own = [row for row in self._rows[table.name] if self._is_own(row[at])]
        for name in table.primary_key:
            if name.lower() != self._column and not self._is_foreign(table, name):
                self._renumber(table, name)
        parents = {
            column: self._new_keys.get((key.table, referred), {})
            for key in table.foreign_keys
            for column, referred in zip(key.columns, key.referred, strict=True)
        }
        copies = []
        for row in own:
            cells = list(row)
            for position, column in enumerate(table.columns):
                new = self._new_keys.get((table.name, column.name)) or parents.get(column.name, {})
                cells[position] = new.get(row[position], row[position])
            cells[at] = self._other
            copies.append(tuple(cells))
        return copies

    def _renumber(self, table: Table, name: str) -> None:
        (at,) = table.at([name])
        used = [row[at] for row in self._rows[table.name]]
        numbers = [value for value in used if isinstance(value, int)]
        shift = max(numbers, default=0) - min(numbers, default=0) + 1
        self._new_keys[table.name, name] = {
            value: value + shift if isinstance(value, int) else f"{value}-{self._other}"
            for value in used
        }

    def _is_foreign(self, table: Table, name: str) -> bool:
        """Say whether a key column refers to a table that is copied as well."""
        return any(
            name in key.columns and (key.table, referred) in self._new_keys
            for key in table.foreign_keys
            for referred in key.referred
        )

    def _another_tenant(self, schema: Schema) -> Any:
        """Give another tenant of the data, else one that would be of the same type."""
        for table in schema:
            at = self._tenant_at(table)
            for row in self._rows[table.name] if at is not None else ():
                if at is not None and row[at] is not None and not self._is_own(row[at]):
                    return row[at]
        return self._value + 1 if isinstance(self._value, int) else f"{self._value}-2"

    def _tenant_at(self, table: Table) -> int | None:
        names = [column.name.lower() for column in table.columns]
        return names.index(self._column) if self._column in names else None

    def _is_own(self, cell: Any) -> bool:
        return cell is not None and str(cell) == str(self._value)
