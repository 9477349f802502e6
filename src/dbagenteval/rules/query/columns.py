"""Which source a column reference means."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbagenteval.rules.query.names import Folding
from dbagenteval.rules.query.queries import Join, Query, Source, Undecided

__all__ = ["ColumnResolver"]

Has = Callable[[Source, str], bool | None]
"""Whether a source has a column of that folded name; None if that is not known."""


class ColumnResolver:
    """Finds the source of a column by its qualifier or by who can have it.

    Args:
        fold: How names compare.
        has: Whether a source has a column.
    """

    def __init__(self, fold: Folding, has: Has) -> None:
        self._fold = fold
        self._has = has

    def find(
        self, column: exp.Column, query: Query | None, join: Join | None = None
    ) -> tuple[Source | Query, str] | None:
        """Give who has the column, and its folded name.

        An unqualified name that only sources of unknown columns can have is given to the query as
        a whole: it means one column, whichever. None if two surely have it, or the reference is
        to nothing known.
        """
        if isinstance(column.this, exp.Star) or column.args.get("join_mark"):
            return None
        name = self._fold.of_column(column.this)
        qualifier = column.args.get("table")
        while query is not None:
            if qualifier is not None:
                found = self.qualified(self._fold.of_table(qualifier), query)
                if found is not None:
                    return found, name
            elif query.tree is not None:
                surely, maybe = self.search(query.tree if join is None else join, name, join)
                if surely:
                    return (surely[0], name) if len(surely) == 1 else None
                if maybe:
                    return (maybe[0] if len(maybe) == 1 else query), name
            query, join = query.parent, None
        return None

    @staticmethod
    def qualified(alias: str, query: Query) -> Source | None:
        """Give the source that goes by this alias.

        Raises:
            Undecided: Two do.
        """
        found = [source for source in query.sources if source.alias == alias]
        if len(found) > 1:
            label = found[0].label
            raise Undecided(f"two sources are both called {label!r}; give each a distinct alias")
        return found[0] if found else None

    def search(
        self, tree: Join | Source, name: str, on: Join | None = None
    ) -> tuple[list[Source], list[Source]]:
        """Give the sources that surely have the column, and those that may."""
        if isinstance(tree, Source):
            has = self._has(tree, name)
            return ([tree] if has else []), ([tree] if has is None else [])
        left = self.search(tree.left, name)
        if tree.kind in ("semi", "anti") and tree is not on:
            return left
        right = self.search(tree.right, name)
        is_merged = name in tree.using or (tree.is_natural and bool(left[0] and right[0]))
        if is_merged and tree is not on:
            if tree.kind == "full":
                return left[0] + right[0] + left[1] + right[1], []
            return right if tree.kind == "right" else left
        return left[0] + right[0], left[1] + right[1]
