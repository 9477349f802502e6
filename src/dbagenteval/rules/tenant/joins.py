"""Which facts hold for the rows of each side of a join."""

from __future__ import annotations

from collections.abc import Callable

from dbagenteval.rules.query.queries import Join, Source
from dbagenteval.rules.tenant.facts import Facts

__all__ = ["JoinContexts"]


class JoinContexts:
    """Facts for each source of a SELECT, by what kinds of join lie between it and the result.

    A row of a source matters if it can reach the result, or can keep another row from being
    filled with NULLs. For the optional side of an outer join these are the rows that match ON, so
    ON speaks for them; for the other side it does not. A condition that refuses NULLs of the
    optional side makes the join an inner one.

    Args:
        tree: What the SELECT reads from.
        where: The facts of WHERE, and of what counts like it.
        on_facts: Gives the facts of a join's condition.
        source_facts: Gives what is known of a source's columns.
    """

    def __init__(
        self,
        tree: Join | Source,
        where: Facts,
        on_facts: Callable[[Join], Facts],
        source_facts: Callable[[Source], Facts],
    ) -> None:
        self._tree = tree
        self._source_facts = source_facts
        self._all_sources = tree.sources() if isinstance(tree, Join) else [tree]
        self._on = {id(join): on_facts(join) for join in _joins(tree)}
        self._sources = {id(join): set(join.sources()) for join in _joins(tree)}
        self.at_source: dict[Source, Facts] = {}
        self.at_join: dict[int, Facts] = {}
        self.result = self._saturated(where)
        self._visit(tree, self.result)

    def _saturated(self, known: Facts) -> Facts:
        """Add what the joins themselves tell, as long as that makes more outer joins inner."""
        known = known.copy()
        for source in self._all_sources:
            # What values a column has where it is not NULL doesn't depend on joins.
            for term, domain in self._source_facts(source).domains.items():
                known.narrow(term, domain)
        while True:
            whole = known.copy()
            whole.add(self._valid(self._tree, known))
            if whole.present <= known.present:
                return whole
            known = known.copy()
            known.present |= whole.present

    def _kind(self, join: Join, known: Facts) -> str:
        refuses_left = self._meets(join.left, known)
        refuses_right = self._meets(join.right, known)
        kind = join.kind
        if kind == "full":
            kind = {(True, True): "inner", (True, False): "left", (False, True): "right"}.get(
                (refuses_left, refuses_right), "full"
            )
        # A RIGHT JOIN stays one: 0.1.0 let no ON of it count for its right side, and a reader of
        # the SQL hardly sees that a WHERE makes it an inner join.
        if kind == "left" and refuses_right:
            return "inner"
        return kind

    def _meets(self, side: Join | Source, known: Facts) -> bool:
        if isinstance(side, Source):
            return side in known.present
        return not self._sources[id(side)].isdisjoint(known.present)

    def _valid(self, tree: Join | Source, known: Facts) -> Facts:
        """Give what holds for every row of this part of the tree, given what is known."""
        if isinstance(tree, Source):
            return self._source_facts(tree)
        kind = self._kind(tree, known)
        found = Facts()
        if kind in ("inner", "semi"):
            found.add(self._on[id(tree)])
        if kind in ("inner", "semi", "left", "anti"):
            found.add(self._valid(tree.left, known))
        if kind in ("inner", "semi", "right"):
            found.add(self._valid(tree.right, known))
        return found

    def _visit(self, tree: Join | Source, known: Facts) -> None:
        if isinstance(tree, Source):
            mine = known.copy()
            mine.add(self._source_facts(tree))
            self.at_source[tree] = mine
            return
        kind = self._kind(tree, known)
        matched = known
        if kind in ("left", "right", "anti"):
            matched = known.copy()
            matched.add(self._on[id(tree)])
            for side in (tree.left, tree.right):
                matched.add(self._valid(side, matched))
            matched = self._saturated(matched)
        self.at_join[id(tree)] = known if kind == "full" else matched
        self._visit(tree.left, matched if kind == "right" else known)
        self._visit(tree.right, matched if kind in ("left", "anti") else known)


def _joins(tree: Join | Source) -> list[Join]:
    found: list[Join] = []
    todo = [tree]
    while todo:
        side = todo.pop()
        if isinstance(side, Join):
            found.append(side)
            todo += [side.left, side.right]
    return found
