"""The facts of a statement that an edit is told by: tables, filters, aggregates and so on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbagenteval.failures.names import LONG_NAME, MARK, NUMBERED, QUALIFIED, UNQUALIFIED, last
from dbagenteval.failures.shape import Block, Shape
from dbagenteval.failures.term import Term

__all__ = ["Facts", "column_of", "columns_of", "facts_of", "owners_of"]

_TYPE = re.compile(r":(?:number|text|date)\b")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?")
_LISTED = re.compile(r" IN \((:\w+)\)$")
"""One value more or less in a list is another value, not another condition."""


@dataclass(slots=True)
class Facts:
    """What a statement does, in all its queries together.

    Args:
        tables: How often each table is read.
        joins: How often each table is joined in which way other than as an inner join.
        links: Conditions that equate columns of two tables.
        filters: All other conditions on rows.
        groups: What is grouped by.
        having: Conditions on groups.
        aggregates: Function and argument of each aggregate.
        operators: Set operations.
        distincts: How many queries say DISTINCT.
        select: The outermost projection.
        order: The outermost ORDER BY.
        places: The same by position in the projection, where it is of a selected column.
        limit: The outermost LIMIT and OFFSET.
    """

    tables: Counter[str] = field(default_factory=Counter)
    joins: Counter[tuple[str, str]] = field(default_factory=Counter)
    links: Counter[Term] = field(default_factory=Counter)
    filters: Counter[Term] = field(default_factory=Counter)
    groups: Counter[Term] = field(default_factory=Counter)
    having: Counter[Term] = field(default_factory=Counter)
    aggregates: Counter[tuple[str, str]] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    distincts: int = 0
    select: list[Term] = field(default_factory=list)
    order: list[Term] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    limit: list[Term] = field(default_factory=list)


def facts_of(
    shape: Shape, owners: Mapping[str, set[str]], renamed: tuple[str, str] | None = None
) -> Facts:
    """Gather the facts.

    Args:
        shape: The statement.
        owners: For each column, lower case, the tables that it is known to be of; an unqualified
            column that can only be of one is taken to be its.
        renamed: A table, and what to call it instead.
    """
    facts = Facts()
    reader = _Spelling(owners, renamed)
    for block in shape.blocks:
        _add(facts, block, reader)
    top = shape.tops[0]
    facts.select = reader.all(top.select)
    facts.order = reader.all(top.order)
    facts.limit = reader.all(top.limit)
    place = {term.text: f"#{index}" for index, term in enumerate(facts.select)}
    for term in facts.order:
        key = term.text.removesuffix(" DESC")
        facts.places.append(place.get(key, key) + term.text[len(key) :])
    return facts


def owners_of(shapes: Iterable[Shape]) -> dict[str, set[str]]:
    """Give the tables that each qualified column of these statements, lower case, is of."""
    found: dict[str, set[str]] = {}
    for shape in shapes:
        for block in shape.blocks:
            for term in block.terms():
                for table, column in QUALIFIED.findall(_short(term.text)):
                    found.setdefault(column.lower(), set()).add(table)
    return found


def columns_of(shape: Shape, owners: Mapping[str, set[str]]) -> set[str]:
    """Give the columns of tables that a statement names, as `table.column`."""
    reader = _Spelling(owners)
    tables = {last(name) for name in shape.tables}
    return {
        f"{table}.{column}"
        for block in shape.blocks
        for term in reader.all(block.terms())
        for table, column in QUALIFIED.findall(term.text)
        if table in tables
    }


def column_of(term: Term) -> str:
    """Give the first column of a term, or the term cut short if it has none."""
    match = QUALIFIED.search(term.text)
    return match[0] if match else term.text[:60]


def _short(text: str) -> str:
    text = MARK.sub("(query)", NUMBERED.sub("", text.replace("^", "")))
    return LONG_NAME.sub("", text)


class _Spelling:
    """Spells terms so that those of two statements compare."""

    def __init__(
        self, owners: Mapping[str, set[str]], renamed: tuple[str, str] | None = None
    ) -> None:
        self._owners = owners
        self._renamed = renamed

    def all(self, terms: Iterable[Term]) -> list[Term]:
        return [self.one(term) for term in terms]

    def one(self, term: Term) -> Term:
        text = UNQUALIFIED.sub(self._qualified, _short(term.text))
        text = _TYPE.sub(":value", text)
        if self._renamed is not None:
            text = re.sub(
                rf"(?<![\w$]){re.escape(self._renamed[0])}\.", f"{self._renamed[1]}.", text
            )
        values = tuple(map(_value, term.values))
        return Term(_LISTED.sub(r" = \1", text), values)

    def _qualified(self, match: re.Match[str]) -> str:
        tables = self._owners.get(match[1].lower(), set())
        return f"{next(iter(tables))}.{match[1]}" if len(tables) == 1 else match[1]


def _value(text: str) -> str:
    """Spell a literal so that equal numbers compare equal; `0040` is a text of its own."""
    return repr(float(text)).removesuffix(".0") if _NUMBER.fullmatch(text) else text


def _is_link(term: Term) -> bool:
    sides = term.text.split(" = ")
    return len(sides) == 2 and all(QUALIFIED.fullmatch(side) for side in sides)


def _add(facts: Facts, block: Block, reader: _Spelling) -> None:
    for relation in block.relations:
        name = last(_short(relation.name))
        if relation.is_table:
            facts.tables[name] += 1
        if not relation.is_inner:
            facts.joins[name, relation.join.upper()] += 1
    conditions = {*block.where, *(term for relation in block.relations for term in relation.on)}
    for term in reader.all(conditions):
        (facts.links if _is_link(term) else facts.filters)[term] += 1
    facts.groups.update(reader.all(block.group))
    facts.having.update(reader.all(set(block.having)))
    for name, argument in block.aggregates:
        text = reader.one(argument).text
        plain = text.removeprefix("DISTINCT ")
        facts.aggregates[name if plain == text else f"{name} DISTINCT", plain] += 1
    facts.operators.update(block.arms[1::2])
    facts.distincts += bool(block.distinct)
