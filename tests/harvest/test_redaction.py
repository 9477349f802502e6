"""Names, addresses, numbers of people never leave the store by a harvested case."""

import random

import pytest

from dbagenteval.harvest.personal import named_people, personal_kind, phone_numbers
from dbagenteval.harvest.redact import Redaction

JOIN = "FROM customers c JOIN orders o USING (customer_id)"


def redact(question, sql, rows=(), dialect=None):
    """Redact what belongs to one trace; gives question, SQL and rows."""
    redaction = Redaction(dialect)
    redaction.learn_text(question)
    redaction.learn_sql(sql)
    redaction.learn_rows(list(rows), sql)
    return redaction.text(question), redaction.sql(sql), redaction.rows(list(rows))


def test_one_person_has_one_stand_in_everywhere():
    """In question, literals, comments and rows, in the case in which the name stands."""
    question, sql, rows = redact(
        "What did Anna Schmidt buy? SCHMIDT's orders",
        f"SELECT c.full_name, o.total {JOIN} WHERE lower(c.full_name) LIKE '%schmidt%' -- Anna",
        [{"full_name": "Anna Schmidt", "total": 3}],
    )
    assert question == "What did Name1 Name2 buy? NAME2's orders"
    assert sql == (
        f"SELECT c.full_name, o.total {JOIN} WHERE lower(c.full_name) LIKE '%name2%' -- Name1"
    )
    assert rows == [{"full_name": "Name1 Name2", "total": 3}]


@pytest.mark.parametrize(
    ("question", "sql", "rows", "planted"),
    [
        (
            "How much did Xylo Quastrom spend?",
            "SELECT 1 FROM users WHERE name = 'Xylo Quastrom'",
            [],
            ["xylo", "quastrom"],
        ),
        (
            "And Quastrom?",
            "SELECT u.name AS n FROM users u",
            [{"n": "Xylo Quastrom"}],
            ["xylo", "quastrom"],
        ),
        ("Who?", "SELECT n FROM (SELECT name AS n FROM employees) e", [{"n": "Xylo"}], ["xylo"]),
        (
            "Who?",
            "SELECT MAX(o.total), c.name FROM customers c, orders o",
            [{"column_1": 3, "column_2": "Xylo"}],
            ["xylo"],
        ),
        (
            "Who?",
            "WITH t AS (SELECT name AS n FROM users) SELECT upper(n) FROM t",
            [{"?column?": "XYLO"}],
            ["xylo"],
        ),
        ("Quastrom?", "SELECT 1 FROM t WHERE regexp_like(full_name, 'Quastrom')", [], ["quastrom"]),
        ("Quastrom?", "SELECT 1 FROM t WHERE full_name ~* 'Quastrom' AND x = 1", [], ["quastrom"]),
        ("Xylo?", "SELECT SUM(CASE WHEN full_name = 'Xylo' THEN 1 END) FROM t", [], ["xylo"]),
        ("Who?", "SELECT * FROM patients", [{"name": "Xylo"}], ["xylo"]),
        (
            "And quastrom?",
            "SELECT 1 FROM t WHERE customer_name IN ('Quastrom', 'Zed')",
            [],
            ["quastrom", "zed"],
        ),
        ("Orders of customer Xylo Quastrom", "SELECT 1", [], ["xylo", "quastrom"]),
        ("Umsatz von Frau Quästrom", "SELECT 1", [], ["quästrom"]),
        ("Has Emma Quastrom ordered?", "SELECT 1", [], ["emma", "quastrom"]),
        (
            "Who?",
            "SELECT note FROM tickets",
            [{"note": "asked Emma Quastrom to call"}],
            ["emma", "quastrom"],
        ),
        (
            "Pat O'Brien?",
            "SELECT 1 FROM users WHERE name = 'Pat O''Brien'",
            [],
            ["o'brien", "o''brien"],
        ),
        ("花子?", "SELECT full_name FROM users", [{"full_name": "田中 花子"}], ["田中", "花子"]),
        (
            "Who is x@y.org?",
            "SELECT 1 FROM t WHERE mail = 'x@y.org'",
            [{"m": "X@y.org"}],
            ["x@y.org"],
        ),
        ("Call +49 171 5550199", "SELECT 1 FROM t WHERE a = '+49 171 5550199'", [], ["5550199"]),
        ("Call 0171-555 0199", "SELECT 1", [{"a": "0171-555 0199"}], ["0199"]),
        (
            "Whose phone is 5550199?",
            "SELECT 1 FROM t WHERE phone = 5550199",
            [{"phone": 5550199}],
            ["5550199"],
        ),
        ("(555) 123-4567 or 555-123-4567", "SELECT 1", [], ["4567"]),
        (
            "Card 4111 1111 1111 1111?",
            "SELECT 1 FROM t WHERE c = 4111111111111111",
            [{"c": 4111111111111111}],
            ["1111"],
        ),
        (
            "Who lives there?",
            "SELECT street FROM t WHERE street = 'Quast 5'",
            [{"street": "Quast 5"}],
            ["quast"],
        ),
        (
            "Umsatz von Petra Groß, GROSS?",
            "SELECT 1 FROM t WHERE name = 'Petra Groß'",
            [],
            ["groß", "gross"],
        ),
        (
            "Orders of Quastroms",
            "SELECT 1 FROM users WHERE last_name = 'Quastrom'",
            [],
            ["quastrom"],
        ),
        (
            "Who is İbrahim?",
            "SELECT full_name FROM t",
            [{"full_name": "İbrahim Nguyễn"}],
            ["ibrahim", "İbrahim", "nguy"],
        ),
        (
            "Who is quast42?",
            "SELECT 1 FROM t WHERE username = 'quast42'",
            [{"user_name": "Quast42"}],
            ["quast"],
        ),
        (
            "Why fails https://shop.test/?token=abcdeffedcba&x=1 with password: hunter2?",
            "SELECT id FROM sessions WHERE note = 'api_key=\"qwertzuiop\"'",
            [{"note": "{'secret': 'tiger99'}"}],
            ["abcdef", "hunter2", "qwertz", "tiger"],
        ),
        (
            "Who lives at Quastweg 12? In 10115 Berlin?",
            "SELECT id FROM t WHERE address = 'Quastweg 12, 10115 Berlin'",
            [],
            ["quastweg", "10115"],
        ),
        ("Broken", "SELECT FROM users WHERE full_name = 'Xylo", [], ["xylo"]),
        ("Broken", "SELEC 1 FROM WHERE u.last_name ILIKE '%Quastrom%'", [], ["quastrom"]),
        (
            "Nested",
            "SELECT data FROM t",
            [{"data": {"who": ["Emma Quastrom", {"m": "x@y.org"}]}}],
            ["emma", "quastrom", "x@y"],
        ),
    ],
)
def test_planted_values_are_gone(question, sql, rows, planted):
    """However they are given away."""
    told = repr(redact(question, sql, rows)).casefold()
    assert not [value for value in planted if value in told]


