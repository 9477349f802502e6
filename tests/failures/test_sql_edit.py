"""The edit between an agent's SQL and the reference, in codes and words."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbagenteval.failures import sql_edit
from tests.failures.queries import changes, made_queries, ways_of_writing, write

REFERENCE = (
    "SELECT s.name, ROUND(AVG(o.total), 2) AS average FROM orders o "
    "JOIN stores s ON s.id = o.store_id "
    "WHERE o.tenant_id = 1 AND o.status = 'paid' AND o.ordered_at >= '2025-01-01' "
    "GROUP BY s.name ORDER BY 2 DESC LIMIT 5"
)

CHANGED = {
    ("o.tenant_id = 1 AND ", ""): ("missing_filter:orders.tenant_id",),
    ("'paid'", "'sent'"): ("wrong_literal:orders.status",),
    ("o.status = 'paid'", "o.status <> 'paid'"): ("other_filter:orders.status",),
    ("o.ordered_at", "o.shipped_at"): ("other_column:orders.ordered_at->orders.shipped_at",),
    ("WHERE ", "WHERE o.kind = 'web' AND "): ("extra_filter:orders.kind",),
    ("AVG(", "MAX("): ("aggregate:AVG->MAX",),
    ("o.total", "o.subtotal"): ("other_argument:AVG(orders.total)->AVG(orders.subtotal)",),
    ("AVG(o.total)", "AVG(DISTINCT o.total)"): ("aggregate:AVG->AVG DISTINCT",),
    ("ROUND(AVG(o.total), 2)", "AVG(o.total)"): ("rounding",),
    (" GROUP BY s.name", " GROUP BY s.name, s.city"): ("extra_group:stores.city",),
    ("JOIN stores", "LEFT JOIN stores"): ("join_kind:INNER JOIN stores->LEFT JOIN stores",),
    ("s.id = o.store_id", "s.id = o.shop_id"): (
        "other_link:orders.store_id = stores.id->orders.shop_id = stores.id",
    ),
    ("WHERE", "JOIN items i ON i.order_id = o.id WHERE"): ("extra_join:items",),
    ("FROM orders", "FROM orders_old"): ("other_table:orders->orders_old",),
    (" DESC", ""): ("order",),
    (" ORDER BY 2 DESC", ""): ("order",),
    (" LIMIT 5", " LIMIT 10"): ("limit",),
    (" LIMIT 5", ""): ("limit",),
    ("SELECT ", "SELECT DISTINCT "): ("distinct",),
    ("SELECT s.name, ", "SELECT "): ("missing_column:stores.name", "order"),
    ("SELECT s.name, ", "SELECT s.name, s.city, "): ("extra_column:stores.city",),
    (" GROUP BY", " GROUP  BY"): ("same",),
    ("o.tenant_id = 1 AND o.status = 'paid'", "o.status = 'paid' AND 1 = o.tenant_id"): ("same",),
    ("o.tenant_id = 1", "o.tenant_id = $1"): ("rewritten",),
    ("AVG(o.total)", "AVG("): ("unreadable",),
}


@pytest.mark.parametrize("change", CHANGED, ids=" becomes ".join)
def test_codes(change):
    """Each change of the reference has its code, and only that one."""
    agent = REFERENCE.replace(*change)
    assert agent != REFERENCE
    found = sql_edit(agent, REFERENCE)
    assert found.kinds == CHANGED[change]


WORDS = {
    "SELECT COUNT(*) FROM customers": "missing filter on customers.tenant_id",
    "SELECT MAX(id) FROM customers WHERE tenant_id = 1": "MAX instead of COUNT",
    "SELECT COUNT(*) FROM customers WHERE tenant_id = 2": "other value for customers.tenant_id",
    "SELECT COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.tenant_id = 1": (
        "extra join of orders"
    ),
    "SELECT COUNT(*) FROM clients WHERE tenant_id = 1": "clients instead of customers",
    "SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1": "does what the reference does",
    "DELETE FROM": "SQL that cannot be analysed",
}


@pytest.mark.parametrize("agent", WORDS)
def test_words(agent):
    """The words say it to a person in the names of the database."""
    found = sql_edit(agent, "SELECT COUNT(*) FROM customers WHERE tenant_id = 1")
    assert found.words.split(";")[0] == WORDS[agent]


def test_words_hold_no_literal():
    """Values of either query, which may be personal, are not in codes or words."""
    found = sql_edit(
        "SELECT a FROM t WHERE name = 'Anna Schmidt' AND x = 'new@example.org' LIMIT 77123",
        "SELECT a FROM t WHERE name = 'Bert Braun' HAVING y = 'old@example.org'",
    )
    text = f"{found.kinds} {found.words}"
    assert not any(value in text for value in ("Anna", "Bert", "example", "77123"))
    assert "wrong_literal:t.name" in found.kinds


NOT_THE_SAME = {
    "a text that looks like a number": ("a = '40'", "a = '0040'"),
    "a row of VALUES": (
        "a IN (SELECT x FROM (VALUES (1)) v (x))",
        "a IN (SELECT x FROM (VALUES (2)) v (x))",
    ),
    "a window": ("a > 1 QUALIFY LAG(a, 1) OVER w > 1", "a > 1 QUALIFY LAG(a, 2) OVER w > 1"),
}


@pytest.mark.parametrize("name", NOT_THE_SAME)
def test_small_differences_are_no_sameness(name):
    """What differs in one literal anywhere is not said to do the same."""
    one, other = (f"SELECT b FROM t WHERE {condition}" for condition in NOT_THE_SAME[name])
    assert sql_edit(one, other).kinds != ("same",)


def test_names_that_are_no_words():
    """Names with blanks, dots and brackets stand in quotes, and are told apart."""
    agent = "SELECT a FROM x JOIN y USING (id) WHERE `Order Date` > 1"
    reference = "SELECT a FROM x JOIN y USING (id) WHERE y.`Order Date` > 2 AND x.`b.c (d)` = 1"
    assert sql_edit(agent, reference, "sqlite").kinds == (
        'wrong_literal:y."order date"',
        'missing_filter:x."b.c (d)"',
    )


def test_inner_queries_that_differ_in_literals():
    """A wrong literal in one of two alike subqueries is seen."""
    query = "SELECT (SELECT COUNT(*) FROM t WHERE a = {}), (SELECT COUNT(*) FROM t WHERE a = {})"
    assert sql_edit(query.format(1, 3), query.format(1, 2)).kinds == ("wrong_literal:t.a",)


EQUAL = {
    "a filter outside the derived table": (
        "SELECT COUNT(*) FROM (SELECT * FROM t) s WHERE s.a = 1",
        "SELECT COUNT(*) FROM t WHERE a = 1",
    ),
    "a column that only one table is known to have": (
        "SELECT name FROM o JOIN s ON s.id = o.sid WHERE city = 'x'",
        "SELECT s.name FROM o JOIN s ON s.id = o.sid WHERE s.city = 'x'",
    ),
    "a schema written out": (
        "SELECT a FROM public.t WHERE t.a = 1",
        "SELECT a FROM t WHERE t.a = 1",
    ),
    "IN with one value": ("SELECT a FROM t WHERE b IN (4)", "SELECT a FROM t WHERE b = 4.0"),
    "a comment between two words": (
        "SELECT a FROM t ORDER /* why */ BY a -- or not",
        "SELECT a FROM t ORDER BY a",
    ),
    "a parameter": ("SELECT a FROM t WHERE b = ?", "SELECT a FROM t WHERE b = 4"),
}


@pytest.mark.parametrize("name", EQUAL)
def test_no_difference_is_made_up(name):
    """Spellings that do the same are no edit that has a code."""
    assert sql_edit(*EQUAL[name]).kinds in (("same",), ("rewritten",))


def check_edits(made, one, other):
    """Check that only what differs is named."""
    agent, reference = write(made, one), write(made, other)
    kinds = sql_edit(agent, reference).kinds
    assert all(kind == "limit" or kind.startswith("wrong_literal:") for kind in kinds) or kinds in (
        ("same",),
        ("rewritten",),
    ), f"{kinds}\n{agent}\n{reference}"
    agent = write(made, replace(one, literals=other.literals))
    assert sql_edit(agent, reference).kinds == ("same",), f"{agent}\n{reference}"
    for changed in changes(made):
        agent = write(changed, one)
        assert sql_edit(agent, reference).kinds not in (("same",), ("rewritten",)), agent


@settings(max_examples=60, deadline=None)
@given(made_queries(), ways_of_writing, ways_of_writing)
def test_only_what_differs_is_named(made, one, other):
    """Another writing is `same`, other literals are named as such, other queries by a code."""
    check_edits(made, one, other)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(made_queries(), ways_of_writing, ways_of_writing)
def test_only_what_differs_is_named_at_length(made, one, other):
    """The same with many more queries."""
    check_edits(made, one, other)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=100), st.text(max_size=100))
def test_any_texts_have_an_edit(one, other):
    """No pair of texts raises, and the words are one line."""
    found = sql_edit(one, other)
    assert found.kinds
    assert "\n" not in found.words


def test_hostile_pair_is_bounded():
    """Two texts of 1 MB are compared in seconds."""
    text = "SELECT 1 FROM t WHERE " + " AND ".join(f"a{i} = {i}" for i in range(60_000))
    start = time.process_time()
    assert sql_edit(text, f"{text} LIMIT 3").kinds == ("limit",)
    assert time.process_time() - start < 180
