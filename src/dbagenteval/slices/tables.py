"""Which tables statements read, with which conditions, and by which columns they are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlglot import exp

from dbagenteval.rules.query.sql import read_sql
from dbagenteval.slices.reflection import TableName
from dbagenteval.slices.schema import Column, Schema, Table

__all__ = [
    "Link",
    "base_tables",
    "conditions_on",
    "conjuncts",
    "links_between",
    "rows_of_tenant",
    "sides_of",
    "tables_named",
    "tenant_in",
    "where_conjuncts",
]

LinkEnd = tuple[str, tuple[str, ...]]
"""A table's name, and columns of it."""

Link = tuple[LinkEnd, LinkEnd]
"""Columns of two tables that hold the same values where rows belong together."""


def tables_named(statements: Iterable[str], dialect: str | None) -> list[TableName]:
    """Give namespace and name of the tables that statements read, each once, without CTEs."""
    named = [base_tables(tree) for tree in _trees(statements, dialect)]
    return list(dict.fromkeys((each.db or None, each.name) for tables in named for each in tables))


def base_tables(tree: exp.Expr) -> list[exp.Table]:
    """Give the places where a statement names a table or view of the database, no CTE."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    return [
        table
        for table in tree.find_all(exp.Table)
        if table.name and (table.db or table.name.lower() not in ctes)
    ]


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Give what AND joins in a condition, without brackets; nothing of no condition."""
    if condition is None:
        return []
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def where_conjuncts(select: exp.Select) -> list[exp.Expr]:
    """Give what AND joins in the WHERE of a SELECT."""
    where = select.args.get("where")
    return conjuncts(where.this) if where is not None else []


def sides_of(select: exp.Select) -> list[exp.Expr]:
    """Give FROM and the joins of a SELECT; `this` of each is a table or a subquery."""
    sides = (select.args.get("from_"), *(select.args.get("joins") or ()))
    return [side for side in sides if side is not None]


def tenant_in(column: Column | None, value: Any) -> Any:
    """Give a tenant as the column holds it, if it is known: a text may look like a number."""
    return str(value) if column is not None and column.kind == "text" else value


def rows_of_tenant(table: exp.Table, column: str, value: Any) -> exp.Subquery:
    """Give a subquery for the place of a table, with the rows of one tenant alone."""
    bare = exp.Table(**{part: table.args.get(part) for part in ("this", "db", "catalog")})
    condition = exp.EQ(this=exp.column(column), expression=exp.convert(value))
    return exp.select("*").from_(bare.copy()).where(condition).subquery(table.alias_or_name)


def conditions_on(table: Table, statements: Iterable[str], dialect: str | None) -> list[exp.Expr]:
    """Give, for each SELECT that reads the table, what its WHERE says of this table alone.

    Columns stand without the table's name. A SELECT that says nothing of it gives no condition.
    """
    found: dict[str, exp.Expr] = {}
    for tree in _trees(statements, dialect):
        for select in tree.find_all(exp.Select):
            for alias in (
                name for name, real in _sources(select).items() if real == table.name.lower()
            ):
                own = [
                    each
                    for each in where_conjuncts(select)
                    if _is_only_about(each, alias, table, select)
                ]
                if own:
                    condition = _unqualified(exp.and_(*own))
                    found[condition.sql()] = condition
    return [found[text] for text in sorted(found)]


def links_between(schema: Schema, statements: Iterable[str], dialect: str | None) -> list[Link]:
    """Give the foreign keys between tables and the columns that statements set equal."""
    links: list[Link] = [
        ((table.name, key.columns), (key.table, key.referred))
        for table in schema
        for key in table.foreign_keys
    ]
    for tree in _trees(statements, dialect):
        for select in tree.find_all(exp.Select):
            links += _joined(select, schema)
    return list(dict.fromkeys(links))


def _joined(select: exp.Select, schema: Schema) -> Iterator[Link]:
    sources = _sources(select)
    ons = [join.args["on"] for join in select.args.get("joins") or () if join.args.get("on")]
    for condition in [*where_conjuncts(select), *(part for on in ons for part in conjuncts(on))]:
        left, right = condition.args.get("this"), condition.args.get("expression")
        if not (
            isinstance(condition, exp.EQ)
            and isinstance(left, exp.Column)
            and isinstance(right, exp.Column)
        ):
            continue
        ends = [_end(column, sources, schema) for column in (left, right)]
        if ends[0] and ends[1]:
            (one, its_column), (other, others_column) = ends[0], ends[1]
            yield (one, (its_column,)), (other, (others_column,))


def _end(column: exp.Column, sources: dict[str, str], schema: Schema) -> tuple[str, str] | None:
    """Give table and column as the schema spells them."""
    named = sources.get(column.table.lower(), "")
    for name in [named] if column.table else sources.values():
        table = schema.get(name)
        own = None if table is None else table.column(column.name)
        if table is not None and own is not None:
            return table.name, own.name
    return None


def _trees(statements: Iterable[str], dialect: str | None) -> Iterator[exp.Expr]:
    for statement in statements:
        parsed = read_sql(statement, dialect)
        if not parsed.problem:
            yield from parsed.statements


def _sources(select: exp.Select) -> dict[str, str]:
    """Give the tables of one FROM: alias to name, lower case."""
    tables = [side.this for side in sides_of(select) if isinstance(side.this, exp.Table)]
    return {table.alias_or_name.lower(): table.name.lower() for table in tables}


def _is_only_about(condition: exp.Expr, alias: str, table: Table, select: exp.Select) -> bool:
    if condition.find(exp.Query) is not None or condition.find(exp.Column) is None:
        return False
    names = {column.name.lower() for column in table.columns}
    is_alone = len(_sources(select)) == 1
    return all(
        column.name.lower() in names
        and (column.table.lower() == alias or (not column.table and is_alone))
        for column in condition.find_all(exp.Column)
    )


def _unqualified(condition: exp.Expr) -> exp.Expr:
    for column in condition.find_all(exp.Column):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
    return condition