def test_backslashes_end_no_literal_where_the_dialect_escapes_by_them():
    """The literal behind one is still a literal."""
    sql = r"SELECT 1 FROM t WHERE a = 'it\'s' AND customer_name = 'Quastrom'"
    assert redact("", sql, dialect="mysql")[1] == sql.replace("Quastrom", "Name1")


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            "Which store in New York sold most Desk Lamps in March 2026?",
            "SELECT name FROM stores WHERE city = 'New York'",
            [{"name": "Nordwind Berlin"}],
        ),
        (
            "How many orders on 2026-01-31?",
            "SELECT COUNT(*) FROM orders WHERE day = '2026-01-31'",
            [{"count": 12345678}],
        ),
        (
            "Top customers by total",
            "SELECT p.name, SUM(o.total) FROM products p, orders o",
            [{"name": "Lamp", "total": 3.5}],
        ),
        (
            "What is a user ID?",
            "SELECT customer_id FROM customers WHERE customer_id = 'C-17'",
            [{"customer_id": "C-17"}],
        ),
    ],
)
def test_what_is_not_personal_stays(question, sql, rows):
    """Places, products, dates, ids and measures are what the question is about."""
    assert redact(question, sql, rows) == (question, sql, rows)


def test_words_about_secrets_stay():
    """Only what may be one goes."""
    redaction = Redaction()
    text = "The secret: nobody asks. Token count = 5? Passwords: none. Is token = x?"
    redaction.learn_text(text)
    assert redaction.text(text) == text


def test_names_leave_the_names_of_the_query_alone():
    """A person called like a table changes no identifier and no keyword."""
    question, sql, _ = redact(
        "How many orders has customer Max Orders?",
        "SELECT COUNT(*) FROM orders o JOIN users u ON TRUE WHERE u.name = 'Max Orders'",
    )
    assert question == "How many orders has customer Name1 Name2?"
    assert sql == "SELECT COUNT(*) FROM orders o JOIN users u ON TRUE WHERE u.name = 'Name1 Name2'"


