"""The names of the columns that a query gives."""

from __future__ import annotations

from sqlglot import exp

from dbagenteval.rules.query.queries import Query, Source
from dbagenteval.rules.query.sql import Sql

__all__ = ["OutputNames"]


class OutputNames:
    """Finds the columns of derived tables and WITH items.

    Args:
        sql: The text.
    """

    def __init__(self, sql: Sql) -> None:
        self._fold = sql.fold
        self._known: dict[Query, list[str] | None] = {}

    def of(self, query: Query) -> list[str] | None:
        """Give the folded names in order; None if a star over a base table hides some."""
        if query not in self._known:
            self._known[query] = None  # what a recursive reference to it sees
            self._known[query] = self._names(query)
        return self._known[query]

    def of_source(self, source: Source) -> list[str] | None:
        """Give the names that a source has; None if they are not known."""
        if source.kind == "table" or source.is_distorted:
            return None
        names: list[str] | None = None
        if source.cte is not None:
            held = source.cte.query
            names = None if held is None else self.of(held)
            if source.cte.columns is not None:
                names = list(source.cte.columns)
        elif source.query is not None:
            names = self.of(source.query)
        elif source.kind == "function":
            names = None if source.columns is None else [source.alias]
        if source.columns is not None:
            names = [*source.columns, *(names or [])[len(source.columns) :]]
            names += [source.alias] if source.kind == "function" else []
        return names

    def has(self, source: Source, name: str) -> bool | None:
        """Whether a source has a column; None if that is not known."""
        names = self.of_source(source)
        return None if names is None else name in names

    def _names(self, query: Query) -> list[str] | None:
        if query.arms:
            return self.of(query.arms[0])
        if isinstance(query.node, exp.Values):
            row = query.node.expressions[0] if query.node.expressions else None
            width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
            return [f"column{index + 1}" for index in range(width)]
        found: list[str] = []
        for node in query.node.expressions:
            inner = node.this if isinstance(node, exp.Column) else node
            if isinstance(inner, exp.Star):
                spread = self._spread(query, node)
                if spread is None:
                    return None
                found += spread
            elif isinstance(node, (exp.Columns, exp.Aliases, exp.Dot)):
                return None
            else:
                found.append(self._name(node))
        return found

    def _name(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Alias):
            return self._fold.of_column(node.args["alias"])
        if isinstance(node, exp.Column):
            return self._fold.of_column(node.this)
        return self._fold.column(node.output_name, False)

    def _spread(self, query: Query, node: exp.Expr) -> list[str] | None:
        star = node.this if isinstance(node, exp.Column) else node
        if any(star.args.get(part) for part in ("rename", "ilike")):
            return None
        qualifier = node.args.get("table") if isinstance(node, exp.Column) else None
        alias = self._fold.of_table(qualifier) if qualifier is not None else None
        found: list[str] = []
        for source in query.sources:
            if alias is None or source.alias == alias:
                names = self.of_source(source)
                if names is None:
                    return None
                found += names
        return found
