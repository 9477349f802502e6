"""A result as columns: what both sides of a comparison are turned into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from dbagenteval.compare.cells import kinds_of, plain

__all__ = ["Side", "python_cells"]

_PLAIN_KINDS = frozenset(("bool", "number", "text", "stamp", "clock", "bytes", "uuid", "json"))


def python_cells(column: Any) -> list[Any]:
    """Turn an Arrow column into Python values; times finer than Python's become ISO text."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except ValueError:
        return column.cast("string").to_pylist()  # type: ignore[no-any-return]


@dataclass(slots=True)
class Side:
    """One result, column by column.

    Args:
        names: Column names in order of first appearance over all rows.
        columns: The cells of each column, one per row; missing ones are None.
        row_count: Number of rows.
        kinds: For each column the kinds of its cells.
        total_rows: Number of rows of the result that these are the rest of.
    """

    names: tuple[str, ...]
    columns: list[list[Any]]
    row_count: int
    kinds: list[frozenset[str]] = field(default_factory=list)
    total_rows: int = 0

    def __post_init__(self) -> None:
        self.total_rows = self.row_count
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
        shapes = dict.fromkeys(map(tuple, rows))
        names = tuple(dict.fromkeys(name for shape in shapes for name in shape))
        columns = [
            list(map(itemgetter(name), rows))
            if all(name in shape for shape in shapes)
            else [row.get(name) for row in rows]
            for name in names
        ]
        return cls(names, columns, len(rows))

    @classmethod
    def from_table(cls, table: Any) -> Side:
        """Turn a `pyarrow.Table` into columns of Python values."""
        columns = [python_cells(column) for column in table.columns]
        return cls(tuple(table.column_names), columns, table.num_rows)

    def row(self, index: int) -> dict[str, Any]:
        """Give one row as a dict."""
        return {name: column[index] for name, column in zip(self.names, self.columns, strict=True)}
