"""RequireTimeFilter: every table is read for a limited time only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.names import GivenName
from dbagenteval.rules.queries import Undecided
from dbagenteval.rules.range_conditions import unrestricted
from dbagenteval.rules.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["RequireTimeFilter"]


class RequireTimeFilter(SqlRule):
    """Every table is read for a limited time only: its time column has a lower bound.

    **Passes when** in each SELECT that reads a guarded table a condition on the time column, or on
    an expression over it, gives a start (`>=`, `>`, BETWEEN) or fixes it (`=`, IN), under AND or in
    every arm of an OR; in ON for the optional side of an outer join.

    **Fails** with `RequireTimeFilter("created_at")`

    ```sql
    SELECT count(*) FROM orders
    SELECT count(*) FROM orders WHERE created_at < '2024-01-01'
    SELECT count(*) FROM orders WHERE created_at > '2024-01-01' OR status = 'open'
    ```

    **Passes**

    ```sql
    SELECT count(*) FROM orders WHERE created_at >= '2024-01-01'
    SELECT count(*) FROM orders WHERE extract(year FROM created_at) = 2024
    ```

    **Limits** How long the time is, isn't looked at. A condition outside a derived table or WITH
    item doesn't count for the table inside.

    Args:
        column: Name of the time column.
        tables: The guarded tables; None means all.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "require_time_filter"

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
        """Name the tables that are read without a start in time."""
        del trace
        try:
            labels = unrestricted(sql, self.column, self.tables, bare=False, needs_lower=True)
        except Undecided as reason:
            return str(reason)
        return f"no start in time by {self.column} on {labels}" if labels else None
