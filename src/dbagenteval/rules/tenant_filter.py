"""TenantFilter: every row that can influence the result belongs to one tenant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlglot import exp

from dbagenteval.rules.query.call_names import unseen_reads
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.names import Folding, GivenName
from dbagenteval.rules.query.queries import Source, Undecided
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import Finding, SqlRule, names_of
from dbagenteval.rules.tenant.facts import Const, Domain
from dbagenteval.rules.tenant.flow import Leak, TenantFlow
from dbagenteval.scorecard import PASS, SKIP
from dbagenteval.traces import Trace

__all__ = ["TenantFilter"]


class TenantFilter(SqlRule):
    """Every table in the SQL is filtered by the tenant column.

    The rule decides by what reaches the result: each row of a guarded table that can influence it
    must have the tenant's value in the column.

    **Passes when** each guarded table, wherever it is read, is bound by a condition that holds for
    every row it contributes: `column = constant` under AND, in every arm of an OR, equality with
    a bound table's column (also USING, NATURAL, row values, correlation, IN and EXISTS), HAVING on
    the group key; in ON for the optional side of an outer join; before LIMIT, aggregates and
    windows. A filter outside a derived table counts if the derived table passes the column on.

    **Fails**

    ```sql
    SELECT * FROM orders
    SELECT * FROM orders WHERE store_id = 's1' OR status = 'open'
    SELECT * FROM orders o JOIN items i ON i.order_id = o.id WHERE o.store_id = 's1'
    SELECT * FROM orders WHERE store_id IN ('s1', 's2')
    ```

    **Passes**

    ```sql
    SELECT * FROM orders WHERE store_id = 's1'
    SELECT * FROM orders o JOIN items i ON i.store_id = o.store_id WHERE o.store_id = 's1'
    ```

    **Limits** A join on another key doesn't bind, since nothing in the SQL keeps a row of one
    tenant from pointing at another's: name such keys with `keys`. Every guarded table is taken to
    have the column; name the tables with `tables` if some don't. A filter outside a WITH item
    counts only with `outer_filter=True`. A condition over a function or a cast that can make
    different values equal doesn't count. Whether a collation makes `s1` and `S1` equal is not
    known. The value of a bind parameter is not seen:
    with `value` the rule then SKIPs.

    Args:
        column: Name of the tenant column.
        value: The tenant, or a list of tenants that may be read together; None means any one.
        tables: The guarded tables; None means all. `orders` guards `orders` in every schema,
            `public.orders` that table and `orders` without schema.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        outer_filter: A filter outside a WITH item counts for the tables inside it.
        keys: Names of key columns whose values never cross tenants, such as `customer_id`, because
            the database or the application sees to it: a join on one binds the joined table.
        allowed_functions: Functions that the rule doesn't know and that you vouch for: they read no
            guarded table; `*` for all.
        attempts: As in `SqlRule`.

    Raises:
        ValueError: `column` is not a plain column name, or `value` an empty list.
    """

    name: ClassVar[str] = "tenant_filter"

    def __init__(  # noqa: PLR0913 each is a decision of the user
        self,
        column: str,
        value: Any = None,
        tables: str | Iterable[str] | None = None,
        stage: str | None = None,
        dialect: str | None = None,
        *,
        outer_filter: bool = False,
        keys: str | Iterable[str] = (),
        allowed_functions: str | Iterable[str] = (),
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        if len(GivenName(column)) != 1:
            raise ValueError(f"column must be a column name without a table, got {column!r}")
        self.column = column
        self.values = _values(value)
        self.tables = None if tables is None else tuple(map(GivenName, names_of(tables)))
        self.outer_filter = outer_filter
        self.keys = tuple(map(GivenName, names_of(keys)))
        self.functions = tuple(name.lower() for name in names_of(allowed_functions))

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say which table is not bound, if one is not."""
        del trace
        tables = None if self.tables is None else tuple(name.text for name in self.tables)
        keys = tuple(name.text for name in self.keys)
        key = ("tenant", self.column, self.values, tables, self.outer_filter, keys, self.functions)
        return sql.memo(key, lambda: self._find(sql))

    def _find(self, sql: Sql) -> str | None:
        pipes = _pipes_problem(sql)
        unseen = pipes or unseen_reads(sql, self.functions, strict=True)
        if unseen:
            return unseen
        tenants = _Tenants(self.values)
        forms = GivenName(self.column).forms(sql.fold, column=True)
        keys = frozenset(
            form[-1] for name in self.keys for form in name.forms(sql.fold, column=True)
        )
        try:
            queries = read_queries(sql)
            problems: list[str] = []
            for (form,) in sorted(forms):
                flow = TenantFlow(
                    sql,
                    form,
                    self._guard(sql.fold),
                    tenants.admits,
                    tenants.has,
                    self.outer_filter,
                    keys,
                )
                for query in queries:
                    flow.check(query)
                problem = self._verdict(flow, tenants)
                if problem is None or isinstance(problem, Finding):
                    return problem
                problems.append(problem)
        except Undecided as reason:
            return str(reason)
        return problems[0]

    def _guard(self, fold: Folding) -> Any:
        if self.tables is None:
            return _any_source
        loose = [
            {tuple(part.casefold() for part in form) for form in name.forms(fold)}
            for name in self.tables
        ]

        def is_guarded(source: Source) -> bool:
            name = tuple(part.casefold() for part in source.name)
            return any(
                name[-len(form) :] == form or form[-len(name) :] == name
                for forms in loose
                for form in forms
            )

        return is_guarded

    def _verdict(self, flow: TenantFlow, tenants: _Tenants) -> str | None:
        if flow.leaks:
            return self._leak_text(flow.leaks, flow.has_unqualified)
        if self.values is None and len(tenants.seen) > 1:
            several = sorted({const.value for const in tenants.seen.values()})
            return f"reads several tenants: {self.column} is {several} in different places"
        if tenants.parameters:
            names = ", ".join(sorted(tenants.parameters))
            if self.values is not None:
                return Finding(f"the value of the bind parameter {names} was not seen", SKIP)
        return self._quotes_note(flow.sql)

    def _quotes_note(self, sql: Sql) -> Finding | None:
        """Say beside a pass what another database would read."""
        if base_name(sql.dialect) or self.values is None:
            return None
        for column in sql.find(exp.Column):
            is_quoted = isinstance(column.this, exp.Identifier) and column.this.args.get("quoted")
            if is_quoted and not column.args.get("table") and column.name in self.values:
                return Finding(
                    f'warning: "{column.name}" is text in SQLite and MySQL and a column elsewhere; '
                    "set `dialect` to decide",
                    PASS,
                )
        return None

    def _leak_text(self, leaks: list[Leak], has_unqualified: bool) -> str:
        labels = list(dict.fromkeys(leak.label for leak in leaks))
        wanted = self.column
        if self.values is not None:
            shown = " or ".join(repr(value) for value in self.values)
            wanted = f"{self.column} = {shown}"
        text = f"no {wanted} filter on {labels}"
        places = list(dict.fromkeys(leak.where for leak in leaks if leak.where))
        if places:
            text += f" in {', '.join(places)}"
        if has_unqualified:
            text += "; name the table in the filter, as in alias.column = value"
        if any(leak.outside for leak in leaks):
            text += "; if it is filtered outside, outer_filter=True accepts that"
        return text


