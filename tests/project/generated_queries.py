"""Random SELECTs over a small schema with protected columns and tables: leaks of every shape.

The generator knows nothing of the policy. About half of its queries depend on protected data.
"""

from __future__ import annotations

import random

TABLES = {
    "main.customers": ["id", "city", "email", "last_name", "birth_year"],
    "main.orders": ["id", "customer_id", "amount", "status", "order_date"],
    "main.payroll": ["id", "customer_id", "amount"],
    "staging.raw": ["id", "payload"],
}
PROTECTED = {"main.customers": ["email", "last_name", "birth_year"]}
IN_SCOPE = ["main.customers", "main.orders"]


class Generator:
    """Gives one query after the other for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def query(self) -> str:
        ctes: dict[str, list[str]] = {}
        parts = []
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            name = self.random.choice(["t1", "t2", "customers", "orders", "c", "payroll"])
            if name in ctes:
                continue
            sql, columns = self.select(2, ctes, named=True)
            if self.chance(0.2):
                renamed = [f"r{index}" for index in range(len(columns))]
                if columns and "*" not in columns:
                    parts.append(f"{name}({', '.join(renamed)}) AS ({sql})")
                    ctes[name] = renamed
                    continue
            parts.append(f"{name} AS ({sql})")
            ctes[name] = columns
        sql, _ = self.set_or_select(3, ctes)
        return (f"WITH {', '.join(parts)} " if parts else "") + sql

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def set_or_select(self, depth: int, ctes: dict[str, list[str]]) -> tuple[str, list[str]]:
        if self.chance(0.12):
            operator = self.random.choice(
                ["UNION", "UNION ALL", "EXCEPT", "INTERSECT", "UNION ALL BY NAME", "UNION BY NAME"]
            )
            width = self.random.choice([1, 1, 2])
            left, columns = self.select(depth - 1, ctes, width=width, named=True)
            right, _ = self.select(depth - 1, ctes, width=width, named=True)
            tail = f" ORDER BY {self.random.randint(1, width)}" if self.chance(0.2) else ""
            return f"{left} {operator} {right}{tail}", columns
        return self.select(depth, ctes)

    def source(
        self, depth: int, ctes: dict[str, list[str]], outer: list
    ) -> tuple[str, str, list[str]]:
        pick = self.random.random()
        if depth > 0 and pick < 0.22:
            sql, columns = self.select(depth - 1, ctes, named=True)
            alias = self.name()
            lateral = "LATERAL " if outer and self.chance(0.2) else ""
            return f"{lateral}({sql}) AS {alias}", alias, columns
        if ctes and pick < 0.5:
            name = self.random.choice(list(ctes))
            alias = self.name() if self.chance(0.6) else name
            return (name if alias == name else f"{name} {alias}"), alias, ctes[name]
        table = self.random.choices(list(TABLES), [6, 5, 1, 1])[0]
        schema, plain = table.split(".")
        written = self.random.choice(
            [
                table,
                table,
                plain if schema == "main" else table,
                f'"{schema}"."{plain}"',
                table.upper(),
            ]
        )
        if self.chance(0.06):
            alias = self.name()
            names = [f"k{index}" for index in range(len(TABLES[table]))]
            return f"{written} AS {alias}({', '.join(names)})", alias, names
        alias = self.name() if self.chance(0.7) else plain
        return (f"{written} {alias}" if alias != plain else written), alias, TABLES[table]

    def select(
        self,
        depth: int,
        ctes: dict[str, list[str]],
        *,
        width: int | None = None,
        named: bool = False,
        outer: list | None = None,
    ) -> tuple[str, list[str]]:
        outer = outer or []
        sources = [self.source(depth, ctes, outer)]
        from_ = sources[0][0]
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2]) if depth > 0 else 0):
            new = self.source(depth - 1, ctes, sources)
            if any(new[1] == old[1] for old in sources):
                continue
            from_ += self.join(sources, new)
            sources.append(new)
        scope = [*sources, *outer]
        items, columns = self.items(sources, scope, depth, ctes, width, named)
        grouped = self.chance(0.2) and width is None
        distinct = self.random.choice(["DISTINCT ", "", "", "", "", "", ""])
        if self.chance(0.03):
            distinct = f"DISTINCT ON ({self.value(scope, 0, ctes)}) "
        where = f" WHERE {self.condition(scope, depth, ctes)}" if self.chance(0.4) else ""
        tail = ""
        if grouped:
            key = self.column(sources)
            items, columns = f"{key} AS g, {self.aggregate(sources, ctes)} AS a", ["g", "a"]
            tail = self.random.choice(
                [" GROUP BY 1", f" GROUP BY {key}", " GROUP BY g", " GROUP BY ALL"]
            )
            if self.chance(0.3):
                tail += f" HAVING {self.aggregate(sources, ctes)} > {self.random.randint(0, 3)}"
        elif self.chance(0.05):
            tail += f" QUALIFY row_number() OVER (PARTITION BY {self.column(sources)} ORDER BY {self.column(sources)}) = 1"
        if self.chance(0.25):
            order = self.random.choice(
                [
                    "1",
                    self.column(sources),
                    "ALL",
                    f"lower({self.column(sources)}::VARCHAR)",
                    columns[0] if columns and columns[0] != "*" else "1",
                ]
            )
            tail += f" ORDER BY {order}"
            if self.chance(0.6):
                tail += f" LIMIT {self.random.randint(1, 3)}"
        return f"SELECT {distinct}{items} FROM {from_}{where}{tail}", columns

    def join(self, sources: list, new: tuple[str, str, list[str]]) -> str:
        text, _, columns = new
        common = [name for name in columns if name in sources[-1][2] and name != "*"]
        pick = self.random.random()
        if pick < 0.15:
            return f", {text}"
        if pick < 0.2:
            return f" NATURAL JOIN {text}"
        if pick < 0.3 and common:
            return f" JOIN {text} USING ({self.random.choice(common)})"
        kind = self.random.choice(
            ["JOIN", "LEFT JOIN", "CROSS JOIN", "SEMI JOIN", "ANTI JOIN", "FULL JOIN"]
        )
        if kind == "CROSS JOIN":
            return f" CROSS JOIN {text}"
        left = self.column(sources)
        right = self.column([new])
        return f" {kind} {text} ON {left}::VARCHAR = {right}::VARCHAR"

    def column(self, sources: list) -> str:
        _, alias, columns = self.random.choice(sources)
        known = [name for name in columns if name != "*"] or ["id", "city", "email", "amount"]
        name = self.random.choice(known)
        if self.chance(0.05):
            name = f'"{name.upper()}"'
        return name if self.chance(0.35) else f"{alias}.{name}"

    def items(
        self, sources: list, scope: list, depth: int, ctes: dict, width: int | None, named: bool
    ) -> tuple[str, list[str]]:
        if width is None and self.chance(0.18):
            return self.star(sources)
        items, columns = [], []
        for _ in range(width or self.random.choice([1, 1, 2, 3])):
            pick = self.random.random()
            if pick < 0.5:
                text = self.column(scope)
                plain = text.split(".")[-1].strip('"').lower()
            elif pick < 0.65 and width is None:
                text, plain = self.aggregate(sources, ctes), ""
            elif pick < 0.72:
                text, plain = f"row_number() OVER (ORDER BY {self.column(scope)})", ""
            else:
                text, plain = self.value(scope, depth, ctes), ""
            if named or self.chance(0.5) or not plain:
                alias = self.random.choice([plain or "v", "city", "email", "id", self.name()])
                if alias in columns:
                    alias = self.name()
                items.append(f"{text} AS {alias}" if self.chance(0.8) else f"{text} {alias}")
                columns.append(alias)
            else:
                items.append(text)
                columns.append(plain)
        return ", ".join(items), columns

    def star(self, sources: list) -> tuple[str, list[str]]:
        _, alias, columns = self.random.choice(sources)
        known = [name for name in columns if name != "*"]
        everything = [name for _, _, names in sources for name in names]
        protected = [name for name in ("email", "last_name", "birth_year") if name in known]
        return self.random.choice(
            [
                ("*", everything),
                (f"{alias}.*", list(columns)),
                (
                    f"{alias}.* EXCLUDE ({', '.join(protected or known[:1])})",
                    [name for name in known if name not in protected],
                )
                if known
                else ("*", everything),
                (
                    f"* EXCLUDE ({', '.join(protected[:2] or known[:1])})",
                    [name for name in everything if name not in protected[:2]],
                )
                if known
                else ("*", everything),
                (f"{alias}.* REPLACE ('x' AS {known[0]})", list(columns))
                if known
                else ("*", everything),
                ("COLUMNS('.*a.*')", ["*"]),
                (f"{alias}", [alias]),
                (f"{alias}::VARCHAR AS w", ["w"]),
                (f"hash({alias}) AS w", ["w"]),
                ("count(*) AS n", ["n"]),
            ]
        )

    def aggregate(self, sources: list, ctes: dict) -> str:
        column = self.column(sources)
        return self.random.choice(
            [
                "count(*)",
                f"count({column})",
                f"count(DISTINCT {column})",
                f"max({column})",
                f"min(length({column}::VARCHAR))",
                f"string_agg({column}::VARCHAR, ',' ORDER BY {column})",
                f"count(*) FILTER (WHERE {column}::VARCHAR LIKE 'a%')",
                f"sum(CASE WHEN {column}::VARCHAR > 'b' THEN 1 ELSE 0 END)",
                f"arg_max({column}, {self.column(sources)})",
                f"list({column} ORDER BY {self.column(sources)})",
            ]
        )

    def value(self, scope: list, depth: int, ctes: dict) -> str:
        column = self.column(scope)
        choices = [
            f"upper({column}::VARCHAR)",
            f"coalesce({column}::VARCHAR, 'n')",
            f"CASE WHEN {column} IS NULL THEN 1 ELSE 2 END",
            f"length({column}::VARCHAR) + 1",
            f"{column}::VARCHAR || {self.column(scope)}::VARCHAR",
            "1",
            "'text'",
            f"{{'k': {column}}}",
            f"[{column}][1]",
            f"list_transform([1], z -> length({column}::VARCHAR))",
            f"unnest(string_split({column}::VARCHAR, 'a'))",
        ]
        if depth > 0:
            inner, _ = self.select(depth - 1, ctes, width=1, named=True, outer=scope)
            choices += [f"(SELECT count(*) FROM ({inner}) q)", f"({inner} LIMIT 1)"] * 2
        return self.random.choice(choices)

    def condition(self, scope: list, depth: int, ctes: dict) -> str:
        column = self.column(scope)
        choices = [
            f"{column} IS NOT NULL",
            f"{column}::VARCHAR LIKE '%a%'",
            f"{column}::VARCHAR > {self.column(scope)}::VARCHAR",
            f"length({column}::VARCHAR) > {self.random.randint(1, 9)}",
            f"{column}::VARCHAR IN ('1', 'oslo', 'a@x')",
            f"NOT ({column}::VARCHAR = 'a')",
        ]
        if depth > 0:
            inner, _ = self.select(depth - 1, ctes, width=1, named=True, outer=scope)
            choices += [
                f"EXISTS ({inner})",
                f"NOT EXISTS ({inner})",
                f"{column}::VARCHAR IN (SELECT z::VARCHAR FROM ({inner}) q(z))",
                f"{column}::VARCHAR = ANY (SELECT z::VARCHAR FROM ({inner}) q(z))",
            ]
        text = self.random.choice(choices)
        if self.chance(0.25):
            text = f"({text} {self.random.choice(['AND', 'OR'])} {self.condition(scope, 0, ctes)})"
        return text
