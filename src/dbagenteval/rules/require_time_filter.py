"""RequireTimeFilter: every table is read for a limited time only."""

from __future__ import annotations

from typing import ClassVar

from dbagenteval.rules.restricted_column import RestrictedColumn

__all__ = ["RequireTimeFilter"]


class RequireTimeFilter(RestrictedColumn):
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
    bare: ClassVar[bool] = False
    needs_lower: ClassVar[bool] = True
    absence: ClassVar[str] = "no start in time by"