_SET_DIALECT = "set `dialect` so it is read correctly"


def _any_source(source: Source) -> bool:
    """Without a list of tables all are guarded."""
    del source
    return True


def _values(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    given = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    if not given:
        raise ValueError("value must be a tenant or a list of tenants, got an empty list")
    return tuple(str(one) for one in given)


@dataclass(slots=True)
class _Tenants:
    """The tenants that a query reads, against those it may.

    Args:
        values: The admitted tenants, or None for any one.
        seen: Tenants by which something was bound.
        parameters: Bind parameters by which something was bound.
    """

    values: tuple[str, ...] | None
    seen: dict[tuple[str, object], Const] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)

    def admits(self, domain: Domain) -> bool:
        """Whether all these values are the tenant's."""
        known = {const.key: const for const in domain if const.kind != "parameter"}
        if self.values is None:
            if len(known) > 1 or len(domain) > max(len(known), 1):
                return False  # a parameter beside another value may be another tenant
        elif not all(self._is_admitted(const) for const in known.values()):
            return False
        self.seen.update(known)
        self.parameters |= {const.value for const in domain if const.kind == "parameter"}
        return True

    def _is_admitted(self, const: Const) -> bool:
        if const.kind == "text":
            return self.has(const.value)
        return any(Const("number", value).key == const.key for value in self.values or ())

    def has(self, text: str) -> bool:
        """Whether this text is an admitted tenant."""
        return self.values is not None and text in self.values


def _pipes_problem(sql: Sql) -> str | None:
    """MySQL reads || as OR: without a dialect a condition with it may mean the contrary."""
    if base_name(sql.dialect):
        return None
    for pipes in sql.find(exp.DPipe):
        node = pipes.parent
        while isinstance(node, (exp.Binary, exp.Unary)) and not isinstance(node, exp.Paren):
            node = node.parent
        if isinstance(node, (exp.Where, exp.Join, exp.Having)):
            return f"has || in a condition, which MySQL reads as OR; {_SET_DIALECT}"
    return None
