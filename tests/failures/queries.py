"""Queries that hypothesis makes: what a query does apart from how it is written."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from hypothesis import strategies as st

COLUMNS = {
    "orders": ["id", "customer_id", "status", "total", "ordered_at"],
    "customers": ["id", "city", "full_name", "tenant_id"],
    "items": ["order_id", "product_id", "quantity"],
}
LINKS = {
    frozenset(("orders", "customers")): ("orders.customer_id", "customers.id"),
    frozenset(("orders", "items")): ("items.order_id", "orders.id"),
}
AGGREGATES = ["SUM", "AVG", "MIN", "MAX", "COUNT"]


@dataclass(frozen=True)
class Made:
    """What a query does: `joins` are (kind, table), `filters` (column, operator, type)."""

    start: str
    joins: tuple[tuple[str, str], ...]
    filters: tuple[tuple[str, str, str], ...]
    group: str | None
    aggregate: str
    measure: str
    ordered: bool
    limited: bool

    @property
    def tables(self) -> list[str]:
        return [self.start, *(table for _, table in self.joins)]


@dataclass(frozen=True)
class Written:
    """How it is written: all that must not matter, and the seed of its literals."""

    seed: int
    literals: int
    upper: bool
    aliased: bool
    comment: bool


@st.composite
def made_queries(draw: st.DrawFn) -> Made:
    joins = draw(st.sampled_from([(), ("customers",), ("items",), ("customers", "items")]))
    kinds = [draw(st.sampled_from(["JOIN", "LEFT JOIN"])) for _ in joins]
    tables = ["orders", *joins]
    columns = [f"{table}.{column}" for table in tables for column in COLUMNS[table]]
    conditions = st.tuples(
        st.sampled_from(columns),
        st.sampled_from(["=", "<>", "<", ">=", "IN", "LIKE", "BETWEEN", "IS NULL"]),
        st.sampled_from(["number", "text", "date"]),
    )
    return Made(
        "orders",
        tuple(zip(kinds, joins, strict=True)),
        tuple(draw(st.lists(conditions, min_size=1, max_size=4, unique_by=_what_is_asked))),
        draw(st.none() | st.sampled_from(columns)),
        draw(st.sampled_from(AGGREGATES)),
        draw(st.sampled_from(columns)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def _what_is_asked(condition: tuple[str, str, str]) -> tuple[str, str]:
    """Of two ranges of one column one may say what the other says: then it changes nothing."""
    column, sign, _ = condition
    return column, "range" if sign in ("=", "<", ">=", "IN", "BETWEEN") else sign


ways_of_writing = st.builds(
    Written,
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def write(made: Made, way: Written) -> str:
    """Write the query down in this way."""
    rng = random.Random(way.seed)
    names = {
        table: f"{rng.choice('abcxyz')}{index}{rng.randrange(99)}" if way.aliased else table
        for index, table in enumerate(made.tables)
    }

    def column(name: str) -> str:
        table, own = name.split(".")
        return f"{names[table]}.{own}"

    def source(table: str) -> str:
        return f"{table} {rng.choice(['', 'AS '])}{names[table]}" if way.aliased else table

    text = f"SELECT {column(made.group)}, " if made.group else "SELECT "
    text += f"{made.aggregate}({column(made.measure)}){rng.choice(['', ' AS result', ' n'])}"
    text += f" FROM {source(made.start)}"
    for kind, table in made.joins:
        sides = [column(side) for side in LINKS[frozenset((made.start, table))]]
        rng.shuffle(sides)
        text += f" {kind} {source(table)} ON {' = '.join(sides)}"
    conditions = [
        _condition(column(name), sign, _Literals(kind, f"{way.literals} {name} {sign}"), rng)
        for name, sign, kind in made.filters
    ]
    rng.shuffle(conditions)
    text += f" WHERE {' AND '.join(conditions)}"
    text += f" GROUP BY {rng.choice([column(made.group), '1'])}" if made.group else ""
    text += f" ORDER BY {made.aggregate}({column(made.measure)}) DESC" if made.ordered else ""
    text += f" LIMIT {random.Random(way.literals).randrange(1, 500)}" if made.limited else ""
    return _spaced(text, way, rng)


class _Literals:
    """Makes the literals of one condition."""

    def __init__(self, kind: str, seed: str) -> None:
        self.kind = kind
        self.rng = random.Random(seed)

    def one(self) -> str:
        rng = self.rng
        if self.kind == "number":
            return rng.choice([str(rng.randrange(1, 10**6)), f"{rng.random():.3f}", "-7"])
        if self.kind == "date":
            return f"'20{rng.randrange(10, 30)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)}'"
        return "'" + rng.choice(["it''s", "paid", "AND 1 = 1 --", "Zoë", "", "SELECT"]) + "'"

    def several(self) -> list[str]:
        return [self.one() for _ in range(self.rng.randrange(1, 6))]


def _condition(column: str, sign: str, literals: _Literals, rng: random.Random) -> str:
    if sign == "IS NULL":
        return f"{column} IS NULL"
    if sign == "IN":
        listed = literals.several()
        rng.shuffle(listed)
        return f"{column} IN ({', '.join(listed)})"
    if sign == "BETWEEN":
        low, high = literals.one(), literals.one()
        if rng.random() < 0.5:
            return f"{column} BETWEEN {low} AND {high}"
        return f"{column} <= {high} AND {column} >= {low}"
    mirrored = {"<": ">", ">=": "<=", "=": "=", "<>": "<>"}
    value = literals.one()
    if sign in mirrored and rng.random() < 0.5:
        return f"{value} {mirrored[sign]} {column}"
    return f"{column} {sign} {value}"


def _spaced(text: str, way: Written, rng: random.Random) -> str:
    """Change the case outside literals, and the blanks."""
    parts = re.split(r"('(?:[^']|'')*')", text)
    for index in range(0, len(parts), 2):
        part = parts[index].upper() if way.upper else parts[index].lower()
        blank = rng.choice([" ", "\n", "  ", "\t", " /* why */ " if way.comment else " "])
        parts[index] = part.replace(" ", blank)
    return "".join(parts)


def _other_column(made: Made) -> str:
    return "orders.id" if made.filters[0][0] == "orders.total" else "orders.total"


def changes(made: Made) -> list[Made]:
    """Give queries that do something else: a filter less, another aggregate, another join …"""
    found = [
        replace(made, filters=made.filters[1:])
        if len(made.filters) > 1
        else replace(made, filters=(*made.filters, (_other_column(made), "<=", "number"))),
        replace(made, aggregate="MAX" if made.aggregate != "MAX" else "MIN"),
        replace(made, ordered=not made.ordered),
        replace(made, limited=not made.limited),
    ]
    if made.joins:
        (kind, table), *rest = made.joins
        other = "JOIN" if kind == "LEFT JOIN" else "LEFT JOIN"
        found.append(replace(made, joins=((other, table), *rest)))
    else:
        found.append(replace(made, joins=(("JOIN", "items"),)))
    group = "orders.status" if made.group != "orders.status" else "orders.customer_id"
    return [*found, replace(made, group=group)]
