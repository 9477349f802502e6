"""PartitionFilter: every partitioned table is read by its partition column."""

from __future__ import annotations

from typing import ClassVar

from dbagenteval.rules.restricted_column import RestrictedColumn

__all__ = ["PartitionFilter"]


class PartitionFilter(RestrictedColumn):
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
    bare: ClassVar[bool] = True
    needs_lower: ClassVar[bool] = False
    absence: ClassVar[str] = "no filter on the partition column"
