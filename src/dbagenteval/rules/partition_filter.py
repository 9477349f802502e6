"""PartitionFilter: every partitioned table is read by its partition column."""

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

__all__ = ["PartitionFilter"]


class PartitionFilter(SqlRule):
    """Every partitioned table is read by its partition column, so that partitions are pruned.

    **Passes when** in each SELECT that reads a guarded table the bare partition column is compared
    (`=`, `<`, `<=`, `>`, `>=`, BETWEEN, IN a list) with something that holds no column, under AND
    or in every arm of an OR; in ON for the optional side of an outer join.

    **Fails** with `PartitionFilter("day")`

    ```sql
    SELECT count(*) FROM events
    SELECT count(*) FROM events WHERE date_trunc('month', day) = '2024-01-01'
    SELECT count(*) FROM events e JOIN days d ON e.day = d.day
    ```

    **Passes**

    ```sql
    SELECT count(*) FROM events WHERE day = '2024-01-31'
    SELECT count(*) FROM events WHERE day BETWEEN '2024-01-01' AND '2024-01-31'
    ```

    **Limits** A function over the column defeats pruning in most engines and fails here in all. A
    condition outside a derived table or WITH item doesn't count for the table inside.

    Args:
        column: Name of the partition column.
        tables: The partitioned tables; None means all.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "partition_filter"

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
        """Name the tables that are read without the partition column."""
        del trace
        try:
            labels = unrestricted(sql, self.column, self.tables, bare=True, needs_lower=False)
        except Undecided as reason:
            return str(reason)
        return f"no filter on the partition column {self.column} on {labels}" if labels else None
