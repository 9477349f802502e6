"""A project is checked against the real schema of its database."""

from __future__ import annotations

import pytest

from dbagenteval.project import read_catalog, validate_project
from dbagenteval.project.folder.load import load_project

DATASET = "datasets/sales/dataset.yaml"
POLICY = "policies/policy.yml"
SEMANTICS = "semantics/semantic_model.yml"

DRIFT = {
    "dropped_table": (
        "CREATE TABLE main.payments (",
        "CREATE TABLE main.payments_v2 (",
        DATASET,
        "no-such-table",
        "main.payments_v2",
    ),
    "renamed_join_column": (
        "    order_id INTEGER NOT NULL REFERENCES main.orders (id),",
        "    order_ref INTEGER NOT NULL REFERENCES main.orders (id),",
        DATASET,
        "no-such-column",
        "order_id",
    ),
    "renamed_pii_column": (
        "    email VARCHAR(80) NOT NULL,",
        "    mail VARCHAR(80) NOT NULL,",
        POLICY,
        "no-such-column",
        "email",
    ),
    "renamed_time_column": (
        "    order_date DATE NOT NULL,",
        "    ordered_on DATE NOT NULL,",
        DATASET,
        "no-such-column",
        "order_date",
    ),
    "measure_type": (
        "    status VARCHAR(20) NOT NULL,\n    amount NUMERIC(10, 2) NOT NULL\n",
        "    status VARCHAR(20) NOT NULL,\n    amount VARCHAR(20) NOT NULL\n",
        SEMANTICS,
        "measure-type",
        "net_revenue",
    ),
    "filter_column": (
        "    status VARCHAR(20) NOT NULL,",
        "    state VARCHAR(20) NOT NULL,",
        SEMANTICS,
        "no-such-column",
        "filter column",
    ),
    "dimension_column": (
        "    city VARCHAR(40) NOT NULL,",
        "    town VARCHAR(40) NOT NULL,",
        SEMANTICS,
        "no-such-column",
        "dimension",
    ),
    "time_type": (
        "    order_date DATE NOT NULL,",
        "    order_date VARCHAR(10) NOT NULL,",
        DATASET,
        "time-type",
        "order_date",
    ),
}


@pytest.mark.parametrize("name", DRIFT)
def test_drift_of_the_schema_is_found(folder, name: str) -> None:
    """A dropped or renamed table or column, or a type that no longer fits, is named."""
    old, new, file, rule, words = DRIFT[name]
    sql = (folder.root / "bakery.sql").read_text("utf-8")
    assert old in sql
    schema = sql.replace(old, new, 1).split("INSERT INTO")[0]
    folder.write("bakery.sql", schema)
    folder.make_database()
    catalogs = {"bakery": read_catalog(load_project(folder.root).config.databases[0])}
    found = [item for item in validate_project(folder.root, catalogs=catalogs) if item.rule == rule]
    assert any(item.file == file and words in item.message and item.line > 0 for item in found), (
        found
    )


def test_join_keys_of_different_kinds_are_an_error(folder) -> None:
    """A text key joined with a number key is named."""
    sql = (folder.root / "bakery.sql").read_text("utf-8").split("INSERT INTO")[0]
    folder.write(
        "bakery.sql",
        sql.replace(
            "    customer_id INTEGER NOT NULL REFERENCES main.customers (id),",
            "    customer_id VARCHAR(9) NOT NULL,",
        ),
    )
    folder.make_database()
    catalogs = {"bakery": read_catalog(load_project(folder.root).config.databases[0])}
    files = {
        item.file
        for item in validate_project(folder.root, catalogs=catalogs)
        if item.rule == "join-types"
    }
    assert files == {DATASET, SEMANTICS}


def test_the_schema_of_sqlite_is_read(tmp_path) -> None:
    """SQLite has no information schema; its tables are read all the same."""
    import sqlite3

    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE Orders (Id INTEGER, total NUMERIC(8,2), note TEXT)")
    from dbagenteval.project.folder.config import Database

    catalog = read_catalog(
        Database(name="shop", type="sqlite", settings={"path": "shop.db"}, root=tmp_path)
    )
    assert dict(catalog.tables["main.orders"]) == {
        "id": "integer",
        "total": "numeric(8,2)",
        "note": "text",
    }
    assert catalog.spelling["main.orders"] == "main.Orders"
    assert catalog.is_number("main.orders", "Total")
    assert catalog.is_text("main.orders", "note")
