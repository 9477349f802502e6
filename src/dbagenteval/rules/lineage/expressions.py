"""Read expressions of a query: which columns of which tables they depend on."""

from __future__ import annotations

from sqlglot import exp

from dbagenteval.rules.lineage.facts import Edge, JoinBlock, QueryFacts, Read, Schema
from dbagenteval.rules.lineage.functions import unknown_function
from dbagenteval.rules.lineage.scope import QueryOutputs, QueryScope, Source
from dbagenteval.rules.query.sql import Sql

__all__ = ["Ctes", "ExpressionWalk", "NotUnderstood", "Origins", "Reads"]

Ctes = dict[str, Source]
Origins = frozenset[tuple[int, str, str]]
Reads = frozenset[Read]
_NONE: Reads = frozenset()

_PARTS = (
    exp.Alias,
    exp.All,
    exp.Any,
    exp.AtTimeZone,
    exp.Between,
    exp.Binary,
    exp.Boolean,
    exp.Bracket,
    exp.Collate,
    exp.Cube,
    exp.DataType,
    exp.DataTypeParam,
    exp.Distinct,
    exp.Fetch,
    exp.Filter,
    exp.Func,
    exp.Group,
    exp.GroupingSets,
    exp.Having,
    exp.Identifier,
    exp.IgnoreNulls,
    exp.In,
    exp.Interval,
    exp.IntervalSpan,
    exp.JSONPath,
    exp.JSONPathPart,
    exp.Kwarg,
    exp.Lambda,
    exp.Limit,
    exp.LimitOptions,
    exp.Literal,
    exp.Null,
    exp.Offset,
    exp.Order,
    exp.Ordered,
    exp.Placeholder,
    exp.PropertyEQ,
    exp.Qualify,
    exp.RespectNulls,
    exp.Rollup,
    exp.Slice,
    exp.Tuple,
    exp.Unary,
    exp.Var,
    exp.Where,
    exp.Window,
    exp.WindowSpec,
    exp.WithinGroup,
)
"""Parts of expressions that depend on nothing but what stands below them."""


class NotUnderstood(Exception):
    """A part of the query can't be judged; the message says which."""


