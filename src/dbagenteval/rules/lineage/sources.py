"""Read the sources of a query: tables, subqueries, and how they are joined and bounded."""

from __future__ import annotations

from sqlglot import exp

from dbagenteval.rules.lineage.expressions import Ctes, ExpressionWalk, NotUnderstood
from dbagenteval.rules.lineage.facts import JoinBlock, Joined, TableUse
from dbagenteval.rules.lineage.functions import is_table_function
from dbagenteval.rules.lineage.scope import SHARED, Output, QueryOutputs, QueryScope, Source
from dbagenteval.rules.lineage.times import bounds_of

__all__ = ["SourceWalk"]

_TABLE_HANDLED = frozenset(("this", "alias", "db", "catalog", "joins", "hints", "only", "sample"))


class SourceWalk(ExpressionWalk):
    """The part of a walk that reads FROM and WHERE."""

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


def _uses(source: Source) -> set[int]:
    found = {origin[0] for output in source.outputs.values() for origin in output.origins}
    if source.use >= 0:
        found.add(source.use)
    for inner, _ in source.rest:
        found |= _uses(inner)
    return found


def _written(node: exp.Table) -> str:
    parts = [node.args.get("catalog"), node.args.get("db"), node.this]
    return ".".join(part.name for part in parts if part is not None)
