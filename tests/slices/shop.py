"""A small shop with two tenants, in each kind of database, and what agents asked of it."""

from __future__ import annotations

import random
import sqlite3

TABLES = """
CREATE TABLE stores (store_id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,
  name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,
  full_name TEXT NOT NULL, email TEXT, phone TEXT, card BIGINT, city TEXT, born DATE);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,
  name TEXT NOT NULL, category TEXT NOT NULL, price NUMERIC(10,2) NOT NULL);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,
  store_id INTEGER NOT NULL REFERENCES stores(store_id),
  customer_id INTEGER NOT NULL REFERENCES customers(customer_id),
  status TEXT NOT NULL, ordered_at DATE NOT NULL, total NUMERIC(10,2) NOT NULL, note TEXT);
CREATE TABLE order_items (item_id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,
  order_id INTEGER NOT NULL REFERENCES orders(order_id),
  product_id INTEGER NOT NULL REFERENCES products(product_id), quantity INTEGER NOT NULL)
"""

NAMES = ["Anna Schmidt", "Zoë O'Hara", "田中 花子", "Björn Łuk", "Ali Öz", "Rosa Paz"]
CATEGORIES = ["Camping", "Footwear", "Books"]
STATUSES = ["delivered", "pending", "cancelled"]


def rows() -> dict[str, list[tuple[object, ...]]]:
    """Give the rows by table: 60 orders of 24 customers, the same each time."""
    chance = random.Random(7)
    found: dict[str, list[tuple[object, ...]]] = {
        "stores": [(n, 1 if n < 4 else 2, f"Nordwind {n}", "Berlin") for n in range(1, 6)],
        "customers": [
            (
                n,
                1 if n <= 15 else 2,
                NAMES[n - 1] if n <= len(NAMES) else f"{NAMES[n % 6]} {n}",
                None if n % 7 == 0 else f"person{n}@example.com",
                f"+49 30 1234{n:03}",
                4111111111111111,
                ["Berlin", "Wien"][n % 2],
                f"19{60 + n}-02-03",
            )
            for n in range(1, 25)
        ],
        "products": [
            (n, 1 if n < 9 else 2, f"Thing {n}", CATEGORIES[n % 3], 5 * n + 0.5)
            for n in range(1, 13)
        ],
        "orders": [],
        "order_items": [],
    }
    for n in range(1, 61):
        tenant = 1 if n <= 40 else 2
        customer = chance.randint(1, 15) if tenant == 1 else chance.randint(16, 24)
        store = chance.randint(1, 3) if tenant == 1 else chance.randint(4, 5)
        total = chance.randint(100, 90_000) / 100
        status = STATUSES[n % 3]
        day = f"2025-{n % 12 + 1:02}-{n % 28 + 1:02}"
        note = f"call {NAMES[n % 6]} at +49 170 9876{n:03}" if n % 4 == 0 else None
        found["orders"].append((n, tenant, store, customer, status, day, total, note))
        for _ in range(chance.randint(1, 3)):
            product = chance.randint(1, 8) if tenant == 1 else chance.randint(9, 12)
            item = len(found["order_items"]) + 1
            found["order_items"].append((item, tenant, n, product, chance.randint(1, 4)))
    return found


def statements() -> list[str]:
    """Give the statements that make and fill the shop on any of the databases."""
    made = [text.strip() for text in TABLES.split(";")]
    for table, of_table in rows().items():
        for row in of_table:
            cells = ", ".join(
                "NULL"
                if cell is None
                else str(cell)
                if not isinstance(cell, str)
                else "'" + cell.replace("'", "''") + "'"
                for cell in row
            )
            made.append(f"INSERT INTO {table} VALUES ({cells})")
    return made


def make_sqlite(path) -> str:
    """Make the shop in a SQLite file and give its URL."""
    database = sqlite3.connect(path)
    for statement in statements():
        database.execute(statement)
    database.commit()
    database.close()
    return f"sqlite:///{path}"


def make_duckdb(path) -> str:
    """Make the shop in a DuckDB file and give its URL."""
    import duckdb

    with duckdb.connect(str(path)) as database:
        for statement in statements():
            database.execute(statement)
    return f"duckdb:///{path}"


def make_postgres(url: str) -> str:
    """Make the shop in an empty PostgreSQL database and give its URL."""
    import psycopg

    with psycopg.connect(url) as database:
        for statement in statements():
            database.execute(statement)
    return url
