"""Repairs of common mistakes in an agent's SQL."""

from __future__ import annotations

import sqlite3

import pytest

from dbagenteval.executors import executor_for, read_only_engine
from dbagenteval.harvest.repair import repairs
from dbagenteval.slices.reflection import read_schema

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, tenant_id INTEGER, full_name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id INTEGER, status TEXT, total INTEGER,
  customer_id INTEGER REFERENCES customers(id));
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), units INTEGER,
  category TEXT);
CREATE TABLE countries (code TEXT PRIMARY KEY, name TEXT);
INSERT INTO customers VALUES (1, 1, 'Anna', 'Wien'), (2, 1, 'Bo', 'Wien'), (3, 2, 'Cy', 'Linz');
INSERT INTO orders VALUES (1, 1, 'paid', 10, 1), (2, 1, 'open', 20, 1), (3, 1, 'paid', 60, 2),
  (4, 2, 'paid', 99, 3);
INSERT INTO items VALUES (1, 1, 2, 'toys'), (2, 1, 3, 'toys'), (3, 2, 1, 'food'), (4, 3, 5, 'toys');
"""

REPAIRS = {
    "tenant filter": (
        "How many customers are there?",
        "SELECT COUNT(*) FROM customers",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 1",
        "tenant_filter",
    ),
    "tenant filter in a subquery": (
        "Orders of customers in Wien?",
        "SELECT id FROM orders WHERE tenant_id = 1 AND customer_id IN (SELECT id FROM customers)",
        "SELECT id FROM orders WHERE tenant_id = 1 AND customer_id IN "
        "(SELECT id FROM customers WHERE tenant_id = 1)",
        "tenant_filter",
    ),
    "tenant filter in a query and its subquery": (
        "Customers without orders?",
        "SELECT id FROM customers WHERE city = 'Wien' AND id NOT IN "
        "(SELECT customer_id FROM orders WHERE status IN (SELECT 'paid' FROM orders))",
        "SELECT id FROM customers WHERE city = 'Wien' AND NOT id IN "
        "(SELECT customer_id FROM orders WHERE status IN "
        "(SELECT 'paid' FROM orders WHERE tenant_id = 1) AND tenant_id = 1) AND tenant_id = 1",
        "tenant_filter",
    ),
    "tenant filter on the optional side of a join by USING": (
        "Orders per customer?",
        "SELECT c.id, COUNT(o.status) AS n FROM customers c LEFT JOIN orders o USING (id) "
        "WHERE c.tenant_id = 1 GROUP BY c.id",
        "SELECT c.id, COUNT(o.status) AS n FROM customers AS c LEFT JOIN "
        "(SELECT * FROM orders WHERE tenant_id = 1) AS o USING (id) "
        "WHERE c.tenant_id = 1 GROUP BY c.id",
        "tenant_filter",
    ),
    "tenant filter on a table of a namespace": (
        "Orders per customer?",
        "SELECT c.id, COUNT(o.status) AS n FROM customers c LEFT JOIN main.orders o USING (id) "
        "WHERE c.tenant_id = 1 GROUP BY c.id",
        "SELECT c.id, COUNT(o.status) AS n FROM customers AS c LEFT JOIN "
        "(SELECT * FROM main.orders WHERE tenant_id = 1) AS o USING (id) "
        "WHERE c.tenant_id = 1 GROUP BY c.id",
        "tenant_filter",
    ),
    "tenant filter on the optional side of a join": (
        "Orders by customer?",
        "SELECT c.id, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id "
        "WHERE c.tenant_id = 1 GROUP BY c.id",
        "SELECT c.id, COUNT(o.id) FROM customers AS c LEFT JOIN orders AS o ON "
        "o.customer_id = c.id AND o.tenant_id = 1 WHERE c.tenant_id = 1 GROUP BY c.id",
        "tenant_filter",
    ),
    "tenant filter of an earlier side of a full join": (
        "All of them?",
        "SELECT c.id, o.id FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id "
        "WHERE o.tenant_id = 1",
        "SELECT c.id, o.id FROM (SELECT * FROM customers WHERE tenant_id = 1) AS c "
        "RIGHT JOIN orders AS o ON o.customer_id = c.id WHERE o.tenant_id = 1",
        "tenant_filter",
    ),
    "filter of another tenant": (
        "How many customers are there?",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 2",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 1",
        "tenant_filter",
    ),
    "filter under OR is none": (
        "How many customers are there?",
        "SELECT COUNT(*) FROM customers WHERE tenant_id = 1 OR city = 'Linz'",
        "SELECT COUNT(*) FROM customers WHERE (tenant_id = 1 OR city = 'Linz') AND tenant_id = 1",
        "tenant_filter",
    ),
    "average": (
        "What is the average order value?",
        "SELECT MAX(total) FROM orders WHERE tenant_id = 1",
        "SELECT AVG(total) FROM orders WHERE tenant_id = 1",
        "aggregate",
    ),
    "how many, in German": (
        "Wie viele Bestellungen gibt es?",
        "SELECT SUM(total) FROM orders WHERE tenant_id = 1",
        "SELECT COUNT(*) FROM orders WHERE tenant_id = 1",
        "aggregate",
    ),
    "total, in German": (
        "Wie hoch ist der Gesamtumsatz?",
        "SELECT AVG(total) FROM orders WHERE tenant_id = 1",
        "SELECT SUM(total) FROM orders WHERE tenant_id = 1",
        "aggregate",
    ),
    "different ones": (
        "How many different cities do our customers live in?",
        "SELECT COUNT(city) FROM customers WHERE tenant_id = 1",
        "SELECT COUNT(DISTINCT city) FROM customers WHERE tenant_id = 1",
        "distinct",
    ),
    "different ones, listed": (
        "In welchen verschiedenen Städten wohnen unsere Kunden?",
        "SELECT city FROM customers WHERE tenant_id = 1",
        "SELECT DISTINCT city FROM customers WHERE tenant_id = 1",
        "distinct",
    ),
    "join that nothing reads": (
        "What is the total of paid orders?",
        "SELECT SUM(o.total) FROM orders o JOIN items i ON i.order_id = o.id "
        "WHERE o.tenant_id = 1 AND o.status = 'paid'",
        "SELECT SUM(o.total) FROM orders AS o WHERE o.tenant_id = 1 AND o.status = 'paid'",
        "fan_out",
    ),
    "join that filters": (
        "What is the total of orders with toys?",
        "SELECT SUM(o.total) FROM orders o JOIN items i ON i.order_id = o.id "
        "WHERE o.tenant_id = 1 AND i.category = 'toys'",
        "SELECT SUM(o.total) FROM orders AS o WHERE o.tenant_id = 1 AND EXISTS("
        "SELECT 1 FROM items AS i WHERE i.order_id = o.id AND i.category = 'toys')",
        "fan_out",
    ),
    "join that is aggregated as well": (
        "Total value and total units of our orders?",
        "SELECT SUM(o.total), SUM(i.units) FROM orders o JOIN items i ON i.order_id = o.id "
        "WHERE o.tenant_id = 1",
        "SELECT SUM(o.total), SUM(i.value_1) FROM orders AS o JOIN (SELECT i.order_id, "
        "SUM(i.units) AS value_1 FROM items AS i GROUP BY i.order_id) AS i ON i.order_id = o.id "
        "WHERE o.tenant_id = 1",
        "fan_out",
    ),
    "unknown column": (
        "How many paid orders?",
        "SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND order_status = 'paid'",
        "SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = 'paid'",
        "names",
    ),
    "unknown table": (
        "How many orders?",
        "SELECT COUNT(*) FROM orderz WHERE orderz.tenant_id = 1",
        "SELECT COUNT(*) FROM orders AS orderz WHERE orderz.tenant_id = 1",
        "names",
    ),
}


@pytest.fixture
def url(tmp_path):
    """A shop with two tenants."""
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript(SHOP)
    database.close()
    return f"sqlite:///{tmp_path}/shop.db"


@pytest.fixture
def schema(url):
    """What the shop's tables are."""
    return read_schema(read_only_engine(url))


