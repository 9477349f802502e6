"""From SQL text to what the statement does: names resolved, aliases gone, conditions gathered."""

from __future__ import annotations

import hashlib

from sqlglot import exp

from dbagenteval.failures.columns import Columns
from dbagenteval.failures.shape import Block, Relation, Shape
from dbagenteval.failures.terms import Term, TermReader, joined
from dbagenteval.rules.output_names import OutputNames
from dbagenteval.rules.queries import Join, Query, Source, Undecided
from dbagenteval.rules.query_reader import read_queries
from dbagenteval.rules.sql import Sql, read_sql

__all__ = ["read_shape"]

_SELF = "recursion"
_READ = frozenset(
    ("from_", "joins", "laterals", "with_", "expressions", "where", "group", "having", "order",
     "limit", "offset", "distinct", "qualify", "hint", "kind", "locks", "into")
)  # fmt: skip


def read_shape(text: str, dialect: str | None = None) -> Shape | None:
    """Read what a text does.

    Args:
        text: One or more statements.
        dialect: sqlglot's name, or None.

    Returns:
        None if the text can't be analysed.
    """
    sql = read_sql(text, dialect)
    if not sql.statements:
        return None
    try:
        return _Shapes(sql).read()
    except (Undecided, RecursionError):
        return None


class _Shapes:
    def __init__(self, sql: Sql) -> None:
        self.sql = sql
        self.fold = sql.fold
        self.outputs = OutputNames(sql)
        self.inner: dict[str, Block] = {}
        self.blocks: dict[Query, Block] = {}
        self.marks: dict[Query, str] = {}

    def read(self) -> Shape:
        tops = tuple(self.block(query) for query in read_queries(self.sql))
        return Shape(tops, self.inner, tuple(self.blocks.values()))

    def mark(self, query: Query | None) -> str:
        """Name an inner query by what it does; one that is still being read reads itself."""
        if query is None:
            return _SELF
        if query not in self.marks:
            self.marks[query] = _SELF
            block = self.block(query)
            digest = hashlib.sha256(str(block).encode("utf-8", "surrogatepass")).hexdigest()
            self.marks[query] = f"§{digest[:12]}"
            self.inner[self.marks[query]] = block
        return self.marks[query]

    def block(self, query: Query) -> Block:
        if query not in self.blocks:
            if query.arms:
                self.blocks[query] = self._arms(query)
            elif isinstance(query.node, exp.Select):
                self.blocks[query] = _SelectReader(self, query).block()
            else:
                self.blocks[query] = _SelectReader(self, query).values()
        return self.blocks[query]

    def _arms(self, query: Query) -> Block:
        arms = [self.mark(query.arms[0])]
        for operator, arm in zip(query.operators, query.arms[1:], strict=True):
            is_distinct = operator.args.get("distinct")
            name = type(operator).__name__.upper()
            arms += [name if is_distinct else f"{name} ALL", self.mark(arm)]
        reader = _SelectReader(self, query)
        reader.select = self.block(query.arms[0]).select
        reader.aliases = dict(zip(self.outputs.of(query) or (), reader.select, strict=False))
        return Block(arms=tuple(arms), order=reader.order(), limit=reader.limit())


