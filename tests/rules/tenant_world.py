"""A two-tenant database and its variants, in which only other tenants' rows differ.

Each variant is a schema (or attached database) of its own, so that one connection runs a query on
all of them. Rows of tenant 7 are the same everywhere and in the same order; whatever else a result
shows when it differs between variants came from rows it should not depend on.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

OWN = 7
OTHERS = (8, 9, None)
TABLES = {
    "customers": "id INTEGER, tenant_id INTEGER, name TEXT, region_id INTEGER",
    "orders": "id INTEGER, tenant_id INTEGER, customer_id INTEGER, amount INTEGER, status TEXT",
    "items": "id INTEGER, tenant_id INTEGER, order_id INTEGER, qty INTEGER",
    "regions": "id INTEGER, title TEXT",
}
GUARDED = ("customers", "orders", "items")
REGIONS = [(1, "north"), (2, "south"), (7, "west"), (8, "east")]
PER_BASE = 8
"""Variants that share their own rows."""

_FIRST_OWN_ROWS: dict[str, list[tuple[Any, ...]]] = {
    "customers": [(1, OWN, "ann", 1), (2, OWN, "abe", 2), (3, OWN, "cy", None)],
    "orders": [
        (1, OWN, 1, 10, "paid"),
        (2, OWN, 1, 25, "open"),
        (4, OWN, 2, 40, "paid"),
        (5, OWN, 5, 7, "open"),
        (7, OWN, None, None, None),
    ],
    "items": [(1, OWN, 1, 2), (3, OWN, 2, 5), (4, OWN, 6, 1), (6, OWN, 1, None), (7, OWN, 8, 3)],
}


def _row(table: str, tenant: int | None, rng: random.Random) -> tuple[Any, ...]:
    number = rng.choice([1, 2, 3, 4, 5, 7, 8])
    key = rng.choice([1, 2, 3, 4, 5, 7, 8, None])
    if table == "customers":
        name = rng.choice(["ann", "bob", "abe", "zed", "aa", None])
        return (number, tenant, name, rng.choice([1, 2, 3, 7, 8, None]))
    if table == "orders":
        amount = rng.choice([1, 2, 3, 5, 7, 8, 25, 40, None])
        return (number, tenant, key, amount, rng.choice(["paid", "open", "void", None]))
    return (number, tenant, key, rng.choice([1, 2, 3, 5, 7, 8, 50, None]))


def _own_rows(base: int) -> dict[str, list[tuple[Any, ...]]]:
    if base == 0:
        return _FIRST_OWN_ROWS
    rng = random.Random(1_000_000 + base)
    return {
        table: [_row(table, OWN, rng) for _ in range(rng.choice([0, 1, 2, 4, 6]))]
        for table in GUARDED
    }


def variant_rows(number: int) -> dict[str, list[tuple[Any, ...]]]:
    """Give the rows of one variant: the first of each base has own rows only."""
    rng = random.Random(number)
    base, index = divmod(number, PER_BASE)
    rows: dict[str, list[tuple[Any, ...]]] = {"regions": list(REGIONS)}
    for table, own in _own_rows(base).items():
        several = list(own)
        for _ in range(0 if index == 0 else rng.choice([0, 1, 2, 6, 9])):
            if own and rng.random() < 0.3:
                twin = list(rng.choice(own))
                twin[1] = rng.choice(OTHERS)
                foreign = tuple(twin)
            else:
                foreign = _row(table, rng.choice(OTHERS), rng)
            several.insert(rng.randrange(len(several) + 1), foreign)
        rows[table] = several
    return rows


@dataclass
class World:
    """Variants of the database in one engine.

    Args:
        dialect: The rules' name of the engine.
        execute: Runs a query on the variant of a number.
    """

    dialect: str
    execute: Callable[[str, int], list[tuple[Any, ...]]]
    close: Callable[[], None] = field(default=lambda: None)

    def result(self, sql: str, variant: int) -> object:
        """Give the result as a multiset, or the error's kind."""
        try:
            return sorted(map(repr, self.execute(sql, variant)))
        except Exception as error:  # noqa: BLE001 # a query that fails gives no row
            return type(error).__name__

    def is_always_empty(self, sql: str, bases: range) -> bool:
        """Whether no own rows and no foreign rows ever give a row: then it shows nothing."""
        numbers = range(bases.start * PER_BASE, bases.stop * PER_BASE)
        return all(self.result(sql, number) == [] for number in numbers)

    def depends(self, sql: str, bases: range) -> bool | None:
        """Whether the result depends on foreign rows; None if the query doesn't run."""
        for base in bases:
            first = self.result(sql, base * PER_BASE)
            if isinstance(first, str):
                return None
            for number in range(base * PER_BASE + 1, (base + 1) * PER_BASE):
                found = self.result(sql, number)
                if found == "InternalException":  # a fault of the engine, met in DuckDB 2.0
                    return None
                if found != first:
                    return True
        return False


def sqlite_world(bases: int) -> World:
    """Variants as separate in-memory databases of SQLite."""
    connections = []
    for seed in range(bases * PER_BASE):
        connection = sqlite3.connect(":memory:")
        for table, rows in variant_rows(seed).items():
            connection.execute(f"CREATE TABLE {table} ({TABLES[table]})")
            marks = ", ".join("?" * len(TABLES[table].split(",")))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        connections.append(connection)

    def execute(sql: str, variant: int) -> list[tuple[Any, ...]]:
        return connections[variant].execute(sql).fetchall()

    return World("sqlite", execute, lambda: [c.close() for c in connections] and None)


def duckdb_world(bases: int) -> World:
    """Variants as schemas of one in-memory database of DuckDB."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 1})
    for seed in range(bases * PER_BASE):
        connection.execute(f"CREATE SCHEMA v{seed}")
        for table, rows in variant_rows(seed).items():
            connection.execute(f"CREATE TABLE v{seed}.{table} ({TABLES[table]})")
            if rows:
                values = ", ".join(map(_literal, rows))
                connection.execute(f"INSERT INTO v{seed}.{table} VALUES {values}")
    state = {"at": -1}

    def execute(sql: str, variant: int) -> list[tuple[Any, ...]]:
        if state["at"] != variant:
            connection.execute(f"SET search_path = 'v{variant}'")
            state["at"] = variant
        return connection.execute(sql).fetchall()

    return World("duckdb", execute, connection.close)


def _literal(row: tuple[Any, ...]) -> str:
    return "(" + ", ".join("NULL" if cell is None else repr(cell) for cell in row) + ")"


def postgres_world(bases: int, dsn: str) -> World:
    """Variants as schemas of one PostgreSQL database."""
    import psycopg

    connection = psycopg.connect(dsn, autocommit=True)
    for seed in range(bases * PER_BASE):
        connection.execute(f"CREATE SCHEMA v{seed}")
        for table, rows in variant_rows(seed).items():
            connection.execute(f"CREATE TABLE v{seed}.{table} ({TABLES[table]})")
            if rows:
                values = ", ".join(map(_literal, rows))
                connection.execute(f"INSERT INTO v{seed}.{table} VALUES {values}")
    state = {"at": -1}

    def execute(sql: str, variant: int) -> list[tuple[Any, ...]]:
        if state["at"] != variant:
            connection.execute(f"SET search_path TO v{variant}")
            state["at"] = variant
        return connection.execute(sql).fetchall()

    return World("postgres", execute, connection.close)
