"""Names that only the database knows."""

import sqlite3

import pytest
import yaml

from dbagenteval.executors import read_only_engine
from dbagenteval.harvest.people import People, read_people
from dbagenteval.slices.reflection import read_schema

PEOPLE = People(
    [
        ("Ottokar Zwiebelfisch",),
        ("Ludwig van der Quast",),
        ("Gwendolyn", "O'Quack", "gwenny77"),
        ("May",),
        ("田中 花子",),
        (None,),
    ]
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("who is ottokar zwiebelfisch?", ["ottokar zwiebelfisch"]),
        ("OTTOKAR  ZWIEBELFISCH's orders", ["OTTOKAR  ZWIEBELFISCH"]),
        ("for ludwig van der quast in May", ["ludwig van der quast"]),
        ("O'Quack, Gwendolyn called", ["O'Quack, Gwendolyn"]),
        ("Gwendolyn O'Quack", ["Gwendolyn O'Quack"]),
        ("Ottokar Zwiebelfischs Bestellungen", ["Ottokar Zwiebelfisch"]),
        ("How many orders in May?", []),
        ("Ottokar and the Zwiebelfisch", []),
        ("顧客「田中 花子」の住んでいる都市は？", ["田中 花子"]),
        ("", []),
    ],
)
def test_full_names_are_found_however_they_are_written(text, names):
    """In any case and order of first and last name; a word alone tells nobody."""
    assert list(PEOPLE.named_in(text)) == names


def test_columns_of_names_are_read(tmp_path):
    """Of full names, first and last ones; what names things names nobody."""
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            'CREATE TABLE "order staff" ("First name" TEXT, last_name TEXT, age INTEGER);'
            "INSERT INTO \"order staff\" VALUES ('Anna', 'Xyst', 9);"
            "CREATE TABLE products (name TEXT); INSERT INTO products VALUES ('Blue Chair');"
            "CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('Bo Lind');"
        )
    database.close()
    url = f"sqlite:///{path}"
    names = [(None, "order staff"), (None, "products"), (None, "customers")]
    schema = read_schema(read_only_engine(url), names)
    people = read_people(schema, url, "sqlite")
    assert list(people.named_in("Anna Xyst, Bo Lind, Blue Chair")) == ["Anna Xyst", "Bo Lind"]


def test_a_name_in_running_text_is_known_from_the_database(shop):
    """In a question without capitals, a note, a comment, and the data."""
    with sqlite3.connect(shop.folder / "shop.db") as database:
        database.execute("ALTER TABLE orders ADD COLUMN remark TEXT")
        database.execute("UPDATE orders SET remark = 'for Bo Lind' WHERE order_id IN (1, 4)")
    database.close()
    sql = "SELECT COUNT(*) AS n, MAX(remark) AS r FROM orders WHERE remark LIKE '%Lind%' -- bo lind"
    shop.turn("orders with a remark on bo lind", sql=sql, rows=[{"n": 2, "r": "for Bo Lind"}])
    shop.ingest()
    options = ["--database", shop.url, "--rules", shop.rules, "--tenant", "tenant_id=1", "--slice"]
    assert shop.harvest(*options) == 0
    (item,) = yaml.safe_load(shop.new)
    assert item["question"] == "orders with a remark on name1 name2"
    assert item["harvested"]["sql"].endswith("LIKE '%Name2%' -- name1 name2")
    assert item["harvested"]["rows"] == [{"n": 2, "r": "for Name1 Name2"}]
    assert item["harvested"]["redacted"] == ["name"]
    script = (shop.folder / item["data"]).read_text()
    assert "'for Name1 Name2'" in script
    assert "lind" not in (script + shop.new).casefold()
