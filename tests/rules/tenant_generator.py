"""Random queries over the two-tenant database.

Most parts are written as a careful agent would; a budget of faults puts wrong, missing or
misleading tenant conditions among them. Some queries leave a derived table or WITH item unbound
on purpose and filter outside, which is right or wrong depending on what lies between.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.rules.tenant_world import GUARDED

COLUMNS = {
    "customers": ("id", "tenant_id", "name", "region_id"),
    "orders": ("id", "tenant_id", "customer_id", "amount", "status"),
    "items": ("id", "tenant_id", "order_id", "qty"),
    "regions": ("id", "title"),
}
TEXTS = ("status", "name", "title")


@dataclass
class Seen:
    """A source in scope.

    Args:
        alias: Its alias.
        columns: Its columns.
        table: The base table, if it is one.
        is_value: It holds the constant 7 only.
        is_open: It was left for the outside to bind.
    """

    alias: str
    columns: tuple[str, ...]
    table: str = ""
    is_value: bool = False
    is_open: bool = False

    @property
    def has_tenant(self) -> bool:
        return "tenant_id" in self.columns

    def numbers(self) -> list[str]:
        own = [name for name in self.columns if name not in (*TEXTS, "tenant_id")]
        return own or [self.columns[0]]


@dataclass
class Generator:
    """Makes queries for one dialect.

    Args:
        rng: Where chance comes from.
        dialect: `sqlite`, `duckdb` or `postgres`.
    """

    rng: random.Random
    dialect: str
    ctes: list[tuple[str, Seen]] = field(default_factory=list)
    faults: int = 0
    _names: int = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def fault(self, share: float = 0.35) -> bool:
        """Whether to do wrong here, as long as the budget lasts."""
        if self.faults > 0 and self.chance(share):
            self.faults -= 1
            return True
        return False

    def name(self) -> str:
        self._names += 1
        return f"s{self._names}"

    def query(self) -> str:
        """Give one statement."""
        self._names = 0
        self.ctes = []
        self.faults = self.rng.choice([0, 0, 0, 1, 1, 2])
        prefix = self.with_items() if self.chance(0.3) else ""
        if self.chance(0.12):
            return prefix + self.set_operation(2)
        return prefix + self.select(2, [], is_open=False)[0]

    def with_items(self) -> str:
        if self.chance(0.25):
            return self.recursive_item()
        items = []
        for _ in range(self.rng.choice([1, 1, 2])):
            # A name of a table shadows it for what follows, not for its own body.
            name = self.pick("w1", "w2", "orders", "W3") if self.chance(0.4) else self.name()
            if any(name.lower() == known for known, _ in self.ctes):
                continue
            is_open = self.chance(0.3)
            text, columns = self.select(1, [], is_open=is_open)
            items.append(f"{name} AS ({text})")
            self.ctes.append((name.lower(), Seen("", columns, is_open=is_open)))
        return f"WITH {', '.join(items)} " if items else ""

    def recursive_item(self) -> str:
        first = (
            "amount > 5" if self.fault() else self.pick("tenant_id = 7", "tenant_id = 7 AND id > 1")
        )
        link = self.pick("o.tenant_id = t.tenant_id", "o.tenant_id = 7")
        link = "o.id > 0" if self.fault() else link
        own = self.pick("o.tenant_id", "t.tenant_id")
        self.ctes.append(("t", Seen("", ("id", "tenant_id", "n"))))
        return (
            "WITH RECURSIVE t(id, tenant_id, n) AS ("
            f"SELECT id, tenant_id, 1 FROM orders WHERE {first} UNION ALL "
            f"SELECT o.id, {own}, t.n + 1 FROM orders o JOIN t ON o.id = t.id + 1 AND {link} "
            "WHERE t.n < 3) "
        )

    def set_operation(self, depth: int, *, is_open: bool = False) -> str:
        """Two arms of two columns, so that they fit."""
        operator = self.pick("UNION ALL", "UNION", "EXCEPT", "INTERSECT")
        arms = []
        for table in self.rng.sample(GUARDED, 2):
            seen = Seen(self.name(), COLUMNS[table], table, is_open=is_open)
            where = self.where([seen], [], depth, [seen])
            arms.append(
                f"SELECT {seen.alias}.tenant_id, {seen.alias}.id FROM {table} {seen.alias}{where}"
            )
        return f" {operator} ".join(arms)

    def source(self, depth: int, outer: list[Seen]) -> tuple[str, Seen]:
        roll = self.rng.random()
        alias = self.name()
        is_open = self.chance(0.35)
        if depth > 0 and roll < 0.16:
            text, columns = self.select(depth - 1, outer, is_open=is_open)
            return f"({text}) {alias}", Seen(alias, columns, is_open=is_open)
        if depth > 0 and roll < 0.21:
            text = self.set_operation(depth - 1, is_open=is_open)
            return f"({text}) {alias}", Seen(alias, ("tenant_id", "id"), is_open=is_open)
        if self.ctes and roll < 0.5:
            name, held = self.rng.choice(self.ctes)
            shown = name if name == "orders" else self.pick(name, name.upper())
            return f"{shown} {alias}", Seen(alias, held.columns, is_open=held.is_open)
        if roll < 0.54:
            return f"(SELECT 7 AS tenant_id) {alias}", Seen(alias, ("tenant_id",), is_value=True)
        if roll < 0.6:
            return f"regions {alias}", Seen(alias, COLUMNS["regions"])
        shadowed = {name for name, _ in self.ctes}
        table = self.rng.choice([table for table in GUARDED if table not in shadowed])
        return f"{table} {alias}", Seen(alias, COLUMNS[table], table)

    def select(
        self, depth: int, outer: list[Seen], *, is_open: bool
    ) -> tuple[str, tuple[str, ...]]:
        """Give a SELECT and the names of its columns.

        Args:
            depth: How many levels of queries may follow inside.
            outer: Sources of queries around it, for correlation.
            is_open: The tenant is left for the outside to bind.
        """
        text, seen = self.source(depth, outer)
        if is_open and not seen.is_value:
            seen.is_open = True
        sources, unbound = [seen], [seen]
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            joined, other = self.source(depth, outer)
            joined, is_linked = self.join(joined, sources, other)
            text += joined
            sources.append(other)
            if not is_linked:
                unbound.append(other)
        where = self.where(sources, outer, depth, unbound)
        return self.projection(text, where, sources)

    def join(self, joined: str, before: list[Seen], other: Seen) -> tuple[str, bool]:
        """Give the join, and whether it binds the other's tenant to one before."""
        if self.chance(0.08):
            return f" CROSS JOIN {joined}", False
        lefts = [seen for seen in before if seen.has_tenant]
        left = self.rng.choice(lefts or before)
        can_link = left.has_tenant and other.has_tenant
        if can_link and len(before) == 1 and self.chance(0.15):
            kind = self.pick("JOIN", "JOIN", "LEFT JOIN")
            return f" {kind} {joined} USING (tenant_id)", True
        kind = self.pick(
            "JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"
        )
        conditions = [self.link(left, other)]
        is_linked = False
        if can_link and not self.fault():
            if self.chance(0.7):
                conditions.append(f"{other.alias}.tenant_id = {left.alias}.tenant_id")
                is_linked = kind in ("JOIN", "LEFT JOIN")
            else:
                conditions.append(self.tenant(other))
                is_linked = kind in ("JOIN", "LEFT JOIN") and self.chance(0.7)
        self.rng.shuffle(conditions)
        return f" {kind} {joined} ON {' AND '.join(conditions)}", is_linked

    def link(self, left: Seen, right: Seen) -> str:
        """A condition that ties two sources and that rows fulfil often enough to show leaks."""
        if left.is_value or right.is_value:
            if left.has_tenant and right.has_tenant:
                return f"{left.alias}.tenant_id = {right.alias}.tenant_id"
            return "1 = 1"
        one, two = self.rng.choice(left.numbers()), self.rng.choice(right.numbers())
        operator = "<=" if {one, two} & {"n", "m", "amount"} else "="
        return f"{left.alias}.{one} {operator} {right.alias}.{two}"

    def tenant(self, seen: Seen) -> str:
        """A condition about the tenant, right unless there is a fault to place."""
        column = f"{seen.alias}.tenant_id"
        if not self.fault():
            return self.pick(
                f"{column} = 7",
                f"{column} = 7",
                f"{column} = 7",
                f"7 = {column}",
                f"{column} IN (7)",
                f"{column} IN (7, 7)",
                f"NOT ({column} <> 7)",
                f"{column} BETWEEN 7 AND 7",
                f"({column} = 7 OR 1 = 0)",
                f"({column}, 1) = (7, 1)",
                f"{column} IS NOT DISTINCT FROM 7",
                f"({column} = 7) IS TRUE" if self.dialect != "sqlite" else f"({column} = 7) IS 1",
                f"{column} = (SELECT 7)",
                f"{column} = (SELECT MAX(r.id) FROM regions r WHERE r.id = 7)",
                f"{column} IN (SELECT r.id FROM regions r WHERE r.id = 7)",
                f"CASE WHEN {column} = 7 THEN 1 ELSE 0 END = 1",
                f"CAST({column} AS TEXT) = '7'",
            )
        return self.pick(
            f"{column} <> 7",
            f"NOT {column} = 7",
            f"{column} = 8",
            f"{column} IN (7, 8)",
            f"{column} BETWEEN 7 AND 8",
            f"{column} >= 7",
            f"ABS({column} - 7) <= 1",
            f"COALESCE({column}, 7) >= 7",
            f"({column} = 7 OR {column} > 7)",
            f"({column} = 7 OR 1 = 1)",
            f"({column} = 7) IS NOT NULL",
            f"{column} IN (SELECT r.id FROM regions r)",
            f"{column} IN (SELECT x.tenant_id FROM orders x)"
            if self.ctes == []
            else f"{column} > 0",
            f"({column} = 7 OR {seen.alias}.{seen.numbers()[0]} > 2)",
            f"CASE WHEN {column} = 7 THEN 1 ELSE 1 END = 1",
            f"NULLIF({column}, 9) IS NOT NULL",
        )

    def plain(self, seen: Seen) -> str:
        """A condition about something else."""
        columns = [column for column in seen.columns if column != "tenant_id"]
        column = self.rng.choice(columns or ["tenant_id"])
        name = f"{seen.alias}.{column}"
        if column == "status":
            return self.pick(f"{name} = 'paid'", f"{name} <> 'open'", f"{name} LIKE 'p%'")
        if column in TEXTS:
            return self.pick(f"{name} IS NOT NULL", f"{name} LIKE '%n%'", f"{name} <> 'abe'")
        return self.pick(f"{name} > 2", f"{name} < 9", f"{name} >= 1", f"{name} IS NOT NULL")

    def where(self, sources: list[Seen], outer: list[Seen], depth: int, unbound: list[Seen]) -> str:
        conditions = []
        for seen in unbound:
            if not seen.has_tenant or seen.is_value or self.fault():
                continue
            # What was left open inside has to be bound here; what is open here, further out.
            if seen is sources[0] and seen.is_open and seen.table:
                continue
            others = [one for one in outer if one.has_tenant]
            if others and self.chance(0.4):
                other = self.rng.choice(others)
                conditions.append(f"{seen.alias}.tenant_id = {other.alias}.tenant_id")
            elif self.chance(0.85):
                conditions.append(self.tenant(seen))
            else:
                arms = [
                    f"({self.tenant(seen)} AND {self.plain(one)})" for one in (seen, sources[0])
                ]
                conditions.append(f"({' OR '.join(arms)})")
        if self.chance(0.5):
            conditions.append(self.plain(self.rng.choice(sources)))
        if depth > 0 and self.chance(0.3):
            conditions.append(self.subquery_condition(sources + outer))
        self.rng.shuffle(conditions)
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def subquery_condition(self, around: list[Seen]) -> str:
        outer = self.rng.choice(around)
        shadowed = {name for name, _ in self.ctes}
        used = {seen.table for seen in around}
        tables = [one for one in GUARDED if one not in used and one not in shadowed]
        if not tables or outer.is_value:
            return self.plain(outer)
        inner = Seen(self.name(), (), self.rng.choice(tables))
        inner.columns = COLUMNS[inner.table]
        conditions = [self.link(outer, inner)]
        key = self.rng.choice(outer.numbers())
        if outer.has_tenant and self.chance(0.15):
            body = f"FROM {inner.table} {inner.alias}"
            pair = f"{inner.alias}.tenant_id, {inner.alias}.id"
            return f"({outer.alias}.tenant_id, {outer.alias}.{key}) IN (SELECT {pair} {body})"
        if not self.fault():
            if outer.has_tenant and self.chance(0.6):
                conditions.append(f"{inner.alias}.tenant_id = {outer.alias}.tenant_id")
            else:
                conditions.append(self.tenant(inner))
        shown = "1"
        if self.chance(0.3):
            # Equalities in a subquery say nothing of the outer rows unless it has a row.
            others = [one for one in around if one.has_tenant and not one.is_value]
            conditions += [f"{inner.alias}.tenant_id = {one.alias}.tenant_id" for one in others[:2]]
            shown = f"{inner.alias}.tenant_id"
        body = f"FROM {inner.table} {inner.alias} WHERE {' AND '.join(conditions)}"
        form = self.pick("EXISTS", "EXISTS", "NOT EXISTS", "IN", "NOT IN")
        if form.endswith("EXISTS"):
            return f"{form} (SELECT {shown} {body})"
        return f"{outer.alias}.{key} {form} (SELECT {inner.alias}.id {body})"

    def projection(self, text: str, where: str, sources: list[Seen]) -> tuple[str, tuple[str, ...]]:
        seen = self.rng.choice(sources)
        tenant = next((one for one in sources if one.has_tenant), None)
        value = f"{seen.alias}.{self.rng.choice(seen.numbers())}"
        tail = f"FROM {text}{where}"
        roll = self.rng.random()
        if roll < 0.3:
            shown = [f"{seen.alias}.{column}" for column in seen.columns]
            return f"SELECT {', '.join(shown)} {tail}", seen.columns
        if roll < 0.36 and len(sources) == 1:
            return f"SELECT * {tail}", seen.columns
        if roll < 0.42:
            return f"SELECT {seen.alias}.* {tail}", seen.columns
        if roll < 0.5:
            shown = self.pick(
                f"COUNT(*) AS n, MAX({value}) AS m", f"COUNT(*) AS n, SUM({value}) AS m"
            )
            return f"SELECT {shown} {tail}", ("n", "m")
        if tenant is None:
            return f"SELECT {value} AS n {tail}", ("n",)
        return self.with_tenant(f"{tenant.alias}.tenant_id", value, tail)

    def with_tenant(self, key: str, value: str, tail: str) -> tuple[str, tuple[str, ...]]:
        """Projections that show the tenant, so that the outside can filter by it."""
        names = ("tenant_id", "n", "m")
        roll = self.rng.random()
        if roll < 0.25:
            having = self.pick(f"{key} = 7", f"MAX({key}) >= 7", f"{key} IN (7, 8)", "COUNT(*) > 0")
            having = f" HAVING {having}" if self.chance(0.5) else ""
            if self.chance(0.2):
                return f"SELECT {value} AS n, COUNT(*) AS m {tail} GROUP BY {value}", names[1:]
            grouped = self.pick(key, "1")
            shown = f"{key}, COUNT(*) AS n, SUM({value}) AS m"
            return f"SELECT {shown} {tail} GROUP BY {grouped}{having}", names
        if roll < 0.5:
            part = self.pick(f"PARTITION BY {key} ", "", f"PARTITION BY {value} ")
            return f"SELECT {key}, {value} AS n, COUNT(*) OVER ({part}) AS m {tail}", names
        if roll < 0.6:
            return f"SELECT DISTINCT {key}, {value} AS n {tail}", names[:2]
        if roll < 0.75:
            return f"SELECT {key}, {value} AS n {tail} ORDER BY 2, 1 LIMIT 2", names[:2]
        alias = self.name()
        shadowed = {name for name, _ in self.ctes}
        table = self.rng.choice([one for one in GUARDED if one not in shadowed])
        bind = (
            "1 = 1"
            if self.fault()
            else self.pick(f"{alias}.tenant_id = {key}", f"{alias}.tenant_id = 7")
        )
        inner = f"(SELECT COUNT(*) FROM {table} {alias} WHERE {bind})"
        return f"SELECT {key}, {value} AS n, {inner} AS m {tail}", names
