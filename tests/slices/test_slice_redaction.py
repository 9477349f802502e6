"""What a slice must not hold: names, addresses and numbers of people."""

from __future__ import annotations

import sqlite3

import pytest

from dbagenteval.cases import Case
from dbagenteval.errors import SliceError
from dbagenteval.slices import SameFailure, rows_differ, slice_data
from tests.slices import shop

JOINED = (
    "SELECT o.order_id, c.full_name FROM orders o JOIN customers c "
    "ON c.customer_id = o.customer_id WHERE o.tenant_id = 1"
)


def sliced(url, agent, reference, **options):
    """Give the slice on which two statements differ."""
    failure = SameFailure(rows_differ(agent, Case("?", reference_sql=reference)))
    return slice_data(url, [agent, reference], failure, **options)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def shop_url(request, tmp_path):
    """The shop in each kind of database."""
    if request.param == "sqlite":
        return shop.make_sqlite(tmp_path / "shop.db")
    if request.param == "duckdb":
        return shop.make_duckdb(tmp_path / "shop.duckdb")
    return shop.make_postgres(request.getfixturevalue("postgres_url"))


PERSONAL = [*shop.NAMES, "person", "@example.com", "+49", "1234", "4111111111111111", "9876"]


@pytest.mark.parametrize(
    ("agent", "reference"),
    [
        (JOINED, f"{JOINED} AND o.note IS NOT NULL"),
        (f"{JOINED} AND c.full_name = 'Anna Schmidt'", JOINED),
        (f"{JOINED} AND c.email = 'person3@example.com'", JOINED),
        (f"{JOINED} AND c.card = 4111111111111111", f"{JOINED} AND c.card > 4111111111111111"),
    ],
)
def test_values_of_people_go(shop_url, agent, reference):
    """From rows and statements alike, and the statements still differ on the script."""
    found = sliced(shop_url, agent, reference)
    text = found.script + "\n".join(found.statements)
    assert [value for value in PERSONAL if value in text] == []
    database = sqlite3.connect(":memory:")
    database.executescript(found.script)
    wrong, right = (database.execute(sql).fetchall() for sql in found.statements)
    assert sorted(wrong) != sorted(right)


@pytest.mark.parametrize("column", ["card", "card_last4", "tel", "cell", "cvv", "pin", "plz"])
def test_short_numbers_of_people_go(tmp_path, column):
    """They stay in other columns of text, where they are amounts and codes."""
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            f"CREATE TABLE t (id INTEGER, {column} TEXT, code TEXT);"
            "INSERT INTO t VALUES (1, '4711', '4712'), (2, '4713', NULL);"
        )
    database.close()
    agent = "SELECT id FROM t"
    found = sliced(f"sqlite:///{path}", agent, f"{agent} WHERE code IS NULL")
    assert "4711" not in found.script
    assert "4713" not in found.script
    assert "4712" in found.script


def test_the_same_value_gets_the_same_replacement(tmp_path):
    """In every table, so that joins over texts still join."""
    path = tmp_path / "d.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT, name TEXT);
            CREATE TABLE visits (id INTEGER PRIMARY KEY, visitor TEXT, pages INTEGER);
            INSERT INTO people VALUES (1, 'zoe@example.com', 'Zoë'), (2, 'al@example.com', 'Al');
            INSERT INTO visits VALUES (1, 'zoe@example.com', 3), (2, 'al@example.com', 5);
            """
        )
    database.close()
    agent = (
        "SELECT p.name, MAX(v.pages) FROM people p, visits v WHERE p.email = v.visitor GROUP BY 1"
    )
    found = sliced(f"sqlite:///{path}", agent, agent.replace("MAX(v.pages)", "-MAX(v.pages)"))
    emails = {row[1] for row in found.rows["people"]}
    assert emails == {row[1] for row in found.rows["visits"]}
    assert "example.com" not in found.script
    assert "Zo" not in found.script


def test_what_the_sql_compares_and_numbers_and_dates_stay(tmp_path):
    """A status, an amount and a day say nothing of a person."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = (
        "SELECT SUM(total) FROM orders WHERE tenant_id = 1 AND status = 'delivered' "
        "AND ordered_at >= '2025-05-01'"
    )
    found = sliced(url, agent, agent.replace("SUM(total)", "SUM(2 * total)"))
    assert found.statements[0] == agent
    (order,) = found.rows["orders"]
    original = {row[0]: row for row in shop.rows()["orders"]}[order[0]]
    assert order[:7] == original[:7]