def repaired(sql, question, schema, tenant=("tenant_id", 1)):
    """Give all repairs of a statement."""
    return list(repairs(sql, dialect="sqlite", schema=schema, tenant=tenant, question=question))


@pytest.mark.parametrize("name", REPAIRS)
def test_a_mistake_is_mended(url, schema, name):
    """The one mistake is found, mended alone, and the mended statement runs."""
    question, sql, right, kind = REPAIRS[name]
    (found,) = repaired(sql, question, schema)
    assert found.sql == right
    assert found.kind == kind
    assert found.words
    executor_for(url)(found.sql)


@pytest.mark.parametrize("name", REPAIRS)
def test_what_is_mended_needs_no_repair(schema, name):
    """Repairing a repaired statement gives nothing."""
    question, _, right, _ = REPAIRS[name]
    assert repaired(right, question, schema) == []


def test_several_mistakes_are_mended_together_first(schema):
    """Then each of them alone."""
    found = repaired("SELECT MAX(total) FROM orders", "What is the average order?", schema)
    assert [each.kind for each in found] == [
        "aggregate+tenant_filter",
        "aggregate",
        "tenant_filter",
    ]
    assert found[0].sql == "SELECT AVG(total) FROM orders WHERE tenant_id = 1"
    assert found[0].words == (
        "MAX replaced by AVG, as the question says; filter tenant_id = 1 on orders"
    )


