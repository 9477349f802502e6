"""Walk over a parsed query and gather its facts."""

from __future__ import annotations

from sqlglot import exp

from dbagenteval.rules.lineage import Edge, JoinBlock, Joined, QueryFacts, Read, Schema, TableUse
from dbagenteval.rules.lineage_functions import is_table_function, unknown_function
from dbagenteval.rules.lineage_scope import SHARED, Output, QueryOutputs, QueryScope, Source, shared
from dbagenteval.rules.lineage_time import bounds_of
from dbagenteval.rules.sql import Sql

__all__ = ["NotUnderstood", "QueryWalk"]

Ctes = dict[str, Source]
Origins = frozenset[tuple[int, str, str]]
Reads = frozenset[Read]
_NONE: Reads = frozenset()

_MODIFIERS = frozenset(("with_", "order", "limit", "offset", "distinct"))
_HANDLED = _MODIFIERS | {
    "expressions",
    "hint",
    "from_",
    "laterals",
    "joins",
    "where",
    "group",
    "having",
    "qualify",
    "windows",
}
_SET_HANDLED = _MODIFIERS | {"this", "expression", "by_name", "side", "kind"}
_TABLE_HANDLED = frozenset(("this", "alias", "db", "catalog", "joins", "hints", "only", "sample"))
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