class ExpressionWalk:
    """The part of a walk that reads expressions; queries inside them are its subclass's.

    Args:
        sql: The parsed text.
        schema: What is known of the database.
        facts: Takes what is found.
    """

    def __init__(self, sql: Sql, schema: Schema, facts: QueryFacts) -> None:
        self._fold = sql.fold
        self._schema = schema
        self.facts = facts
        self._seen: set[int] = set()
        self.tables: list[exp.Table] = []
        """The node of each table occurrence, in the order of `facts.uses`."""

    def _query(self, node: exp.Expr, outer: QueryScope | None, ctes: Ctes) -> QueryOutputs:
        raise NotImplementedError

    def _expressions(self, nodes: list[exp.Expr], scope: QueryScope, ctes: Ctes) -> Reads:
        found: set[Read] = set()
        for node in nodes:
            found |= self._expression(node, scope, ctes)
        return frozenset(found)

    def _expression(self, node: exp.Expr, scope: QueryScope, ctes: Ctes) -> Reads:
        """Give the reads of an expression; what its subqueries demand is committed at once."""
        if isinstance(node, exp.Column):
            self._seen.add(id(node))
            return self._resolve(node, scope)[0]
        if isinstance(node, exp.Query):
            return self._query(node, scope, ctes).all_reads()
        if isinstance(node, exp.Exists) and isinstance(node.this, exp.Query):
            self._query(node.this, scope, ctes)  # what it selects does not matter
            return _NONE
        if isinstance(node, (exp.Star, exp.Columns)):
            self._seen.update(id(part) for part in node.find_all(exp.Column, exp.Star))
            return frozenset().union(*(source.whole() for source in scope.sources))
        if isinstance(node, exp.Table):
            raise NotUnderstood(f"a table inside an expression: {node.sql()[:60]!r}")
        if isinstance(node, exp.Count):
            return self._count(node, scope, ctes)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            self._in_query(node, scope, ctes)
        if not isinstance(node, _PARTS):
            raise NotUnderstood(f"{type(node).__name__} in an expression")
        name = unknown_function(node)
        if name:
            self.facts.functions.add(name)
        return self._expressions(list(node.iter_expressions()), scope, ctes)

    def _count(self, node: exp.Count, scope: QueryScope, ctes: Ctes) -> Reads:
        inner = node.this
        if isinstance(inner, exp.Star) and not inner.args.get("except_"):
            self._seen.add(id(inner))
            return self._expressions(list(node.expressions), scope, ctes)
        reads = self._expressions(list(node.iter_expressions()), scope, ctes)
        kind = "count_distinct" if isinstance(inner, exp.Distinct) else "count"
        arguments = inner.expressions if isinstance(inner, exp.Distinct) else [inner]
        if all(isinstance(item, exp.Column) for item in arguments):
            return frozenset(
                Read(item.use, item.table, item.column, item.by_star, kind, item.excluded)
                for item in reads
            )
        return reads

    def _in_query(self, node: exp.In, scope: QueryScope, ctes: Ctes) -> None:
        column = node.this.unnest()
        query = node.args["query"].unnest()
        if not isinstance(column, exp.Column) or not isinstance(query, exp.Select):
            return
        # A second walk, to learn which column the subquery gives; facts are sets, or repeat.
        given = self._query(query, scope, ctes)
        if len(given.columns) == 1 and not given.rest:
            self._edge(
                self._origins(column, scope), given.columns[0].origins, (-1, -1), JoinBlock()
            )

    def _resolve(self, node: exp.Column, scope: QueryScope) -> tuple[Reads, Origins]:
        if isinstance(node.this, exp.Star):
            self._seen.add(id(node.this))
            source = scope.source_named(self._fold.of_table(node.args.get("table")))
            if source is None:
                raise NotUnderstood(f"the table of {node.sql()!r}")
            return source.whole(), frozenset()
        name = node.name.casefold()
        table = node.args.get("table")
        if table is None:
            folded = self._fold.of_table(node.this)
            reads, origins, found = scope.find(name, folded)
            if not found:
                raise NotUnderstood(f"column {node.name!r}, which no table of the query has")
            return reads, origins
        source = scope.source_named(self._fold.of_table(table))
        if source is not None:
            output, _ = source.find(name)
            if output is None:
                raise NotUnderstood(f"column {node.sql()!r}, which its table does not have")
            return output.reads, output.origins
        return self._field(node, table, scope)

    def _field(self, node: exp.Column, table: exp.Expr, scope: QueryScope) -> tuple[Reads, Origins]:
        """Resolve `a.b` or `s.a.b` whose first part is a column with fields."""
        db = node.args.get("db")
        if db is not None:
            source = scope.source_named(self._fold.of_table(db))
            output = source.find(table.name.casefold())[0] if source is not None else None
            if output is not None:
                return output.reads, frozenset()
        else:
            reads, _, found = scope.find(table.name.casefold(), self._fold.of_table(table))
            if found:
                return reads, frozenset()
        raise NotUnderstood(f"the table of {node.sql()!r}")

    def _origins(self, node: exp.Column, scope: QueryScope) -> Origins:
        _, origins = self._resolve(node, scope)
        return origins

    def _edge(
        self, left: Origins, right: Origins, places: tuple[int, int], block: JoinBlock
    ) -> None:
        first, second = places
        for _, table_a, column_a in left:
            for _, table_b, column_b in right:
                if first == second and first >= 0:
                    continue  # two columns of one source are no join
                edge: Edge = ((table_a, column_a), (table_b, column_b))
                self.facts.edges.add(edge)
                if first >= 0 and second >= 0:
                    block.edges.append((first, second, edge))

    def _commit(self, reads: Reads) -> None:
        self.facts.reads |= reads

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args.get("alias")
        return self._fold.of_table(alias.this) if alias is not None and alias.this else ""

    def _names(self, alias: exp.Expr | None) -> list[str]:
        columns = alias.args.get("columns") if alias is not None else None
        return [item.name.casefold() for item in columns or ()]

    def _only(self, node: exp.Expr, handled: frozenset[str]) -> None:
        for key, value in node.args.items():
            if key not in handled and value not in (None, False, []):
                raise NotUnderstood(f"{key.rstrip('_').upper()} in a query")
