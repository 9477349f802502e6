"""A result as columns: what both sides of a comparison are turned into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.compare.cells import kinds_of, plain

__all__ = ["Side"]

_PLAIN_KINDS = frozenset(("bool", "number", "text", "stamp", "clock", "bytes", "uuid", "json"))


@dataclass(slots=True)
class Side:
    """One result, column by column.

    Args:
        names: Column names in order of first appearance over all rows.
        columns: The cells of each column, one per row; missing ones are None.
        row_count: Number of rows.
        kinds: For each column the kinds of its cells.
    """

    names: tuple[str, ...]
    columns: list[list[Any]]
    row_count: int
    kinds: list[frozenset[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for index, column in enumerate(self.columns):
            kinds = kinds_of(column)
            if not kinds <= _PLAIN_KINDS:
                self.columns[index] = [plain(value) for value in column]
                kinds = kinds_of(self.columns[index])
            self.kinds.append(kinds)

    @classmethod
    def of(cls, result: Any) -> Side:
        """Turn a list of dicts or a `pyarrow.Table` into columns."""
        return cls.from_table(result) if hasattr(result, "to_pylist") else cls.from_rows(result)

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Side:
        """Turn a list of dicts into columns; a column that a row lacks is None there."""
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        return cls(names, [[row.get(name) for row in rows] for name in names], len(rows))

    @classmethod
    def from_table(cls, table: Any) -> Side:
        """Turn a `pyarrow.Table` into columns of Python values."""
        columns = [column.to_pylist() for column in table.columns]
        return cls(tuple(table.column_names), columns, table.num_rows)

    def row(self, index: int) -> dict[str, Any]:
        """Give one row as a dict."""
        return {name: column[index] for name, column in zip(self.names, self.columns, strict=True)}

    def take(self, indices: Sequence[int]) -> Side:
        """Give some of the rows, with the kinds of the whole."""
        columns = [[column[index] for index in indices] for column in self.columns]
        return Side(self.names, columns, len(indices))
