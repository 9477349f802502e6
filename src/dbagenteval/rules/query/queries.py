"""The queries of a statement: what each SELECT reads, under which names, joined how.

sqlglot's own scopes look CTE names up by exact spelling and let a WITH item see later ones; what
a rule passes must not rest on that, so names are resolved here as databases do: folded by dialect,
in the order of the WITH items, with RECURSIVE, shadowing and correlation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

__all__ = ["Cte", "Join", "Query", "Source", "Subquery", "Undecided", "columns_in", "unwrap"]


class Undecided(Exception):
    """The statement has a form that the rules can't analyse; the text says which."""


@dataclass(eq=False, slots=True)
class Cte:
    """One item of a WITH.

    Args:
        name: As written.
        columns: Folded names of its column list, or None without a list.
        query: Its body; None only while it is being read.
        is_recursive: It reads itself.
    """

    name: str
    columns: tuple[str, ...] | None
    query: Query | None = None
    is_recursive: bool = False


@dataclass(eq=False, slots=True)
class Source:
    """One thing that a SELECT reads from.

    Args:
        kind: `table`, `cte`, `query` (derived table), `values` or `function`.
        node: The tree node.
        alias: Folded name by which columns refer to it; empty if it has none.
        label: Alias or name as written, for messages.
        name: Folded parts of a table's name.
        columns: Folded names of an alias column list, or None.
        query: What a derived table holds.
        cte: What a CTE reference refers to.
        is_lateral: It may read columns of the sources before it.
        is_distorted: PIVOT, TABLESAMPLE or MATCH_RECOGNIZE change its rows before any filter.
    """

    kind: str
    node: exp.Expr
    alias: str = ""
    label: str = ""
    name: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    query: Query | None = None
    cte: Cte | None = None
    is_lateral: bool = False
    is_distorted: bool = False


@dataclass(eq=False, slots=True)
class Join:
    """Two sides of a join; `kind` is inner, left, right, full, semi or anti.

    Args:
        on: The ON predicate, or None.
        using: Folded names of USING.
        is_natural: NATURAL JOIN.
        is_comma: Written as a comma, or as a JOIN without condition.
    """

    kind: str
    left: Join | Source
    right: Join | Source
    on: exp.Expr | None = None
    using: tuple[str, ...] = ()
    is_natural: bool = False
    is_comma: bool = False

    def sources(self) -> list[Source]:
        """All sources of both sides, left to right."""
        found: list[Source] = []
        todo: list[Join | Source] = [self]
        while todo:
            side = todo.pop()
            if isinstance(side, Join):
                todo += [side.right, side.left]
            else:
                found.append(side)
        return found


@dataclass(eq=False, slots=True)
class Subquery:
    """A query inside an expression.

    Args:
        query: What it holds.
        node: Its node in the expression (a Subquery, or the query itself).
        join: The join in whose ON it stands, or None.
    """

    query: Query
    node: exp.Expr
    join: Join | None = None


@dataclass(eq=False, slots=True)
class Query:
    """One SELECT, VALUES or set operation.

    Args:
        node: The Select, Values or SetOperation.
        parent: The query whose columns it may refer to, or None.
        label: Where it stands, for messages; empty at the top.
        tree: What a SELECT reads from; None if nothing.
        sources: The leaves of the tree, left to right.
        subqueries: Queries inside its expressions.
        arms: The arms of a set operation, left to right.
        operators: The operators between the arms.
        ctes: The WITH items written at it.
        is_limited: LIMIT, OFFSET, FETCH or TOP stands at it or at brackets around it.
        from_cte: The WITH item whose body it is part of, or None.
    """

    node: exp.Expr
    parent: Query | None = None
    label: str = ""
    tree: Join | Source | None = None
    sources: list[Source] = field(default_factory=list)
    subqueries: list[Subquery] = field(default_factory=list)
    arms: list[Query] = field(default_factory=list)
    operators: list[exp.SetOperation] = field(default_factory=list)
    ctes: list[Cte] = field(default_factory=list)
    is_limited: bool = False
    from_cte: Cte | None = None

    def inner(self) -> Iterator[Query]:
        """Give the queries right inside this one, each once."""
        yield from self.arms
        for cte in self.ctes:
            if cte.query is not None:
                yield cte.query
        for source in self.sources:
            if source.query is not None:
                yield source.query
        for subquery in self.subqueries:
            yield subquery.query

    def all(self) -> Iterator[Query]:
        """Give this query and all inside it."""
        todo = [self]
        while todo:
            query = todo.pop()
            yield query
            todo.extend(query.inner())


def unwrap(node: exp.Expr) -> exp.Expr:
    """Take brackets off an expression."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def columns_in(node: exp.Expr) -> Iterator[exp.Column]:
    """Give the column references of an expression, those inside its subqueries left out."""
    for found in node.walk(bfs=False, prune=lambda part: isinstance(part, exp.Query)):
        if isinstance(found, exp.Column):
            yield found