class QueryWalk:
    """One walk over one statement.

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

    def run(self, statement: exp.Expr) -> QueryOutputs:
        """Walk over a statement and give what it returns; all its outputs are read."""
        outputs = self._query(statement, None, {})
        self._commit(outputs.all_reads())
        for node in statement.find_all(exp.Column, exp.Star, exp.Table):
            if id(node) not in self._seen:
                raise NotUnderstood(f"the place of {node.sql()[:60]!r} in the query")
        return outputs

    # Queries

    def _query(self, node: exp.Expr, outer: QueryScope | None, ctes: Ctes) -> QueryOutputs:
        if isinstance(node, exp.Subquery):
            return self._wrapped(node, outer, ctes)
        inner = self._with(node, outer, ctes)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, outer, inner)
        if isinstance(node, exp.Select):
            return self._select(node, outer, inner)
        raise NotUnderstood(f"a query of the kind {type(node).__name__}")

    def _wrapped(self, node: exp.Subquery, outer: QueryScope | None, ctes: Ctes) -> QueryOutputs:
        self._only(
            node, frozenset(("this", "alias", "with_", "order", "limit", "offset", "sample"))
        )
        outputs = self._query(node.this, outer, self._with(node, outer, ctes))
        self._modifiers(node, QueryScope(outer=outer), outputs, ctes)
        return outputs

    def _with(self, node: exp.Expr, outer: QueryScope | None, ctes: Ctes) -> Ctes:
        with_ = node.args.get("with_")
        if with_ is None:
            return ctes
        inner = dict(ctes)
        for cte in with_.expressions:
            name = self._fold.of_table(cte.args["alias"].this)
            renamed = self._names(cte.args["alias"])
            if with_.recursive and isinstance(cte.this, exp.SetOperation):
                anchor = self._query(cte.this.left, outer, inner)
                # What the recursive part adds has the reads of the anchor, or is read there.
                self._commit(anchor.all_reads())
                inner[name] = Source.of_query(name, anchor, renamed)
            given = Source.of_query(name, self._query(cte.this, outer, inner), renamed)
            inner[name] = given.shared() if self._is_shared(name, node) else given
        return inner

    def _is_shared(self, name: str, node: exp.Expr) -> bool:
        """Say whether a CTE is used twice, so that a condition on one use bounds not the other."""
        named = [
            table
            for table in node.find_all(exp.Table)
            if isinstance(table.this, exp.Identifier) and self._fold.of_table(table.this) == name
        ]
        return len(named) > 1

    def _set_operation(
        self, node: exp.SetOperation, outer: QueryScope | None, ctes: Ctes
    ) -> QueryOutputs:
        self._only(node, _SET_HANDLED)
        left = self._query(node.left, outer, ctes)
        right = self._query(node.right, outer, ctes)
        keeps_all = isinstance(node, exp.Union) and not node.args.get("distinct")
        if not keeps_all:
            self._commit(left.all_reads() | right.all_reads())
        outputs = QueryOutputs(
            is_raw=left.is_raw or right.is_raw, tables=left.tables | right.tables
        )
        if (
            left.rest
            or right.rest
            or node.args.get("by_name")
            or len(left.columns) != len(right.columns)
        ):
            reads = left.all_reads() | right.all_reads()
            named = [*left.columns, *right.columns]
            outputs.columns = [Output(column.name, reads) for column in named]
            outputs.rest = [*left.rest, *right.rest]
        else:
            outputs.columns = [
                Output(
                    one.name,
                    one.reads | two.reads,
                    one.origins | two.origins if one.origins and two.origins else frozenset(),
                )
                for one, two in zip(left.columns, right.columns, strict=True)
            ]
        self._modifiers(node, QueryScope(outer=outer), outputs, ctes)
        return outputs

    def _select(self, node: exp.Select, outer: QueryScope | None, ctes: Ctes) -> QueryOutputs:
        self._only(node, _HANDLED)
        scope = QueryScope(outer=outer)
        block = JoinBlock()
        from_ = node.args.get("from_")
        if from_ is not None:
            self._source(from_.this, scope, ctes, block)
        for item in node.args.get("laterals") or ():
            self._source(item, scope, ctes, block)
        for join in node.args.get("joins") or ():
            self._join(join, scope, ctes, block)
        outputs = self._projections(node, scope, ctes)
        for column in outputs.columns:
            scope.aliases.setdefault(column.name, column)
        self._where(node.args.get("where"), scope, ctes, block)
        for key in ("group", "having", "qualify"):
            part = node.args.get(key)
            if part is not None:
                self._commit(self._expression(part, scope, ctes))
        for window in node.args.get("windows") or ():
            self._commit(self._expression(window, scope, ctes))
        distinct = node.args.get("distinct")
        if distinct is not None:
            self._commit(outputs.all_reads())
            self._commit(self._expression(distinct, scope, ctes))
        if len(block.sources) > 1:
            self.facts.blocks.append(block)
        self._commit_positions(node.args.get("group"), outputs)
        self._modifiers(node, scope, outputs, ctes)
        self._describe(node, scope, outputs)
        return outputs

    def _describe(self, node: exp.Select, scope: QueryScope, outputs: QueryOutputs) -> None:
        aggregates = any(_is_aggregate(item) for item in node.expressions)
        grouped = node.args.get("group") is not None
        limit = node.args.get("limit")
        takes_one = isinstance(limit, exp.Limit) and limit.expression == exp.Literal.number(1)
        outputs.is_single_row = takes_one or (aggregates and not grouped)
        outputs.is_raw = (
            not aggregates and not grouped and any(item.is_raw for item in scope.sources)
        )
        outputs.tables = frozenset().union(*(item.tables for item in scope.sources))
        cut = any(
            node.args.get(key) is not None for key in ("limit", "offset", "qualify", "distinct")
        )
        windowed = any(item.find(exp.Window) for item in node.expressions)
        if cut or windowed:
            # A condition outside does not bound what is read inside.
            outputs.columns = [shared(item) for item in outputs.columns]
            outputs.rest = [(source.shared(), left_out) for source, left_out in outputs.rest]

    def _modifiers(
        self, node: exp.Expr, scope: QueryScope, outputs: QueryOutputs, ctes: Ctes
    ) -> None:
        order = node.args.get("order")
        if order is not None:
            inner = QueryScope([], scope, {item.name: item for item in outputs.columns})
            for item in order.expressions:
                plain = item.this if isinstance(item, exp.Ordered) else item
                if isinstance(plain, exp.Column) and not plain.table:
                    name = self._fold.of_column(plain.this).casefold()
                    if name in inner.aliases:  # an output's name comes before a table's column
                        self._seen.add(id(plain))
                        self._commit(inner.aliases[name].reads)
                        continue
                self._commit(self._expression(item, scope if scope.sources else inner, ctes))
            self._commit_positions(order, outputs)
        for key in ("limit", "offset", "sample"):
            part = node.args.get(key)
            if isinstance(part, exp.Expr):
                self._commit(self._expression(part, scope, ctes))

    def _commit_positions(self, clause: exp.Expr | None, outputs: QueryOutputs) -> None:
        """Commit the outputs that GROUP BY or ORDER BY names by number, or by ALL."""
        if clause is None:
            return
        if clause.args.get("all") is not None:
            self._commit(outputs.all_reads())
        for item in clause.expressions:
            plain = item.this if isinstance(item, exp.Ordered) else item
            if isinstance(plain, (exp.Literal, exp.Var)):
                self._commit(outputs.all_reads())

    # Sources

    def _source(self, node: exp.Expr, scope: QueryScope, ctes: Ctes, block: JoinBlock) -> list[int]:
        """Add the source to the scope and give the positions that it takes in the block."""
        before = len(block.sources)
        if isinstance(node, exp.Table):
            self._table(node, scope, ctes, block)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self._only(node, frozenset(("this",)))  # brackets around joined tables
            self._source(node.this, scope, ctes, block)
        elif isinstance(node, exp.Subquery):
            name = self._alias(node)
            given = self._query(node, scope, ctes)
            self._add(
                Source.of_query(name, given, self._names(node.args.get("alias"))), scope, block
            )
        elif isinstance(node, exp.Lateral):
            self._lateral(node, scope, ctes, block)
        elif isinstance(node, (exp.Unnest, exp.Values)):
            self._opaque(node, node.args.get("expressions") or [], scope, ctes, block)
        else:
            raise NotUnderstood(f"a source of the kind {type(node).__name__}")
        return list(range(before, len(block.sources)))

    def _table(self, node: exp.Table, scope: QueryScope, ctes: Ctes, block: JoinBlock) -> None:
        self._seen.add(id(node))
        self._only(node, _TABLE_HANDLED)
        if isinstance(node.this, exp.Func):
            if not is_table_function(node.this):
                raise NotUnderstood(f"the source {node.this.sql_name().lower()}()")
            self._opaque(node, [node.this], scope, ctes, block)
        elif isinstance(node.this, exp.Identifier):
            self._named_table(node, scope, ctes, block)
        else:
            raise NotUnderstood(f"the source {node.sql()[:60]!r}")
        for join in node.args.get("joins") or ():
            self._join(join, scope, ctes, block)

    def _named_table(
        self, node: exp.Table, scope: QueryScope, ctes: Ctes, block: JoinBlock
    ) -> None:
        own = self._fold.of_table(node.this)
        alias = node.args.get("alias")
        name = self._fold.of_table(alias.this) if alias is not None and alias.this else own
        renamed = self._names(alias)
        is_plain = node.args.get("db") is None and node.args.get("catalog") is None
        if is_plain and own in ctes:
            cte = ctes[own]
            outputs = QueryOutputs(
                columns=[cte.outputs[item] for item in cte.order],
                rest=cte.rest,
                is_single_row=cte.is_single_row,
                is_raw=cte.is_raw,
                tables=cte.tables,
            )
            source = Source.of_query(name, outputs, renamed)
            self._add(source.shared() if cte.is_shared else source, scope, block)
            return
        key = self._key(node)
        use = len(self.facts.uses)
        self.facts.uses.append(TableUse(key, _written(node)))
        self.tables.append(node)
        source = Source.of_table(name, use, key, self._schema)
        if renamed:
            outputs = QueryOutputs(
                columns=[source.outputs[item] for item in source.order],
                tables=source.tables,
                is_raw=True,
            )
            if source.is_open:
                outputs.columns, outputs.rest = [], [(source, frozenset())]
            source = Source.of_query(name, outputs, renamed)
        self._add(source, scope, block)

    def _key(self, node: exp.Table) -> str:
        """Name the table as the schema does; one that differs by case keeps its quotes."""
        db, catalog = node.args.get("db"), node.args.get("catalog")
        schema = db.name if db is not None else self._schema.default_schema
        written = f"{schema}.{node.name}"
        if catalog is not None and catalog.name.casefold() != self._schema.catalog.casefold():
            return f"{catalog.name}.{written}".casefold()
        if written in self._schema.spelling:
            return written.casefold()
        for part in (db, node.this):
            if part is None:
                continue
            folded = self._fold.of_table(part)
            if folded != self._fold.table(part.name, quoted=False) or self._fold.tables_keep_case:
                return f'"{written}"'
        return written.casefold()

    def _lateral(self, node: exp.Lateral, scope: QueryScope, ctes: Ctes, block: JoinBlock) -> None:
        if isinstance(node.this, exp.Subquery):
            given = self._query(node.this, scope, ctes)
            names = self._names(node.args.get("alias"))
            self._add(Source.of_query(self._alias(node), given, names), scope, block)
        elif is_table_function(node.this):
            self._opaque(node, [node.this], scope, ctes, block)
        else:
            raise NotUnderstood(f"the source LATERAL {type(node.this).__name__}")

    def _opaque(
        self,
        node: exp.Expr,
        arguments: list[exp.Expr],
        scope: QueryScope,
        ctes: Ctes,
        block: JoinBlock,
    ) -> None:
        """Add a table function: it gives what its arguments hold."""
        reads = self._expressions(arguments, scope, ctes)
        self._commit(reads)
        names = self._names(node.args.get("alias"))
        offset = node.args.get("offset")
        if isinstance(offset, exp.Identifier):
            names.append(self._fold.of_column(offset).casefold())
        source = Source(
            name=self._alias(node),
            outputs={name: Output(name, reads) for name in names},
            order=names,
            is_opaque=True,
        )
        self._add(source, scope, block)

    def _add(self, source: Source, scope: QueryScope, block: JoinBlock) -> None:
        scope.sources.append(source)
        block.sources.append(Joined(source.name, source.tables, source.is_single_row))

    # Joins

    def _join(self, join: exp.Join, scope: QueryScope, ctes: Ctes, block: JoinBlock) -> None:
        for key in ("match_condition", "expressions", "pivots", "nearest"):
            if join.args.get(key):
                raise NotUnderstood(f"a join with {key}")
        left = list(scope.sources)
        self._source(join.this, scope, ctes, block)
        right = scope.sources[len(left) :]
        if (join.args.get("method") or "").upper() == "NATURAL":
            self._natural(left, right, scope, block)
        for item in join.args.get("using") or ():
            name = self._fold.of_column(item if isinstance(item, exp.Identifier) else item.this)
            for part in item.find_all(exp.Column):
                self._seen.add(id(part))
            self._equal_columns(name.casefold(), left, right, scope, block)
        on = join.args.get("on")
        if on is None:
            return
        self._commit(self._expression(on, scope, ctes))
        self._edges(on, scope, block)
        side = (join.args.get("side") or "").upper()
        is_anti = (join.args.get("kind") or "").upper() == "ANTI"  # keeps what does not match
        if side in ("", "LEFT"):
            self._bound(on, scope, right if side or is_anti else scope.sources)

    def _natural(
        self, left: list[Source], right: list[Source], scope: QueryScope, block: JoinBlock
    ) -> None:
        if not all(source.knows_all for source in (*left, *right)):
            for source in (*left, *right):
                self._commit(source.whole())
            return
        names = {name for source in left for name in source.outputs}
        for name in sorted(names & {name for source in right for name in source.outputs}):
            self._equal_columns(name, left, right, scope, block)

    def _equal_columns(
        self,
        name: str,
        left: list[Source],
        right: list[Source],
        scope: QueryScope,
        block: JoinBlock,
    ) -> None:
        for one in left:
            for two in right:
                first, second = one.find(name)[0], two.find(name)[0]
                if first is not None and second is not None:
                    self._commit(first.reads | second.reads)
                    places = (scope.sources.index(one), scope.sources.index(two))
                    self._edge(first.origins, second.origins, places, block)

    def _edges(self, condition: exp.Expr, scope: QueryScope, block: JoinBlock) -> None:
        """Note the equalities that hold for every row the condition lets through."""
        node = condition.this if isinstance(condition, (exp.Where, exp.Paren)) else condition
        if isinstance(node, (exp.And, exp.Paren)):
            for part in (node.args.get("this"), node.args.get("expression")):
                if isinstance(part, exp.Expr):
                    self._edges(part, scope, block)
        elif isinstance(node, exp.EQ):
            left, right = node.left.unnest(), node.right.unnest()
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                places = (self._place(left, scope), self._place(right, scope))
                origins = (self._origins(left, scope), self._origins(right, scope))
                self._edge(*origins, places, block)

    def _place(self, node: exp.Column, scope: QueryScope) -> int:
        """Give the position of the source that a column is of, or -1 if it is of none here."""
        table = node.args.get("table")
        for index, source in enumerate(scope.sources):
            if table is not None:
                if source.name == self._fold.of_table(table):
                    return index
            elif source.find(node.name.casefold())[0] is not None:
                return index
        return -1

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

    # Conditions and expressions

    def _where(
        self, where: exp.Expr | None, scope: QueryScope, ctes: Ctes, block: JoinBlock
    ) -> None:
        if where is None:
            return
        self._commit(self._expression(where, scope, ctes))
        self._edges(where, scope, block)
        self._bound(where, scope, scope.sources)

    def _bound(self, condition: exp.Expr, scope: QueryScope, sources: list[Source]) -> None:
        """Note the bounds that a condition puts on the tables of these sources."""
        uses = {use for source in sources for use in _uses(source)}
        for origin, sides in bounds_of(condition, lambda node: self._origins(node, scope)).items():
            use, _, column = origin
            if use in uses and use != SHARED:
                self.facts.uses[use].bounds.setdefault(column, set()).update(sides)

    def _origins(self, node: exp.Column, scope: QueryScope) -> Origins:
        _, origins = self._resolve(node, scope)
        return origins

    def _projections(self, node: exp.Select, scope: QueryScope, ctes: Ctes) -> QueryOutputs:
        outputs = QueryOutputs()
        for item in node.expressions:
            inner = item.this if isinstance(item, exp.Column) else item
            if isinstance(inner, exp.Star):
                self._star(item, inner, scope, ctes, outputs)
                continue
            plain = item.unalias().unnest()
            reads = self._expression(item, scope, ctes)
            if item.find(exp.Columns) is not None:  # gives columns whose names are not in the text
                outputs.rest += [(source, frozenset[str]()) for source in scope.sources]
            if any(is_table_function(part) for part in item.walk()):
                self._commit(reads)  # it decides how many rows there are
            origins = self._origins(plain, scope) if isinstance(plain, exp.Column) else frozenset()
            name = self._fold.column(item.output_name, quoted=False).casefold()
            output = Output(name, reads, origins)
            outputs.columns.append(output)
            if name:
                scope.aliases.setdefault(name, output)  # later items may use it
        return outputs

    def _star(
        self,
        item: exp.Expr,
        star: exp.Star,
        scope: QueryScope,
        ctes: Ctes,
        outputs: QueryOutputs,
    ) -> None:
        self._seen.update((id(item), id(star)))
        if star.args.get("rename") or star.args.get("ilike"):
            raise NotUnderstood("a star with RENAME or ILIKE")
        excluded: set[str] = set()
        for part in star.args.get("except_") or ():
            for column in part.find_all(exp.Column):
                self._seen.add(id(column))
            excluded.add(part.name.casefold())
        for part in star.args.get("replace") or ():
            excluded.add(part.alias.casefold())
            reads = self._expression(part, scope, ctes)
            outputs.columns.append(Output(part.alias.casefold(), reads))
        sources = scope.sources
        if isinstance(item, exp.Column):
            found = scope.source_named(self._fold.of_table(item.args.get("table")))
            if found is None:
                raise NotUnderstood(f"the table of {item.sql()!r}")
            sources = [found]
        left_out = frozenset(excluded)
        for source in sources:
            if source.knows_all:
                outputs.columns += [
                    _starred(source.given(name), source)
                    for name in source.order
                    if name not in left_out
                ]
            elif not source.is_opaque:
                outputs.rest.append((source, left_out))

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

    # Small things

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


def _starred(output: Output, source: Source) -> Output:
    if source.use < 0:
        return output
    reads = frozenset(
        Read(item.use, item.table, item.column, by_star=True) for item in output.reads
    )
    return Output(output.name, reads, output.origins)


def _uses(source: Source) -> set[int]:
    found = {origin[0] for output in source.outputs.values() for origin in output.origins}
    if source.use >= 0:
        found.add(source.use)
    for inner, _ in source.rest:
        found |= _uses(inner)
    return found


def _is_aggregate(node: exp.Expr) -> bool:
    """Say whether a SELECT item folds rows: an aggregate that is not a window and not below one."""
    if isinstance(node, (exp.Query, exp.Window)):
        return False
    if isinstance(node, exp.AggFunc):
        return True
    return any(_is_aggregate(item) for item in node.iter_expressions())


def _written(node: exp.Table) -> str:
    parts = [node.args.get("catalog"), node.args.get("db"), node.this]
    return ".".join(part.name for part in parts if part is not None)
