"""NoSubqueries: the SQL is one simple SELECT."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.traces import Trace

__all__ = ["NoSubqueries"]


class NoSubqueries(SqlRule):
    """The SQL is one simple SELECT, with no query inside another query.

    **Passes when** the text is one SELECT without WITH, set operation, derived table, VALUES or
    subquery.

    **Fails**

    ```sql
    SELECT * FROM (SELECT * FROM orders) AS o
    SELECT 1 UNION SELECT 2
    SELECT 1; SELECT 2
    ```

    **Passes**

    ```sql
    SELECT status, count(*) FROM orders JOIN items USING (id) GROUP BY status
    ```

    **Limits** What a view or a function reads inside is not seen.

    Args:
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "no_subqueries"

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Say so if there is more than one flat SELECT."""
        del trace
        if len(statements) != 1:
            return f"is not one SELECT but {len(statements)} statements"
        nested = (exp.Query, exp.Values, exp.With, exp.TableFromRows)
        for node in statements[0].walk():
            is_top = node is statements[0] and isinstance(node, exp.Select)
            if isinstance(node, nested) and not is_top:
                return "is not a single flat SELECT"
        return None
