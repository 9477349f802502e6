"""AllowedTables: the SQL reads only the tables of a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.allowed_names import AllowedNames
from dbagenteval.rules.query.call_names import source_call, unseen_reads
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.known_functions import known_functions
from dbagenteval.rules.query.names import GivenName
from dbagenteval.rules.query.queries import Source, Undecided
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["AllowedTables"]

_NO_DATA = {"oracle": ("dual",), "mysql": ("dual",), "redshift": ("dual",), "": ("dual",)}


class AllowedTables(SqlRule):
    """The SQL reads only the tables in the list.

    **Passes when** each table, view or table function that any part of the SQL reads is in the
    list, names folded as the dialect does. WITH items are not tables; a name is one only where
    the database takes it for one.

    **Fails** with `AllowedTables(["orders"])`

    ```sql
    SELECT * FROM customers
    SELECT * FROM orders WHERE id IN (SELECT order_id FROM secret)
    SELECT * FROM public.orders
    ```

    **Passes**

    ```sql
    WITH o AS (SELECT * FROM orders) SELECT * FROM o
    SELECT * FROM Orders
    ```

    **Limits** What a view reads inside is not seen. A name with a schema is only itself: `orders`
    doesn't allow `public.orders`, nor the reverse. Functions that only make rows from their
    arguments (`generate_series`, `unnest`, …) are free; other table functions must be in the list.

    Args:
        tables: The allowed names; one text is one name.
        from_stage: Name of the stage whose output lists them, in place of `tables`.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        default_schema: Name of the schema that names without one are in, such as `public`; then
            `orders` and `public.orders` are one table, in the list and in the SQL.
        allowed_functions: Functions that the rule doesn't know and that you vouch for; `*` for all.
        attempts: As in `SqlRule`.

    Raises:
        ValueError: Not exactly one of `tables` and `from_stage`.
    """

    name: ClassVar[str] = "allowed_tables"

    def __init__(
        self,
        tables: str | Iterable[str] | None = None,
        from_stage: str | None = None,
        stage: str | None = None,
        dialect: str | None = None,
        *,
        default_schema: str | None = None,
        allowed_functions: str | Iterable[str] = (),
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        self._allowed = AllowedNames("tables", tables, from_stage)
        self._schema = default_schema
        self._functions = tuple(name.lower() for name in names_of(allowed_functions))

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say which tables are read that are not in the list."""
        names = self._allowed.names(trace)
        if isinstance(names, str):
            return names
        functions, schema = self._functions, self._schema
        key = ("tables", names, functions, schema)
        return sql.memo(key, lambda: _find(sql, names, functions, schema))


def _find(
    sql: Sql, names: tuple[str, ...], vouched: tuple[str, ...], schema: str | None
) -> str | None:
    given = [GivenName(name) for name in names]
    allowed = {form for name in given for form in name.forms(sql.fold)}
    if schema is not None:
        for default in GivenName(schema).forms(sql.fold):
            allowed |= {(*default, *form) for form in allowed if len(form) == 1}
            allowed |= {form[-1:] for form in allowed if form[:-1] == default}
    free = {(sql.fold.table(name, False),) for name in _NO_DATA.get(base_name(sql.dialect), ())}
    functions = {name.text.lower() for name in given} | set(vouched)
    try:
        queries = read_queries(sql)
    except Undecided as reason:
        return str(reason)
    outside: set[str] = set()
    for top in queries:
        for query in top.all():
            for source in query.sources:
                outside |= _outside(sql, source, allowed | free, functions)
    if outside:
        return f"reads table(s) outside the allowed set: {sorted(outside)}"
    return unseen_reads(sql, functions, strict=True)


def _outside(
    sql: Sql, source: Source, allowed: set[tuple[str, ...]], functions: set[str]
) -> set[str]:
    if source.kind == "table":
        if source.name in allowed:
            return set()
        return {".".join(part.name for part in source.node.parts).lower()}  # type: ignore[attr-defined]
    if source.kind == "function":
        call = source_call(source.node)
        known = known_functions(base_name(sql.dialect))
        if call is None or call.names & functions:
            return set()
        if call.effect(known) is not None or not call.is_known(known):
            return {call.name}
    return set()
