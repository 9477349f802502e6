"""Walk over a parsed query and gather its facts."""

from __future__ import annotations

from sqlglot import exp

from dbagenteval.rules.lineage.expressions import Ctes, NotUnderstood
from dbagenteval.rules.lineage.facts import JoinBlock, Read
from dbagenteval.rules.lineage.functions import is_table_function
from dbagenteval.rules.lineage.scope import Output, QueryOutputs, QueryScope, Source, shared
from dbagenteval.rules.lineage.sources import SourceWalk

__all__ = ["NotUnderstood", "QueryWalk"]

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


class QueryWalk(SourceWalk):
    """One walk over one statement; see `ExpressionWalk` for its arguments."""

    def run(self, statement: exp.Expr) -> QueryOutputs:
        """Walk over a statement and give what it returns; all its outputs are read."""
        outputs = self._query(statement, None, {})
        self._commit(outputs.all_reads())
        for node in statement.find_all(exp.Column, exp.Star, exp.Table):
            if id(node) not in self._seen:
                raise NotUnderstood(f"the place of {node.sql()[:60]!r} in the query")
        return outputs

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


def _starred(output: Output, source: Source) -> Output:
    if source.use < 0:
        return output
    reads = frozenset(
        Read(item.use, item.table, item.column, by_star=True) for item in output.reads
    )
    return Output(output.name, reads, output.origins)


def _is_aggregate(node: exp.Expr) -> bool:
    """Say whether a SELECT item folds rows: an aggregate that is not a window and not below one."""
    if isinstance(node, (exp.Query, exp.Window)):
        return False
    if isinstance(node, exp.AggFunc):
        return True
    return any(_is_aggregate(item) for item in node.iter_expressions())
