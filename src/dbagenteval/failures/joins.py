"""What a SELECT reads: its tables, and how they are joined."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbagenteval.failures.columns import Columns
from dbagenteval.failures.expressions import TermReader
from dbagenteval.failures.shape import Relation
from dbagenteval.failures.term import Term
from dbagenteval.rules.query.queries import Join, Source

__all__ = ["JoinReader"]

_NAMED = frozenset(("this", "db", "catalog", "alias", "joins", "laterals", "hints"))


class JoinReader:
    """Flattens the joins of one SELECT.

    The conditions of inner joins are gathered in `conditions`: they are conditions on the rows,
    wherever they stand. Those on what an outer join adds stay with it.

    Args:
        reader: Reads the conditions.
        columns: Names the sources.
    """

    def __init__(self, reader: TermReader, columns: Columns) -> None:
        self.conditions: list[Term] = []
        self._reader = reader
        self._columns = columns

    def relations(self, tree: Join | Source | None) -> list[Relation]:
        """Give what is read, left to right; a right join is a left join the other way round."""
        if tree is None:
            return []
        if isinstance(tree, Source):
            return [self._relation(tree)]
        left, right, kind = tree.left, tree.right, tree.kind
        if kind == "right":
            left, right, kind = right, left, "left"
        found = self.relations(left)
        if kind == "full":
            # Its other side has rows that no condition of this side was asked of.
            found[0] = replace(found[0], on=self._taken(0))
        before = len(self.conditions)
        added = self.relations(right)
        self.conditions += self._conditions(tree)
        first = replace(added[0], join=added[0].join or kind)
        if kind != "inner":
            first = replace(first, on=(*first.on, *self._taken(before)))
        return [*found, first, *(replace(each, join=each.join or kind) for each in added[1:])]

    def _taken(self, start: int) -> tuple[Term, ...]:
        """Take back the conditions that were gathered since."""
        taken = tuple(sorted(self.conditions[start:]))
        del self.conditions[start:]
        return taken

    def _relation(self, source: Source) -> Relation:
        name = self._columns.source(source)
        node = source.node
        if source.kind == "function":
            name = self._reader.term(node.this if isinstance(node, exp.Table) else node).text
        elif isinstance(node, exp.Table):
            # A sample, a point in time: other rows than those of the table.
            for part, value in node.args.items():
                if value and part not in _NAMED:
                    name += f" {part.upper()}"
        return Relation(name, is_table=source.kind == "table")

    def _conditions(self, join: Join) -> list[Term]:
        if join.is_natural:
            return [Term("NATURAL")]
        found = [] if join.on is None else self._reader.conjuncts(join.on)
        for name in join.using:
            sides = [
                self._columns.of(side, name).text if isinstance(side, Source) else name
                for side in (join.left, join.right)
            ]
            found.append(Term(" = ".join(sorted(sides))))
        return found
