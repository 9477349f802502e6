"""ForbiddenColumns: the SQL reads none of the columns of a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.query.call_names import unseen_reads
from dbagenteval.rules.query.column_uses import Use, column_uses
from dbagenteval.rules.query.names import Folding, GivenName
from dbagenteval.rules.query.queries import Source, Undecided
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["ForbiddenColumns"]

_STATISTICS = ("pg_stats", "pg_statistic", "pg_stats_ext", "pg_stats_ext_exprs", "sqlite_stat4")


class ForbiddenColumns(SqlRule):
    """The SQL reads none of the columns in the list, such as personal data.

    **Passes when** no part of the SQL reads such a column: not in the SELECT list, not to filter,
    join, group or order by, not by `*`, NATURAL JOIN, a whole row or a function that reads tables.

    **Fails** with `ForbiddenColumns(["customers.ssn"])`

    ```sql
    SELECT ssn FROM customers
    SELECT name FROM customers ORDER BY ssn
    SELECT * FROM customers
    SELECT name FROM customers JOIN people USING (ssn)
    ```

    **Passes**

    ```sql
    SELECT name AS ssn FROM customers
    SELECT * FROM regions
    SELECT count(*) FROM customers
    ```

    **Limits** What a view shows under another name isn't seen. A plain name is forbidden in every
    table, and then `*` over any base table fails.

    Args:
        columns: The forbidden names, plain or as `table.column`; one text is one name.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        allowed_functions: Functions that the rule doesn't know and that you vouch for; `*` for all.
        attempts: As in `SqlRule`.

    Raises:
        ValueError: The list is empty.
    """

    name: ClassVar[str] = "forbidden_columns"

    def __init__(
        self,
        columns: str | Iterable[str],
        stage: str | None = None,
        dialect: str | None = None,
        *,
        allowed_functions: str | Iterable[str] = (),
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        self.columns = names_of(columns)
        self._functions = tuple(name.lower() for name in names_of(allowed_functions))
        if not self.columns:
            raise ValueError("columns must name at least one column")

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say which forbidden column may be read."""
        del trace
        key = ("forbidden columns", self.columns, self._functions)
        return sql.memo(key, lambda: self._find(sql))

    def _find(self, sql: Sql) -> str | None:
        unseen = unseen_reads(sql, self._functions, strict=True)
        if unseen:
            return unseen
        listed = [_Forbidden(name, sql.fold) for name in self.columns]
        try:
            for use in column_uses(sql):
                for forbidden in listed:
                    if forbidden.is_read_by(use):
                        return _text(forbidden.written, use)
        except Undecided as reason:
            return str(reason)
        for table in sql.find(exp.Table):
            if table.name.lower() in _STATISTICS:
                return f"reads {table.name}, which holds values of columns"
        return None


def _text(name: str, use: Use) -> str:
    if use.kind in ("column", "field"):
        return f"uses the forbidden column {name}"
    how = {
        "star": "*",
        "pattern": "COLUMNS(...)",
        "natural": "NATURAL JOIN",
        "row": f"the whole row {use.written!r}",
    }[use.kind]
    return f"may read the forbidden column {name} by {how}"


class _Forbidden:
    """One forbidden name, folded; compared without case, since a miss costs more."""

    def __init__(self, written: str, fold: Folding) -> None:
        del fold
        self.written = written
        parts = [text.casefold() for text, _ in GivenName(written).parts]
        self._column, self._table = parts[-1], tuple(parts[:-1])

    def is_read_by(self, use: Use) -> bool:
        """Whether a use may read the column."""
        if use.kind == "inner":
            return False
        if use.kind == "field":
            return use.name.casefold() == self._column
        if use.kind == "column" and use.name.casefold() != self._column:
            return False
        if not use.tables:
            return use.kind == "column"
        return not self._table or any(self._may_be(source) for source in use.tables)

    def _may_be(self, source: Source) -> bool:
        name = tuple(part.casefold() for part in source.name)
        return name[-len(self._table) :] == self._table or self._table[-len(name) :] == name
