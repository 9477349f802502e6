"""NoCartesianJoin: every source of a FROM is tied to the others by a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.query.columns import ColumnResolver
from dbagenteval.rules.query.output_names import OutputNames
from dbagenteval.rules.query.queries import Join, Query, Source, Undecided, columns_in, unwrap
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.select_parts import always_has_row
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.traces import Trace

__all__ = ["NoCartesianJoin"]


class NoCartesianJoin(SqlRule):
    """Every source of a FROM is tied to the others by a condition.

    **Passes when** in each SELECT the sources hang together by conditions in ON, WHERE, USING or
    NATURAL that speak of two of them. A source of one row (an aggregate, constants) and a function
    of another source's columns need no condition.

    **Fails**

    ```sql
    SELECT * FROM orders, items
    SELECT * FROM orders CROSS JOIN items
    SELECT * FROM orders o JOIN items i ON o.id = 1
    ```

    **Passes**

    ```sql
    SELECT * FROM orders o, items i WHERE o.id = i.order_id
    SELECT o.id, t.total FROM orders o CROSS JOIN (SELECT sum(amount) AS total FROM orders) AS t
    ```

    **Limits** Any condition ties, not only equality; whether it is the right one isn't known.

    Args:
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "no_cartesian_join"

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Name a source that nothing ties to the others."""
        del trace
        return sql.memo("cartesian", lambda: _find(sql))


def _find(sql: Sql) -> str | None:
    resolver = ColumnResolver(sql.fold, OutputNames(sql).has)
    try:
        for top in read_queries(sql):
            for query in top.all():
                loose = _loose(query, resolver)
                if loose is not None:
                    return f"joins {loose.label!r} to the others by no condition"
    except Undecided as reason:
        return str(reason)
    return None


def _loose(query: Query, resolver: ColumnResolver) -> Source | None:
    """Give a source that is not tied to the first, or None."""
    many = [source for source in query.sources if not _is_one_row(source)]
    if len(many) < 2:
        return None
    groups = {source: {source} for source in query.sources}
    for several in _ties(query, resolver):
        merged = set().union(*(groups[source] for source in several))
        for source in merged:
            groups[source] = merged
    return next((source for source in many if source not in groups[many[0]]), None)


def _is_one_row(source: Source) -> bool:
    held = source.query if source.query is not None else source.cte.query if source.cte else None
    if held is None or held.arms:
        return False
    if isinstance(held.node, exp.Values):
        return len(held.node.expressions) == 1
    limit = held.node.args.get("limit")
    is_one = limit is not None and limit.args.get("expression") == exp.Literal.number(1)
    return always_has_row(held.node) or held.tree is None or is_one


def _ties(query: Query, resolver: ColumnResolver) -> Iterator[set[Source]]:
    where = query.node.args.get("where")
    conditions: list[tuple[exp.Expr, Join | None]] = []
    if where is not None:
        conditions.append((where.this, None))
    todo: list[Join | Source] = [] if query.tree is None else [query.tree]
    while todo:
        tree = todo.pop()
        if isinstance(tree, Source):
            if tree.is_lateral:
                yield {tree, *_sources(tree.node, query, resolver, None)}
            continue
        todo += [tree.left, tree.right]
        if tree.using or tree.is_natural:
            yield set(tree.sources())
        if tree.on is not None:
            conditions.append((tree.on, tree))
    for condition, join in conditions:
        for part in _parts(condition):
            several = _sources(part, query, resolver, join)
            if len(several) > 1:
                yield several


def _parts(node: exp.Expr) -> Iterable[exp.Expr]:
    todo = [node]
    while todo:
        part = unwrap(todo.pop())
        if isinstance(part, exp.And):
            todo += [part.this, part.expression]
        else:
            yield part


def _sources(
    node: exp.Expr, query: Query, resolver: ColumnResolver, join: Join | None
) -> set[Source]:
    """Give the query's own sources that an expression speaks of."""
    found: set[Source] = set()
    columns = list(columns_in(node))
    for inner in node.find_all(exp.Query):
        columns += list(inner.find_all(exp.Column))
    for column in columns:
        owner = resolver.find(column, query, join)
        if owner is None:
            continue
        if isinstance(owner[0], Source):
            found.add(owner[0])
        elif owner[0] is query:  # an unqualified name that several may have
            found |= set(query.sources)
    return found & set(query.sources)
