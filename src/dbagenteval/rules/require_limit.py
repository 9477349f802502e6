"""RequireLimit: the SQL itself limits how many rows it gives."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.query.queries import unwrap
from dbagenteval.rules.query.select_parts import always_has_row
from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.traces import Trace

__all__ = ["RequireLimit"]


class RequireLimit(SqlRule):
    """The SQL limits how many rows it gives.

    **Passes when** each statement has a LIMIT (TOP, FETCH FIRST) of a plain number, at most
    `max_rows` if that is given, or gathers everything into one row.

    **Fails** with `RequireLimit(100)`

    ```sql
    SELECT id FROM orders
    SELECT id FROM orders LIMIT 1000
    SELECT id FROM (SELECT id FROM orders LIMIT 10) AS o, items
    ```

    **Passes**

    ```sql
    SELECT id FROM orders LIMIT 100
    SELECT count(*) FROM orders
    ```

    **Limits** Only the outermost query counts. A limit that is a parameter, a percentage or
    WITH TIES fails, since how many rows it gives isn't known.

    Args:
        max_rows: The most that the limit may be; None means any.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.

    Raises:
        ValueError: `max_rows` is below 1.
    """

    name: ClassVar[str] = "require_limit"

    def __init__(
        self,
        max_rows: int | None = None,
        stage: str | None = None,
        dialect: str | None = None,
        *,
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, got {max_rows}")
        self.max_rows = max_rows

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Say so if a statement may give more rows."""
        del trace
        for statement in statements:
            problem = self._statement_problem(statement)
            if problem:
                return problem
        return None

    def _statement_problem(self, statement: exp.Expr) -> str | None:
        limits: list[exp.Expr] = []
        node = statement
        while True:
            limit = node.args.get("limit")
            if limit is not None:
                limits.append(limit)
            if not isinstance(node, exp.Subquery):
                break
            node = node.this
        if not limits:
            is_one_row = isinstance(node, exp.Select) and always_has_row(node)
            is_constant = isinstance(node, exp.Select) and node.args.get("from_") is None
            return None if is_one_row or is_constant else "has no LIMIT"
        counts = [_count(limit) for limit in limits]
        known = [count for count in counts if count is not None]
        if not known:
            return "has a LIMIT whose number of rows isn't known"
        if self.max_rows is not None and min(known) > self.max_rows:
            return f"has LIMIT {min(known)}, more than {self.max_rows}"
        return None


def _count(limit: exp.Expr) -> int | None:
    """Give the number of rows of a LIMIT, TOP or FETCH, or None if it isn't plain."""
    if limit.expressions:  # LIMIT n BY column
        return None
    options = limit.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return None
    value = (
        limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.args.get("expression")
    )
    value = None if value is None else unwrap(value)
    if isinstance(value, exp.Literal) and not value.is_string and str(value.this).isdigit():
        return int(value.this)
    return None
