"""What PartitionFilter and RequireTimeFilter share: no guarded table without a condition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.query.names import GivenName
from dbagenteval.rules.query.queries import Undecided
from dbagenteval.rules.query.range_conditions import unrestricted
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["RestrictedColumn"]


class RestrictedColumn(SqlRule):
    """Every guarded table is read under a condition on one column.

    A subclass says what counts as one: `bare` (only the column itself, no expression over it),
    `needs_lower` (an upper bound alone is not enough), and what its absence is called.
    """

    bare: ClassVar[bool]
    needs_lower: ClassVar[bool]
    absence: ClassVar[str]

    def __init__(
        self,
        column: str,
        tables: str | Iterable[str] | None = None,
        stage: str | None = None,
        dialect: str | None = None,
        *,
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        if len(GivenName(column)) != 1:
            raise ValueError(f"column must be a column name without a table, got {column!r}")
        self.column = column
        self.tables = None if tables is None else tuple(map(GivenName, names_of(tables)))

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Name the tables that are read without the condition."""
        del trace
        try:
            labels = unrestricted(
                sql, self.column, self.tables, bare=self.bare, needs_lower=self.needs_lower
            )
        except Undecided as reason:
            return str(reason)
        return f"{self.absence} {self.column} on {labels}" if labels else None