class _SelectReader:
    """Reads one SELECT (or the ORDER BY and LIMIT of a set operation)."""

    def __init__(self, shapes: _Shapes, query: Query) -> None:
        self.shapes = shapes
        self.query = query
        self.node = query.node
        self.fold = shapes.fold
        self.aggregates: list[tuple[str, Term]] = []
        self.subqueries = {id(held.node): held.query for held in query.subqueries}
        self.columns = Columns(query, shapes)
        self.reader = TermReader(self._column, self._subquery, self._aggregate)
        self.select: tuple[Term, ...] = ()
        self.aliases: dict[str, Term] = {}
        self.where: list[Term] = []

    def block(self) -> Block:
        node = self.node
        relations = self._relations(self.query.tree)
        self.select = tuple(self.reader.term(item) for item in node.expressions)
        self.where += self._conditions("where")
        self.aliases = self._named_items()
        if all(relation.join in ("", "inner") for relation in relations) and not any(
            "*" in item.text.split(".") for item in self.select
        ):
            relations.sort(key=lambda relation: relation.name)
        return Block(
            select=self.select,
            relations=tuple(relations),
            where=tuple(sorted(self.where)),
            group=self._group(),
            having=tuple(sorted([*self._conditions("having"), *self._conditions("qualify")])),
            order=self.order(),
            limit=self.limit(),
            distinct=self._distinct(),
            extras=self._extras(),
            aggregates=tuple(self.aggregates),
        )

    def values(self) -> Block:
        """Read a list of rows: rows of one form are one, with the literals of all."""
        rows = [self.reader.term(row) for row in self.node.expressions]
        forms = ", ".join(sorted({row.text for row in rows}))
        literals = tuple(value for row in rows for value in row.values)
        return Block(extras=(Term(f"VALUES {forms}", literals),))

    def _relations(self, tree: Join | Source | None) -> list[Relation]:
        if tree is None:
            return []
        if isinstance(tree, Source):
            return [self._relation(tree)]
        left, right, kind = tree.left, tree.right, tree.kind
        if kind == "right":
            left, right, kind = right, left, "left"
        found = self._relations(left)
        on = self._join_conditions(tree)
        if kind == "inner":
            self.where += on
            return found + [self._joined(item, "inner") for item in self._relations(right)]
        before = len(self.where)
        added = self._relations(right)
        on += self.where[before:]
        del self.where[before:]
        first = self._joined(added[0], kind, tuple(sorted(on)))
        return [*found, first, *(self._joined(item, kind) for item in added[1:])]

    def _relation(self, source: Source) -> Relation:
        name = self.columns.source(source)
        if source.kind == "function":
            node = source.node
            name = self.reader.term(node.this if isinstance(node, exp.Table) else node).text
        return Relation(name, is_table=source.kind == "table")

    @staticmethod
    def _joined(relation: Relation, kind: str, on: tuple[Term, ...] = ()) -> Relation:
        return Relation(relation.name, relation.join or kind, relation.on or on, relation.is_table)

    def _join_conditions(self, join: Join) -> list[Term]:
        if join.is_natural:
            return [Term("NATURAL")]
        found = [] if join.on is None else self.reader.conjuncts(join.on)
        for name in join.using:
            sides = [
                self.columns.of(side, name).text if isinstance(side, Source) else name
                for side in (join.left, join.right)
            ]
            found.append(Term(" = ".join(sorted(sides))))
        return found

    def _conditions(self, clause: str) -> list[Term]:
        node = self.node.args.get(clause)
        return [] if node is None else self.reader.conjuncts(node.this)

    def _named_items(self) -> dict[str, Term]:
        """Give the aliases that name no column: what GROUP BY and its like mean by them."""
        used = {
            self.fold.of_column(column.this)
            for item in self.node.expressions
            for column in item.find_all(exp.Column)
        }
        return {
            name: term
            for item, term in zip(self.node.expressions, self.select, strict=True)
            if isinstance(item, exp.Alias)
            and (name := self.fold.of_column(item.args["alias"])) not in used
        }

    def _group(self) -> tuple[Term, ...]:
        group = self.node.args.get("group")
        if group is None:
            return ()
        keys = [self._ordinal(key) for key in group.expressions]
        others = [
            self.reader.term(part)
            for name, value in group.args.items()
            if name != "expressions"
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, exp.Expr)
        ]
        flags = [Term(name.upper()) for name, value in group.args.items() if value is True]
        return tuple(sorted({*keys, *others, *flags}))

    def order(self) -> tuple[Term, ...]:
        """Read ORDER BY; positions and aliases give what they stand for."""
        order = self.node.args.get("order")
        if order is None:
            return ()
        found = []
        for item in order.expressions:
            is_ordered = isinstance(item, exp.Ordered)
            term = self._ordinal(item.this if is_ordered else item)
            is_down = is_ordered and item.args.get("desc")
            found.append(joined([term], "", after=" DESC" if is_down else ""))
        return tuple(found)

    def _ordinal(self, key: exp.Expr) -> Term:
        if isinstance(key, exp.Literal) and not key.is_string and str(key.this).isdigit():
            place = int(str(key.this)[:9]) - 1
            if 0 <= place < len(self.select):
                return self.select[place]
            return Term(f"#{place + 1}")
        return self.reader.term(key)

    def limit(self) -> tuple[Term, ...]:
        """Read LIMIT, FETCH or TOP, and OFFSET."""
        found = []
        for name in ("limit", "offset"):
            clause = self.node.args.get(name)
            if clause is not None:
                count = clause.args.get("count") or clause.args.get("expression")
                term = Term("") if count is None else self.reader.term(count)
                found.append(joined([term], "", f"{name.upper()} "))
        if not found and self.query.is_limited:
            found.append(Term("LIMIT"))
        return tuple(found)

    def _distinct(self) -> tuple[Term, ...]:
        distinct = self.node.args.get("distinct")
        if distinct is None:
            return ()
        on = distinct.args.get("on")
        return (
            (Term("DISTINCT"),)
            if on is None
            else (joined([self.reader.term(on)], "", "DISTINCT ON "),)
        )

    def _extras(self) -> tuple[Term, ...]:
        return tuple(
            self.reader.term(part)
            for name, value in self.node.args.items()
            if name not in _READ
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, exp.Expr)
        )

    def _subquery(self, node: exp.Expr) -> Term:
        held = self.subqueries.get(id(node))
        return Term("(subquery)" if held is None else self.shapes.mark(held))

    def _aggregate(self, name: str, argument: Term) -> None:
        self.aggregates.append((name, argument))

    def _column(self, node: exp.Column) -> Term:
        if self.aliases and node.args.get("table") is None:
            found = self.aliases.get(self.fold.of_column(node.this))
            if found is not None:
                return found
        return self.columns.named(node)
