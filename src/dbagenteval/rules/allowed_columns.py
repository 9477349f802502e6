"""AllowedColumns: the SQL uses only the columns of a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.allowed_names import AllowedNames
from dbagenteval.rules.query.call_names import unseen_reads
from dbagenteval.rules.query.column_uses import Use, column_uses
from dbagenteval.rules.query.names import Folding, GivenName
from dbagenteval.rules.query.queries import Source, Undecided
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["AllowedColumns"]


class AllowedColumns(SqlRule):
    """The SQL uses only the columns in the list, and does not use SELECT *.

    **Passes when** each column of a table that is used anywhere (selected, filtered, joined,
    grouped or ordered by) is in the list, and nothing reads columns unnamed.

    **Fails** with `AllowedColumns(["status", "amount"])`

    ```sql
    SELECT * FROM orders
    SELECT status FROM orders WHERE card_number LIKE '4%'
    SELECT status FROM orders NATURAL JOIN items
    ```

    **Passes**

    ```sql
    SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY total
    SELECT count(*) FROM orders
    ```

    **Limits** A plain name allows that column of every table; `orders.amount` allows it of that
    table, or where no table is named with it and it may be that table's. Names that a WITH item or
    derived table gives its columns are free. In PostgreSQL and its like a bare name that is also
    a table's alias counts as the whole row.

    Args:
        columns: The allowed names; one text is one name.
        from_stage: Name of the stage whose output lists them, in place of `columns`.
        extra: More allowed names, such as keys used for joins.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        allowed_functions: Functions that the rule doesn't know and that you vouch for; `*` for all.
        attempts: As in `SqlRule`.

    Raises:
        ValueError: Not exactly one of `columns` and `from_stage`.
    """

    name: ClassVar[str] = "allowed_columns"

    def __init__(
        self,
        columns: str | Iterable[str] | None = None,
        from_stage: str | None = None,
        extra: str | Iterable[str] = (),
        stage: str | None = None,
        dialect: str | None = None,
        *,
        allowed_functions: str | Iterable[str] = (),
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        self._allowed = AllowedNames("columns", columns, from_stage)
        self._extra = names_of(extra)
        self._functions = tuple(name.lower() for name in names_of(allowed_functions))

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say which columns are used that are not in the list."""
        names = self._allowed.names(trace)
        if isinstance(names, str):
            return names
        whole = (*names, *self._extra)
        functions = self._functions
        return sql.memo(("columns", whole, functions), lambda: _find(sql, whole, functions))


def _find(sql: Sql, names: tuple[str, ...], functions: tuple[str, ...]) -> str | None:
    unseen = unseen_reads(sql, functions)
    if unseen:
        return unseen
    menu = _Menu(names, sql.fold)
    outside: set[str] = set()
    try:
        for use in column_uses(sql):
            if use.kind == "star":
                return "uses * (it reads columns nobody listed)"
            if use.kind == "pattern":
                return "uses COLUMNS(...), which reads columns nobody listed"
            if use.kind == "natural":
                return "uses NATURAL JOIN, which joins by columns nobody listed"
            if use.kind == "row":
                return f"uses {use.written!r}, which may be the whole row of that table"
            if not menu.allows(use):
                outside.add(use.written.lower())
    except Undecided as reason:
        return str(reason)
    return f"uses column(s) outside the allowed set: {sorted(outside)}" if outside else None


class _Menu:
    """The allowed names, folded."""

    def __init__(self, names: tuple[str, ...], fold: Folding) -> None:
        self._plain: set[str] = set()
        self._of_table: dict[str, list[tuple[str, ...]]] = {}
        for given in map(GivenName, names):
            for form in given.forms(fold, column=True):
                if len(form) == 1:
                    self._plain.add(form[0])
                elif form:
                    self._of_table.setdefault(form[-1], []).append(form[:-1])

    def allows(self, use: Use) -> bool:
        """Whether a column use is within the list."""
        if use.kind == "inner" or use.name in self._plain:
            return True
        owners = self._of_table.get(use.name)
        if owners is None:
            return False
        return not use.tables or any(
            _is_owner(source, owner) for source in use.tables for owner in owners
        )


def _is_owner(source: Source, owner: tuple[str, ...]) -> bool:
    return source.name[-len(owner) :] == owner or owner[-len(source.name) :] == source.name
