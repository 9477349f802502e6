"""From SQL text to what the statement does: names resolved, aliases gone, conditions gathered."""

from __future__ import annotations

import hashlib

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from dbagenteval.failures.columns import Columns
from dbagenteval.failures.expressions import TermReader
from dbagenteval.failures.joins import JoinReader
from dbagenteval.failures.shape import Block, Shape
from dbagenteval.failures.term import Term, joined
from dbagenteval.rules.query.output_names import OutputNames
from dbagenteval.rules.query.queries import Query, Undecided
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.sql import Sql, read_sql

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
    if not sql.statements and ("/*" in text or "--" in text):
        # The tokenizer sees no ORDER BY where a comment stands between its words.
        sql = read_sql(_without_comments(sql), dialect)
    if not sql.statements:
        return None
    try:
        return _Shapes(sql).read()
    except (Undecided, RecursionError):
        return None


def _without_comments(sql: Sql) -> str:
    found, end = "", 0
    for token in sql.tokens:
        found += " " if token.start > end else ""
        found += sql.text[token.start : token.end + 1]
        end = token.end + 1
    return found


class _Shapes:
    def __init__(self, sql: Sql) -> None:
        self.sql = sql
        self.fold = sql.fold
        self.nulls = Dialect.get_or_raise(sql.dialect).NULL_ORDERING
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
            name = type(operator).__name__.upper() + ("" if is_distinct else " ALL")
            by_name = " BY NAME" if operator.args.get("by_name") else ""
            arms += [f"{name}{by_name}", self.mark(arm)]
        reader = _SelectReader(self, query)
        reader.select = self.block(query.arms[0]).select
        reader.ordered_as = dict(zip(self.outputs.of(query) or (), reader.select, strict=False))
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
        self.reader = TermReader(self._column, self._subquery, self._aggregate, nulls=shapes.nulls)
        self.select: tuple[Term, ...] = ()
        self.aliases: dict[str, Term] = {}
        self.ordered_as: dict[str, Term] = {}

    def block(self) -> Block:
        node = self.node
        joins = JoinReader(self.reader, self.columns)
        relations = joins.relations(self.query.tree)
        self.select = tuple(self.reader.term(item) for item in node.expressions)
        where = sorted([*joins.conditions, *self._conditions("where")])
        self._name_items()
        has_star = any("*" in item.text.split(".") for item in self.select)
        if not has_star and all(relation.is_inner for relation in relations):
            relations.sort(key=lambda relation: relation.name)
        return Block(
            select=self.select,
            relations=tuple(relations),
            where=tuple(where),
            group=self._group(),
            having=tuple(sorted([*self._conditions("having"), *self._conditions("qualify")])),
            order=self.order(),
            limit=self.limit(),
            distinct=self._distinct(),
            extras=self._extras(),
            aggregates=tuple(dict.fromkeys(self.aggregates)),
        )

    def values(self) -> Block:
        """Read a list of rows: rows of one form are one, with the literals of all."""
        rows = [self.reader.term(row) for row in self.node.expressions]
        forms = ", ".join(sorted({row.text for row in rows}))
        literals = tuple(value for row in rows for value in row.values)
        return Block(extras=(Term(f"VALUES {forms}", literals),))

    def _conditions(self, clause: str) -> list[Term]:
        node = self.node.args.get(clause)
        return [] if node is None else self.reader.conjuncts(node.this)

    def _name_items(self) -> None:
        """Note what aliases mean: in ORDER BY any of them, elsewhere one that names no column."""
        used = {
            self.fold.of_column(column.this)
            for item in self.node.expressions
            for column in item.find_all(exp.Column)
        }
        self.ordered_as = {
            self.fold.of_column(item.args["alias"]): term
            for item, term in zip(self.node.expressions, self.select, strict=True)
            if isinstance(item, exp.Alias)
        }
        self.aliases = {name: term for name, term in self.ordered_as.items() if name not in used}

    def _group(self) -> tuple[Term, ...]:
        group = self.node.args.get("group")
        if group is None:
            return ()
        keys = [self._ordinal(key) for key in group.expressions]
        others = [
            self.reader.term(part)
            for part in group.iter_expressions()
            if part.arg_key != "expressions"
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
            key = item.this if isinstance(item, exp.Ordered) else item
            is_name = isinstance(key, exp.Column) and key.args.get("table") is None
            term = self.ordered_as.get(self.fold.of_column(key.this)) if is_name else None
            direction = self.reader.direction(item) if isinstance(item, exp.Ordered) else ""
            found.append(joined([term or self._ordinal(key)], "", after=direction))
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
                terms = list(map(self.reader.term, clause.iter_expressions()))
                found.append(joined(terms, " ", f"{name.upper()} "))
        if not found and self.query.is_limited:
            found.append(Term("LIMIT"))
        return tuple(found)

    def _distinct(self) -> tuple[Term, ...]:
        distinct = self.node.args.get("distinct")
        if distinct is None:
            return ()
        on = distinct.args.get("on")
        if on is None:
            return (Term("DISTINCT"),)
        return (joined([self.reader.term(on)], "", "DISTINCT ON "),)

    def _extras(self) -> tuple[Term, ...]:
        return tuple(
            self.reader.term(part)
            for part in self.node.iter_expressions()
            if part.arg_key not in _READ
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
