"""Columns in names that do not depend on aliases."""

from __future__ import annotations

import re
from typing import Protocol

from sqlglot import exp

from dbagenteval.failures.names import COLUMN, written
from dbagenteval.failures.shape import Block
from dbagenteval.failures.term import Term
from dbagenteval.rules.query.names import Folding
from dbagenteval.rules.query.output_names import OutputNames
from dbagenteval.rules.query.queries import Query, Source

__all__ = ["Columns", "InnerQueries"]

_PARAMETER = re.compile(r"\$\d+")


class InnerQueries(Protocol):
    """What is known of the queries inside the one that is being read."""

    fold: Folding
    outputs: OutputNames
    blocks: dict[Query, Block]

    def mark(self, query: Query | None) -> str:
        """Name a query by what it does."""


class Columns:
    """Names the sources and the columns of one query.

    A table has its own name, its second use in one query is `table#2`; a column of a derived
    table or WITH item is named by position, or by what it is where nothing else is read.

    Args:
        query: The query.
        inner: The queries that it reads.
    """

    def __init__(self, query: Query, inner: InnerQueries) -> None:
        self._query = query
        self._inner = inner
        self._names: dict[int, str] = {}
        counts: dict[str, int] = {}
        for source in query.sources:
            name = self._source_name(source)
            counts[name] = counts.get(name, 0) + 1
            self._names[id(source)] = name if counts[name] == 1 else f"{name}#{counts[name]}"

    def source(self, source: Source) -> str:
        """Give the name of one of the query's sources."""
        return self._names[id(source)]

    def named(self, node: exp.Column) -> Term:
        """Name a column reference."""
        fold = self._inner.fold
        name = "*" if isinstance(node.this, exp.Star) else fold.of_column(node.this)
        qualifier = node.args.get("table")
        if qualifier is None:
            return self._unqualified(name)
        alias = fold.of_table(qualifier)
        query: Query | None = self._query
        while query is not None:
            for source in query.sources:
                if source.alias == alias:
                    return self.of(source, name)
            query = query.parent
        return Term(f"{written(alias)}.{written(name)}")

    def of(self, source: Source, name: str) -> Term:
        """Name a column by what it is in the source; `^` says that an outer query reads it."""
        held, own = self._names.get(id(source)), name if name == "*" else written(name)
        if held is None:
            return Term(f"^{self._source_name(source)}.{own}")
        query = source.cte.query if source.cte is not None else source.query
        block = None if query is None else self._inner.blocks.get(query)
        if query is None or block is None or source.kind not in ("cte", "query", "values"):
            return Term(f"{held}.{own}")
        is_only = len(self._query.sources) == len(query.sources) == 1
        if is_only and _is_all(block) and query.sources[0].kind == "table":
            return Term(f"{block.relations[0].name}.{own}")
        names = self._inner.outputs.of_source(source) or []
        if name not in names:
            return Term(f"{held}.{own}")
        place = names.index(name)
        if is_only and len(block.select) == len(names):
            column = block.select[place]
            if COLUMN.fullmatch(column.text):
                return column
        return Term(f"{held}.{place + 1}")

    def _source_name(self, source: Source) -> str:
        if source.kind == "table":
            return ".".join(map(written, source.name))
        if source.cte is not None:
            return self._inner.mark(source.cte.query)
        return "function" if source.query is None else self._inner.mark(source.query)

    def _unqualified(self, name: str) -> Term:
        if _PARAMETER.fullmatch(name):
            return Term(":value", (name,))
        sources, outputs = self._query.sources, self._inner.outputs
        if len(sources) == 1 and outputs.has(sources[0], name) is not False:
            return self.of(sources[0], name)
        having = [source for source in sources if outputs.has(source, name)]
        return self.of(having[0], name) if len(having) == 1 else Term(f".{written(name)}")


def _is_all(block: Block) -> bool:
    """Whether a query gives all columns of what it reads and nothing else."""
    return len(block.select) == 1 and block.select[0].text.split(".")[-1] == "*"
