"""An aggregate over rows that a join repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbagenteval.slices.schema import Schema, Table
from dbagenteval.slices.tables import conjuncts, where_conjuncts

__all__ = ["mend_fan_out"]

_UNHARMED = (exp.Max, exp.Min)
"""Aggregates that repeated rows don't change."""


def mend_fan_out(tree: exp.Expr, schema: Schema | None) -> list[str]:
    """Undo in a statement the joins that repeat the rows which are aggregated.

    A join whose table nothing else reads is removed. If conditions read it, it becomes EXISTS; if
    aggregates of its own do, its rows are aggregated before they are joined. Gives what was done
    in words.
    """
    said = []
    for select in tree.find_all(exp.Select):
        for join in list(select.args.get("joins") or ()):
            if not isinstance(join.this, exp.Table) or join.side not in ("", "LEFT"):
                continue
            table = None if schema is None else schema.get(join.this.name)
            joined = _Joined(select, join, table)
            if joined.repeats_rows():
                said += joined.remove() or joined.make_condition() or joined.aggregate_first()
    return said


@dataclass(frozen=True, slots=True)
class _Joined:
    """A join to a table.

    Args:
        select: Where it stands.
        join: The join.
        table: What the schema knows of the table.
    """

    select: exp.Select
    join: exp.Join
    table: Table | None

    @property
    def alias(self) -> str:
        return self.join.this.alias_or_name.lower()  # type: ignore[no-any-return]

    def repeats_rows(self) -> bool:
        """Say whether a row that is aggregated may be there several times because of the join."""
        return self._joins_several() and any(
            not self._is_read_by(node) and not isinstance(node.this, exp.Star)
            for node in self._aggregates()
        )

    def remove(self) -> list[str]:
        """Take the join out if only its own condition reads the table."""
        if self._readers() or self._filters():
            return []
        self.join.pop()
        return [f"join to {self.join.this.name} removed: it repeats rows, and nothing reads it"]

    def make_condition(self) -> list[str]:
        """Turn the join into EXISTS if besides its own only conditions of WHERE read the table."""
        on = self.join.args.get("on")
        if self._readers() or on is None or self.join.side or self.table is None:
            return []
        filters = self._filters()
        others = [each for each in where_conjuncts(self.select) if each not in filters]
        found = exp.select("1").from_(self.join.this.copy())
        found = found.where(exp.and_(*conjuncts(on), *filters))
        self.join.pop()
        self.select.set("where", exp.Where(this=exp.and_(*others, exp.Exists(this=found))))
        return [f"join to {self.join.this.name} made a condition: it repeats rows"]

    def aggregate_first(self) -> list[str]:
        """Join one row of sums and counts for each key in place of the table's own rows."""
        on, keys = self.join.args.get("on"), self._keys()
        own = [node for node in self._aggregates() if self._is_read_by(node)]
        if on is None or self._readers(besides=own) or not all(map(self._can_go_inside, own)):
            return []
        filters = self._filters()
        if filters and self.join.side:
            return []  # WHERE drops the rows that the outer join would keep
        names = [f"value_{number}" for number in range(1, len(own) + 1)]
        values = [exp.alias_(node.copy(), name) for node, name in zip(own, names, strict=True)]
        rows = exp.select(*keys, *values).from_(self.join.this.copy()).group_by(*keys)
        if filters:
            rows = rows.where(exp.and_(*filters))
            others = [each for each in where_conjuncts(self.select) if each not in filters]
            where = exp.Where(this=exp.and_(*others)) if others else None
            self.select.set("where", where)
        name = self.join.this.name
        alias = self.join.this.alias_or_name
        for node, value in zip(own, names, strict=True):
            node.replace(exp.Sum(this=exp.column(value, table=alias)))
        self.join.set("this", rows.subquery(alias))
        return [f"{name} aggregated before the join, which repeats rows"]

    def _joins_several(self) -> bool:
        """Say whether several rows of the table may join one row; False if no key tells."""
        own = {column.name.lower() for column in self._keys()}
        own |= {name.name.lower() for name in self.join.args.get("using") or ()}
        key = {name.lower() for name in self.table.primary_key} if self.table is not None else set()
        return bool(own) and not (key and key <= own)

    def _keys(self) -> list[exp.Column]:
        columns = [
            column.copy()
            for column in _columns(self.join.args.get("on"))
            if column.table.lower() == self.alias
        ]
        return list(dict.fromkeys(columns))

    def _aggregates(self) -> list[exp.AggFunc]:
        """Give the aggregates that repeated rows would change."""
        return [
            node
            for node in self.select.find_all(exp.AggFunc)
            if node.find_ancestor(exp.Select) is self.select
            and not isinstance(node, _UNHARMED)
            and node.find(exp.Distinct) is None
        ]

    def _can_go_inside(self, node: exp.AggFunc) -> bool:
        is_plain = isinstance(node, (exp.Sum, exp.Count)) and not isinstance(node.this, exp.Star)
        return is_plain and all(column.table.lower() == self.alias for column in _columns(node))

    def _filters(self) -> list[exp.Expr]:
        return [each for each in where_conjuncts(self.select) if self._is_read_by(each)]

    def _readers(self, besides: list[exp.AggFunc] | None = None) -> list[exp.Column]:
        """Give the columns that read the table outside its condition, WHERE and some aggregates."""
        inside = {id(column) for node in besides or () for column in _columns(node)}
        parts = (
            part
            for part in self.select.iter_expressions()
            if part.arg_key not in ("where", "from_") and id(part) != id(self.join)
        )
        found = (column for part in parts for column in self._own(part))
        return [column for column in found if id(column) not in inside]

    def _is_read_by(self, part: exp.Expr) -> bool:
        return any(True for _ in self._own(part))

    def _own(self, part: exp.Expr) -> Iterator[exp.Column]:
        """Give the columns that are the table's, or may be if it is unknown."""
        names = None if self.table is None else {each.name.lower() for each in self.table.columns}
        for column in _columns(part):
            is_possible = names is None or column.name.lower() in names
            if column.table.lower() == self.alias or (not column.table and is_possible):
                yield column


def _columns(part: exp.Expr | None) -> Iterator[exp.Column]:
    if part is not None:
        yield from (each for each in part.find_all(exp.Column) if each.name)
