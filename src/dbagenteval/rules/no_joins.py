"""NoJoins: the SQL has no JOIN."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.traces import Trace

__all__ = ["NoJoins"]


class NoJoins(SqlRule):
    """The SQL has no JOIN.

    **Passes when** no FROM, at any depth, reads more than one source: no JOIN of any kind, no
    comma, APPLY, LATERAL or LATERAL VIEW.

    **Fails**

    ```sql
    SELECT * FROM orders JOIN items USING (id)
    SELECT * FROM orders, items
    ```

    **Passes**

    ```sql
    SELECT * FROM orders WHERE id IN (SELECT order_id FROM items)
    ```

    **Limits** Subqueries and set operations that compare two tables are no joins here; see
    `NoSubqueries`.

    Args:
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "no_joins"

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Say so if a statement joins."""
        del trace
        for statement in statements:
            for node in statement.walk():
                if isinstance(node, exp.Join) or node.args.get("laterals"):
                    return "contains a JOIN"
        return None
