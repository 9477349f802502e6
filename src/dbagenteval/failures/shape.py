"""What a statement does, query by query, whatever it calls its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dbagenteval.failures.names import MARK, NUMBERED, UNQUALIFIED
from dbagenteval.failures.term import Term

__all__ = ["Block", "Relation", "Shape"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One thing that a query reads.

    Args:
        name: A table's name, or the mark of a query of the same shape.
        join: Empty for the first, else `inner`, `left`, `full`, `semi`, `anti`.
        on: What an outer join asks of it; an inner join's conditions are the query's.
        is_table: It is a table, not a query, a function or a list of values.
    """

    name: str
    join: str = ""
    on: tuple[Term, ...] = ()
    is_table: bool = False

    @property
    def is_inner(self) -> bool:
        """True if it may change places with the others that are."""
        return self.join in ("", "inner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One SELECT, or the arms of a set operation.

    Args:
        select: The projection, in order.
        relations: What it reads; sorted by name where only inner joins connect it.
        where: Conditions on its rows, those of inner joins too, sorted.
        group: Grouped by, sorted.
        having: Conditions on its groups and windows, sorted.
        order: Sorted by, in order.
        limit: LIMIT and OFFSET, or nothing.
        distinct: DISTINCT with what it is on, or nothing.
        extras: Further clauses, such as named windows, or a list of VALUES.
        arms: Arms of a set operation with the operators between them.
        aggregates: Function and argument of each aggregate, as they are met.
    """

    select: tuple[Term, ...] = ()
    relations: tuple[Relation, ...] = ()
    where: tuple[Term, ...] = ()
    group: tuple[Term, ...] = ()
    having: tuple[Term, ...] = ()
    order: tuple[Term, ...] = ()
    limit: tuple[Term, ...] = ()
    distinct: tuple[Term, ...] = ()
    extras: tuple[Term, ...] = ()
    arms: tuple[str, ...] = ()
    aggregates: tuple[tuple[str, Term], ...] = ()

    def terms(self) -> Iterator[Term]:
        """Give all its expressions."""
        for relation in self.relations:
            yield from relation.on
        for part in ("select", "where", "group", "having", "order", "limit", "distinct", "extras"):
            yield from getattr(self, part)

    def __str__(self) -> str:
        """Give it as text, without the values of its literals."""
        parts = [" ".join(self.arms)] if self.arms else []
        if self.select:
            parts = [" ".join(["SELECT", *_texts(self.distinct), _list(self.select)])]
            parts += [f"FROM {_relations(self.relations)}"] if self.relations else []
        parts += [f"WHERE {_list(self.where, ' AND ')}"] if self.where else []
        parts += [f"GROUP BY {_list(self.group)}"] if self.group else []
        parts += [f"HAVING {_list(self.having, ' AND ')}"] if self.having else []
        parts += [f"ORDER BY {_list(self.order)}"] if self.order else []
        return " ".join([*parts, *_texts(self.limit), *_texts(self.extras)])


def _texts(terms: Iterable[Term]) -> list[str]:
    return [term.text for term in terms]


def _list(terms: Iterable[Term], glue: str = ", ") -> str:
    return glue.join(_texts(terms))


def _relations(relations: Iterable[Relation]) -> str:
    found = ""
    for relation in relations:
        outer = f" {relation.join.upper()} JOIN "
        joint = (", " if found else "") if relation.is_inner else outer
        on = f" ON {_list(relation.on, ' AND ')}" if relation.on else ""
        found += f"{joint}{relation.name}{on}"
    return found


@dataclass(frozen=True, slots=True)
class Shape:
    """A statement, or several.

    Args:
        tops: The outermost query of each statement.
        inner: Queries inside others by their marks; those that differ only in literals are one.
        blocks: All queries.
    """

    tops: tuple[Block, ...]
    inner: dict[str, Block]
    blocks: tuple[Block, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it reads, sorted, each once."""
        names = {
            NUMBERED.sub("", relation.name)
            for block in self.blocks
            for relation in block.relations
            if relation.is_table
        }
        return tuple(sorted(names))

    def __str__(self) -> str:
        """Give the canonical text; inner queries are named q1, q2 … as they are met."""
        text = "; ".join(str(top) for top in self.tops)
        names: dict[str, str] = {}
        bodies: list[str] = []
        todo = [text]
        while todo:
            for mark in MARK.findall(todo.pop(0)):
                if mark not in names and mark in self.inner:
                    names[mark] = f"q{len(names) + 1}"
                    bodies.append(str(self.inner[mark]))
                    todo.append(bodies[-1])
        items = [f"{names[mark]} AS ({body})" for mark, body in zip(names, bodies, strict=True)]
        whole = f"WITH {', '.join(items)} {text}" if items else text
        whole = MARK.sub(lambda match: names.get(match[0], "q"), whole)
        return UNQUALIFIED.sub(r"\1", whole)
