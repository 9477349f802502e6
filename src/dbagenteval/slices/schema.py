"""Tables as a database describes them: columns, primary keys and foreign keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Column", "ForeignKey", "Row", "Schema", "Table", "parents_first"]

Row = tuple[Any, ...]
"""A row of a table, its cells in the order of the table's columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Args:
        name: As the database spells it.
        kind: `integer`, `number`, `float`, `boolean`, `date`, `timestamp`, `timestamptz`, `time`,
            `uuid`, `json` or `text`: what scripts can say on every database.
        is_required: It is NOT NULL.
    """

    name: str
    kind: str
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """Columns that refer to columns of a table, the same or another."""

    columns: tuple[str, ...]
    table: str
    referred: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or view.

    Args:
        name: As the database spells it.
        columns: In order.
        primary_key: Its columns; empty without one.
        foreign_keys: Those to tables of the same schema.
        namespace: The schema of the database it is in; None for the default one.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    namespace: str | None = None

    def column(self, name: str) -> Column | None:
        """Give the column of that name, however it is cased."""
        return next((each for each in self.columns if each.name.lower() == name.lower()), None)

    def at(self, columns: Iterable[str]) -> list[int]:
        """Give the positions of columns in a row.

        Raises:
            ValueError: There is no such column.
        """
        names = [column.name for column in self.columns]
        return [names.index(name) for name in columns]


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables that matter, those that others refer to before them.

    Args:
        tables: Foreign keys that would close a circle of tables are left out of them.
    """

    tables: tuple[Table, ...] = ()
    _by_name: dict[str, Table] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {table.name.lower(): table for table in self.tables}
        object.__setattr__(self, "_by_name", names)

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def get(self, name: str) -> Table | None:
        """Give the table of that name, however it is cased."""
        return self._by_name.get(name.lower())

    def only(self, names: Iterable[str]) -> Schema:
        """Give the schema with these tables alone, without keys to others."""
        kept = {name.lower() for name in names}
        return parents_first({each.name: each for each in self if each.name.lower() in kept})


def parents_first(tables: Mapping[str, Table]) -> Schema:
    """Order tables so that a foreign key refers to what stands before it or to its own table.

    Args:
        tables: By name.

    Returns:
        The schema; of keys in a circle of tables those that would refer to a later one are left
        out, since no database could load them so.
    """
    todo = {name: tables[name] for name in sorted(tables)}
    done: dict[str, Table] = {}
    while todo:
        free = [name for name, table in todo.items() if not _waits_for(table, todo)]
        for name in free or list(todo)[:1]:
            table = todo.pop(name)
            known = {*done, name}
            keys = tuple(key for key in table.foreign_keys if key.table in known)
            done[name] = replace(table, foreign_keys=keys)
    return Schema(tuple(done.values()))


def _waits_for(table: Table, todo: Mapping[str, Table]) -> bool:
    return any(key.table in todo and key.table != table.name for key in table.foreign_keys)