def test_a_number_is_the_same_however_it_is_written():
    """A card with and without spaces is one card; it stays a number where it is one."""
    question, sql, rows = redact(
        "Card 4111-1111-1111-1111 and 5500 0000 0000 0004?",
        "SELECT card FROM t WHERE card = 4111111111111111",
        [{"card": 5500000000000004}],
    )
    assert question == "Card 9000000000000001 and 9000000000000002?"
    assert sql == "SELECT card FROM t WHERE card = 9000000000000001"
    assert rows == [{"card": 9000000000000002}]


@pytest.mark.parametrize(
    ("column", "tables", "kind"),
    [
        ("full_name", [], "name"), ("customerName", [], "name"), ("name", ["customers"], "name"),
        ("name", ["products"], None), ("name", [], None), ("customer", [], "name"),
        ("customer_id", [], None), ("customer_count", [], None), ("product_name", ["users"], "name"),
        ("E-Mail", [], "email"), ("contact_email", [], "email"), ("mobile", [], "phone"),
        ("nachname", [], "name"), ("city", [], None), ("iban", [], "card"),
        ("pin", [], "secret"), ("card_cvv", [], "card"),
    ],
)  # fmt: skip
def test_columns_by_name(column, tables, kind):
    """A plain `name` is a person's in a table of people."""
    assert personal_kind(column, tables) == kind


def test_names_in_running_text():
    """By what stands before, or by a given name."""
    text = "Mail Dr. Quastrom and Karl von der Ley, not user ID 3 nor Desk Lamp; Björn's order"
    assert list(named_people(text)) == ["Quastrom", "Karl von der Ley", "Björn"]


def test_phone_numbers_without_a_country_code():
    """Dates, amounts and long ids are none."""
    text = "0171/555 01 99, 555.123.4567, tel. 5550199; 2026-01-31, 1.234.567, 10-12, 123456789"
    assert list(phone_numbers(text)) == ["0171/555 01 99", "555.123.4567", "5550199"]


@pytest.mark.parametrize(
    ("detail", "kept"),
    [
        ("no tenant_id filter on ['orders']", "no tenant_id filter on ['orders']"),
        ("not in the result rows: ['17']", "not in the result rows: ['17']"),
        ("got [{'total': 3}]; the reference gives [{'who': \"Pat O'Brien\"}]", "got [{'total': 3}]; the reference gives [{'…': '…'}]"),
        ("'biggest' names \"Xylo\" (total 3)", "'…' names '…' (total 3)"),
        ("no such column: order_status", "no such column: order_status"),
    ],
)  # fmt: skip
def test_details_of_checks_quote_no_rows(detail, kept):
    """They may speak of rows that nobody has learned from."""
    redaction = Redaction()
    redaction.learn_sql("SELECT total FROM orders WHERE tenant_id = 1")
    assert redaction.detail(detail) == kept


LETTERS = "abcdefghiklmnoprstuvwzäöüéñřłø"
FRAMES = [
    ("What did {name} order?", "SELECT * FROM customers WHERE full_name = '{name}'", "full_name"),
    (
        "orders of {lower}",
        "SELECT c.name FROM clients AS c WHERE upper(c.name) = '{upper}'",
        "name",
    ),
    ("Who is customer {name}", "SELECT id FROM t WHERE id = 7", "id"),
    ("{name}?", "SELECT u.last_name || ', ' || u.first_name AS who FROM users u", "who"),
    ("Total of {last}", "SELECT 1 FROM t WHERE customer_name LIKE '%{last}%' OR x = '{name}", "x"),
]
CONTACTS = ["{first}.{last}@{last}.com", "+49 (171) {digits}", "0171/{digits}", "555-123-{four}"]


@pytest.mark.parametrize("seed", range(200))
def test_random_people_are_gone(seed):
    """Names that no list knows, in any of the ways in which they are given away."""
    draw = random.Random(seed)
    first, last = (
        "".join(draw.choices(LETTERS, k=draw.randint(4, 9))).capitalize() for _ in range(2)
    )
    values = {
        "first": first,
        "last": last,
        "name": f"{first} {last}",
        "lower": f"{first} {last}".lower(),
        "upper": f"{first} {last}".upper(),
        "digits": f"{draw.randrange(10**6, 10**7)}",
        "four": f"{draw.randrange(1000, 10000)}",
    }
    question, sql, column = (part.format(**values) for part in draw.choice(FRAMES))
    contact = draw.choice(CONTACTS).format(**{**values, "first": "x", "last": "quastrom"})
    rows = [{column: values["name"], "note": [contact]}, {column: None, "note": contact}]
    told = repr(redact(f"{question} {contact}", f"{sql} -- {contact}", rows)).casefold()
    for value in (first, last, contact):
        assert value.casefold() not in told