def test_texts_keep_their_order(tmp_path):
    """What ORDER BY and MAX give stays the row it was."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = "SELECT MAX(full_name), COUNT(*) FROM customers WHERE tenant_id = 1 AND customer_id < 4"
    kept = sliced(url, agent, agent.replace("MAX", "MIN"), keep_values=True)
    found = sliced(url, agent, agent.replace("MAX", "MIN"))
    at = {row[0]: row[2] for row in kept.rows["customers"]}
    new = {row[0]: row[2] for row in found.rows["customers"]}
    assert sorted(at, key=at.get) == sorted(new, key=new.get)
    assert not set(at.values()) & set(new.values())


def test_a_users_redaction_is_asked_first_and_decides_on_literals(tmp_path):
    """The case's question, SQL and data then speak of the same stand-in."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = f"{JOINED} AND c.full_name = 'Anna Schmidt' AND c.city = 'Wien'"
    found = sliced(
        url,
        agent,
        JOINED,
        redact=lambda text: text.replace("Anna Schmidt", "Jane Doe"),
    )
    assert "c.full_name = 'Jane Doe' AND c.city = 'Wien'" in found.statements[0]
    assert "Jane Doe" in [row[2] for row in found.rows["customers"]]
    assert "Anna" not in found.script


def test_texts_stay_where_the_failure_needs_them(tmp_path):
    """A product's code that the SQL takes apart is kept and named, people's values are not."""
    path = tmp_path / "d.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE products (id INTEGER PRIMARY KEY, code TEXT, maker TEXT, email TEXT);
            INSERT INTO products VALUES (1, 'AB-17', 'Acme', 'a@example.com'),
                                        (2, 'CD-23', 'Bolt', 'b@example.com');
            """
        )
    database.close()
    agent = "SELECT SUM(CAST(SUBSTR(code, 4) AS INTEGER)) FROM products"
    found = sliced(f"sqlite:///{path}", agent, agent.replace("4", "5"))
    assert found.notes == ("products.code is kept: the failure needs its texts",)
    assert "CD-23" in found.script
    assert "Bolt" not in found.script
    assert "@example.com" not in found.script


@pytest.mark.parametrize("pattern", ["Anna%", "%Schmidt", "%na sch%", "%Anna_Schmidt%", "%a%"])
def test_patterns_find_the_new_texts(tmp_path, pattern):
    """As they found the old ones, though neither holds a name any more."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = f"SELECT COUNT(*) FROM customers WHERE full_name LIKE '{pattern}'"
    found = sliced(url, agent, agent.replace("COUNT(*)", "2 * COUNT(*)"))
    assert [name for name in ("Anna", "Schmidt", "na sch") if name in found.script] == []
    assert [name for name in ("Anna", "Schmidt", "na sch") if name in found.statements[0]] == []


@pytest.mark.parametrize(
    "condition", ["LOWER(full_name) = 'anna schmidt'", "UPPER(full_name) = 'ANNA SCHMIDT'"]
)
def test_a_literal_of_another_case_is_the_value_it_is(tmp_path, condition):
    """Both get the same new text, in the case the statement compares."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = f"SELECT COUNT(*) FROM customers WHERE {condition}"
    found = sliced(url, agent, agent.replace("COUNT(*)", "2 * COUNT(*)"))
    assert "anna" not in found.statements[0].lower()


def test_a_failure_that_needs_personal_values_has_no_slice(tmp_path):
    """Rather none than one with a person's values in it."""
    url = shop.make_sqlite(tmp_path / "shop.db")
    agent = "SELECT SUM(LENGTH(full_name)) FROM customers"
    reference = "SELECT SUM(LENGTH(full_name)) FROM customers WHERE SUBSTR(full_name, 3, 1) <> 'n'"
    with pytest.raises(SliceError, match="goes away when personal values are replaced"):
        sliced(url, agent, reference)
    assert sliced(url, agent, reference, keep_values=True).row_count == 2


def test_texts_inside_json_go_too(tmp_path):
    """Its keys and numbers stay."""
    import duckdb

    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, body JSON, raw BLOB)")
        database.execute(
            """INSERT INTO events VALUES (1, '{"who": "Anna Schmidt", "size": 7}', 'Anna'::BLOB)"""
        )
    agent = "SELECT SUM(CAST(body->>'$.size' AS INTEGER)) FROM events"
    found = sliced(f"duckdb:///{path}", agent, agent.replace("SUM(", "2 * SUM("))
    assert found.rows["events"][0][:2] == (1, '{"who": "body 1", "size": 7}')
    assert "Anna" not in found.script
    assert b"Anna".hex() not in found.script