def test_pre_aggregated_sums_are_right(url, schema):
    """What is repeated no more adds up: 10 + 20 + 60, and 2 + 3 + 1 + 5 units."""
    question, sql, _, _ = REPAIRS["join that is aggregated as well"]
    execute = executor_for(url)
    assert list(execute(sql)[0].values()) == [100, 11]
    assert list(execute(repaired(sql, question, schema)[0].sql)[0].values()) == [90, 11]


@pytest.mark.parametrize(
    ("sql", "question"),
    [
        ("SELECT COUNT(*) FROM customers WHERE tenant_id = 1", "How many customers?"),
        ("SELECT MAX(total) FROM orders WHERE tenant_id = 1", "The highest average total?"),
        ("SELECT COUNT(*) FROM orders WHERE tenant_id = 1", "What is the total of orders?"),
        (
            "SELECT c.city, SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE o.tenant_id = 1 AND c.tenant_id = 1 GROUP BY c.city",
            "Total by city?",
        ),
        ("SELECT name FROM countries", "All countries?"),
        ('SELECT COUNT(*) FROM orders WHERE tenant_id = 1 AND status = "statu"', "How many?"),
        (
            "SELECT customer_id, SUM(total) AS t FROM orders WHERE tenant_id = 1 "
            "GROUP BY customer_id ORDER BY t DESC LIMIT 1",
            "Wer ist unser größter Kunde?",
        ),
        ("SELECT SUM(total) FROM orders WHERE tenant_id = 1", "Der Umsatz im letzten Monat?"),
        ("SELECT COUNT(id) FROM orders WHERE tenant_id = 1 AND total > 3", "Orders of at least 3?"),
        ("SELECT MAX(o.total) FROM orders o JOIN items i ON i.order_id = o.id "
         "WHERE o.tenant_id = 1", "The highest total?"),
        ("DELETE FROM customers", "Delete all customers"),
        ("SELECT COUNT( FROM customers", "How many customers?"),
        ("SELECT 1; SELECT 2", "Both?"),
        ("SELECT pg_sleep(9) FROM customers", "Sleep well?"),
    ],
)  # fmt: skip
def test_nothing_is_mended_that_is_right_or_beyond_repair(schema, sql, question):
    """No repair of right SQL, of SQL that writes, and of what can't be read."""
    assert repaired(sql, question, schema) == []


def test_without_a_schema_every_table_gets_the_filter():
    """Nothing says then which tables have the column."""
    (found,) = repaired("SELECT name FROM countries", "?", None)
    assert found.sql == "SELECT name FROM countries WHERE tenant_id = 1"


def test_without_a_tenant_no_filter_is_added(schema):
    """Whose rows are meant is not guessed."""
    assert repaired("SELECT COUNT(*) FROM customers", "How many customers?", schema, None) == []


def test_a_text_tenant_is_quoted(schema):
    """A tenant's name with a quote stays one literal."""
    (found,) = repaired("SELECT id FROM orders", "?", schema, ("tenant_id", "O'Hara"))
    assert found.sql == "SELECT id FROM orders WHERE tenant_id = 'O''Hara'"


def test_a_tenant_that_looks_like_a_number_is_a_text_where_the_column_is(tmp_path):
    """PostgreSQL compares no text with a number."""
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("CREATE TABLE orders (id INTEGER, tenant_id TEXT)")
    database.close()
    schema = read_schema(read_only_engine(f"sqlite:///{tmp_path / 't.db'}"))
    (found,) = repaired("SELECT id FROM orders", "?", schema)
    assert found.sql == "SELECT id FROM orders WHERE tenant_id = '1'"
