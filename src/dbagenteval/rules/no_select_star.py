"""NoSelectStar: the SQL names the columns it reads."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.traces import Trace

__all__ = ["NoSelectStar"]


class NoSelectStar(SqlRule):
    """The SQL names the columns it reads: no `*`.

    **Passes when** no SELECT, at any depth, has `*`, `t.*` or COLUMNS(...). `count(*)` and
    `EXISTS (SELECT * …)` read no columns and are free.

    **Fails**

    ```sql
    SELECT * FROM orders
    SELECT o.id FROM (SELECT * FROM orders) AS o
    ```

    **Passes**

    ```sql
    SELECT id, amount FROM orders
    SELECT count(*) FROM orders
    ```

    **Limits** `SELECT t FROM orders AS t`, which gives whole rows in some databases, is a matter of
    `AllowedColumns` and `ForbiddenColumns`.

    Args:
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "no_select_star"

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Say so if a statement reads all columns."""
        del trace
        for statement in statements:
            for node in statement.walk():
                if isinstance(node, exp.Columns):
                    return "uses COLUMNS(...)"
                if isinstance(node, exp.Star) and not _is_free(node):
                    return "uses *"
        return None


def _is_free(star: exp.Star) -> bool:
    parent = star.parent
    if isinstance(parent, exp.Count):
        return True
    if isinstance(parent, exp.Column):
        parent = parent.parent
    holder = parent.parent if isinstance(parent, exp.Select) else None
    while isinstance(holder, exp.Subquery):
        holder = holder.parent
    return isinstance(holder, exp.Exists)
