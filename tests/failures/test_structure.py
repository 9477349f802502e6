"""The structure of SQL: what must not change it, what must, and hostile texts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbagenteval.failures import structure
from tests.failures.queries import Made, Written, changes, made_queries, ways_of_writing, write

_PIECES = [
    *("SELECT", "FROM", "WHERE", "JOIN", "ON", "(", ")", ",", ".", "*", "'", '"', "`", "[", "]"),
    *("--", "/*", "*/", "t", "a", "1", "'x'", "AND", "OR", "NOT", "IN", "CASE", "WHEN", "END"),
    *("UNION", "WITH", "AS", "VALUES", "GROUP", "BY", "::", "->", ";", "$1", "?", "%", "{{", "}}"),
    *("EXISTS", "BETWEEN", "INTERVAL", "LATERAL", "UNNEST", "PIVOT", "OVER", "FILTER", "USING"),
]


def check_same(made: Made, one: Written, other: Written) -> None:
    first, second = write(made, one), write(made, other)
    assert structure(first) == structure(second), f"{first}\n{second}"


def check_different(made: Made, way: Written) -> None:
    text = write(made, way)
    for changed in changes(made):
        assert structure(text) != structure(write(changed, way)), write(changed, way)


@settings(max_examples=150, deadline=None)
@given(made_queries(), ways_of_writing, ways_of_writing)
def test_writing_does_not_matter(made, one, other):
    """Aliases, literals, case, blanks, comments and the order of conditions change nothing."""
    check_same(made, one, other)


@settings(max_examples=60, deadline=None)
@given(made_queries(), ways_of_writing)
def test_what_a_query_does_matters(made, way):
    """A filter less, another aggregate, join, group, order or limit is another structure."""
    check_different(made, way)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None)
@given(made_queries(), ways_of_writing, ways_of_writing)
def test_writing_does_not_matter_at_length(made, one, other):
    """The same with many more queries, in both directions."""
    check_same(made, one, other)
    check_different(made, one)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=300) | st.lists(st.sampled_from(_PIECES)).map(" ".join),
    st.sampled_from([None, "postgres", "mysql", "bigquery", "tsql", "no such"]),
)
def test_any_text_has_a_structure(text, dialect):
    """No text raises, whatever the dialect, and the same text has the same structure."""
    found = structure(text, dialect)
    assert isinstance(found, str)
    assert len(found) <= 4000
    assert structure(f"{text} ", dialect) == found


CANONICAL = {
    "SELECT COUNT(1) FROM Orders": "SELECT COUNT(*) FROM orders",
    "SELECT name, SUM(total) t FROM orders GROUP BY 1 ORDER BY t DESC LIMIT 5": (
        "SELECT orders.name, SUM(orders.total) FROM orders GROUP BY orders.name "
        "ORDER BY SUM(orders.total) DESC LIMIT :number"
    ),
    "SELECT a FROM b, c WHERE c.x = b.y": "SELECT a FROM b, c WHERE b.y = c.x",
    "WITH w AS (SELECT id AS n FROM t) SELECT n FROM w": (
        "WITH q1 AS (SELECT t.id FROM t) SELECT t.id FROM q1"
    ),
    "SELECT n FROM (SELECT id AS n FROM t) AS other": (
        "WITH q1 AS (SELECT t.id FROM t) SELECT t.id FROM q1"
    ),
    "SELECT a.x FROM t a JOIN t b ON a.up = b.id": ("SELECT t.x FROM t, t#2 WHERE t#2.id = t.up"),
    "SELECT date_trunc('Month', d) FROM t WHERE d > now() - INTERVAL '7 days'": (
        "SELECT DATE_TRUNC('month', t.d) FROM t WHERE t.d > (NOW() - INTERVAL DAY)"
    ),
    "SELECT a FROM t RIGHT JOIN u ON t.id = u.id": "SELECT a FROM u LEFT JOIN t ON t.id = u.id",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)": (
        "WITH q1 AS (SELECT :number FROM u WHERE u.id = ^t.id) SELECT t.a FROM t WHERE EXISTS(q1)"
    ),
    "SELECT a FROM t UNION SELECT b FROM u": (
        "WITH q1 AS (SELECT t.a FROM t), q2 AS (SELECT u.b FROM u) q1 UNION q2"
    ),
    'SELECT "Order Date" FROM "my table" t WHERE t."a.b" = 1': (
        'SELECT "my table"."Order Date" FROM "my table" WHERE "my table"."a.b" = :number'
    ),
    "SELECT v.x FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)": (
        "WITH q1 AS (VALUES TUPLE(:number, :text)) SELECT q1.1 FROM q1"
    ),
    "SELECT FROM WHERE 'x' AND 17": "select from where :text and :number",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_text(text):
    """The canonical text says what the query does in names that can be read."""
    assert structure(text) == CANONICAL[text]


PAIRS = {
    "a comma join is an inner join": (
        "SELECT c.id FROM a, c WHERE a.x = c.x AND a.y = 1",
        "SELECT c.id FROM c JOIN a ON c.x = a.x AND a.y = 5",
    ),
    "USING is a condition": (
        "SELECT a.id FROM a JOIN c USING (x)",
        "SELECT a.id FROM a JOIN c ON c.x = a.x",
    ),
    "BETWEEN is two conditions": (
        "SELECT 1 FROM t WHERE x BETWEEN 1 AND 2",
        "SELECT 1 FROM t WHERE x <= 900 AND x >= 100",
    ),
    "subqueries in another order": (
        "SELECT 1 FROM t WHERE a IN (SELECT p FROM u) AND b IN (SELECT q FROM v)",
        "SELECT 1 FROM t WHERE b IN (SELECT q FROM v) AND a IN (SELECT p FROM u)",
    ),
    "a WITH item nobody reads": (
        "WITH x AS (SELECT 1) SELECT a FROM t",
        "SELECT a FROM t",
    ),
    "the usual place of NULL": (
        "SELECT a FROM t ORDER BY a NULLS FIRST",
        "SELECT a FROM t ORDER BY a",
    ),
    "a date with and without DATE": (
        "SELECT 1 FROM t WHERE d >= DATE '2024-01-01'",
        "SELECT 1 FROM t WHERE d >= '2025-06-01'",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_same_structure(name):
    """Two spellings of one query have one structure."""
    one, other = PAIRS[name]
    assert structure(one) == structure(other)


OTHERS = {
    "date part": (
        "SELECT DATE_TRUNC('month', d) FROM t",
        "SELECT DATE_TRUNC('year', d) FROM t",
    ),
    "format": ("SELECT strftime('%Y', d) FROM t", "SELECT strftime('%m', d) FROM t"),
    "distinct": ("SELECT DISTINCT a FROM t", "SELECT a FROM t"),
    "distinct aggregate": ("SELECT COUNT(DISTINCT a) FROM t", "SELECT COUNT(a) FROM t"),
    "order of columns": ("SELECT a, b FROM t", "SELECT b, a FROM t"),
    "direction": ("SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 1 DESC"),
    "schema": ("SELECT a FROM one.t", "SELECT a FROM two.t"),
    "JSON path": ("SELECT d->>'a' FROM t", "SELECT d->>'b' FROM t"),
    "or": ("SELECT 1 FROM t WHERE a = 1 OR b = 1", "SELECT 1 FROM t WHERE a = 1 AND b = 1"),
    "not": ("SELECT 1 FROM t WHERE NOT a IN (1)", "SELECT 1 FROM t WHERE a IN (1)"),
    "side of a difference": ("SELECT a - b FROM t", "SELECT b - a FROM t"),
    "where in a self join": (
        "SELECT 1 FROM t x JOIN t y ON x.up = y.id WHERE x.a = 1",
        "SELECT 1 FROM t x JOIN t y ON x.up = y.id WHERE y.a = 1",
    ),
    "a filter before and after a full join": (
        "SELECT a.i FROM a JOIN b ON a.p = b.p FULL JOIN c ON c.q = a.q",
        "SELECT a.i FROM a CROSS JOIN b FULL JOIN c ON c.q = a.q WHERE a.p = b.p",
    ),
    "a filter less before a full join": (
        "SELECT a.i FROM a JOIN b ON a.p = b.p FULL JOIN c ON c.q = a.q",
        "SELECT a.i FROM a CROSS JOIN b FULL JOIN c ON c.q = a.q",
    ),
    "a condition of an outer join": (
        "SELECT a.i FROM a LEFT JOIN b ON a.p = b.p AND b.q = 1",
        "SELECT a.i FROM a LEFT JOIN b ON a.p = b.p WHERE b.q = 1",
    ),
    "an alias that hides a column": (
        "SELECT a AS b, b AS a FROM t ORDER BY a",
        "SELECT a AS b, b AS a FROM t ORDER BY t.a",
    ),
    "NULLS LAST": ("SELECT a FROM t ORDER BY a NULLS LAST", "SELECT a FROM t ORDER BY a"),
    "BETWEEN SYMMETRIC": (
        "SELECT 1 FROM t WHERE a BETWEEN SYMMETRIC b AND c",
        "SELECT 1 FROM t WHERE a BETWEEN b AND c",
    ),
    "texts put together": (
        "SELECT a + ' ' + b FROM t",
        "SELECT b + ' ' + a FROM t",
    ),
    "rows that tie": (
        "SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS ONLY",
        "SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
    ),
    "a point in time": (
        "SELECT a FROM t FOR SYSTEM_TIME AS OF '2024-01-01'",
        "SELECT a FROM t",
    ),
    "union by name": (
        "SELECT a, b FROM t UNION BY NAME SELECT b, a FROM u",
        "SELECT a, b FROM t UNION SELECT b, a FROM u",
    ),
    "union all": (
        "SELECT a FROM t UNION SELECT a FROM u",
        "SELECT a FROM t UNION ALL SELECT a FROM u",
    ),
    "partition": (
        "SELECT SUM(a) OVER (PARTITION BY b) FROM t",
        "SELECT SUM(a) OVER (PARTITION BY c) FROM t",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_structure(name):
    """Queries that do different things have different structures."""
    one, other = OTHERS[name]
    assert structure(one) != structure(other)


HOSTILE = {
    "brackets": "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "open brackets": "(((" * 300_000,
    "derived tables": "SELECT * FROM (" * 5000 + "SELECT 1" + ") a" * 5000,
    "a list of 1 MB": "SELECT 1 FROM t WHERE a IN (" + ",".join(map(str, range(150_000))) + ")",
    "conditions of 1 MB": "SELECT 1 FROM t WHERE "
    + " AND ".join(f"a{i} = {i}" for i in range(70_000)),
    "a literal of 1 MB": "SELECT '" + "x" * 1_000_000 + "'",
    "open literals": "'" * 1_000_001,
    "NOT": "SELECT 1 FROM t WHERE " + "NOT " * 5000 + "a",
    "WITH items that double": "WITH c0 AS (SELECT 1 AS x)"
    + "".join(f", c{i} AS (SELECT a.x FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 100))
    + " SELECT x FROM c99",
    "3 MB": "SELECT 1 " * 350_000,
    "surrogates": "SELECT '\ud800' FROM \udfff",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_bounded(name):
    """Deep nesting and megabytes take a few seconds at most and give a short text."""
    start = time.process_time()
    assert len(structure(HOSTILE[name])) <= 4000
    assert time.process_time() - start < 120


def test_long_list_is_a_list():
    """A list of 150,000 numbers is the list of one."""
    assert structure(HOSTILE["a list of 1 MB"]) == structure("SELECT 1 FROM t WHERE a IN (2)")
