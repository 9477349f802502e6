"""Faults that `validate` names beyond those of one changed line of the example."""

from __future__ import annotations

import shutil
from typing import Any

import duckdb

from dbagenteval.project import read_catalog, validate_project
from dbagenteval.project.folder.load import load_project

POLICY = "policies/policy.yml"
DATASET = "datasets/sales/dataset.yaml"
SEMANTICS = "semantics/semantic_model.yml"


def _found(folder: Any, rule: str, **options: Any) -> list[Any]:
    return [item for item in validate_project(folder.root, **options) if item.rule == rule]


def test_a_bundle_without_tables(folder) -> None:
    """A scope in which nothing lies is told."""
    folder.write(
        "datasets/blank/dataset.yaml",
        "bundle_id: blank\nwarehouse: {type: duckdb, database_id: bakery}\ntables: []\n",
    )
    found = _found(folder, "no-tables")
    assert [(item.level, item.file, item.line) for item in found] == [
        ("warning", "datasets/blank/dataset.yaml", 3)
    ]


def test_a_table_twice(folder) -> None:
    """A bundle that lists a table twice is told, also with other capitals."""
    line = folder.replace(
        DATASET,
        "  - {schema: main, table: orders}\n",
        "  - {schema: main, table: orders}\n  - {schema: main, table: Orders}\n",
    )
    assert [(item.file, item.line) for item in _found(folder, "duplicate-table")] == [
        (DATASET, line + 1)
    ]


def test_a_mask_without_columns(folder) -> None:
    """Mode `mask` with nothing to mask is told."""
    folder.replace(POLICY, "mode: block", "mode: mask")
    assert _found(folder, "nothing-to-mask") == []
    folder.replace(POLICY, "    main.customers: [first_name, last_name, email]\n", "    {}\n")
    assert len(_found(folder, "nothing-to-mask")) == 1


def test_protected_columns_as_keys(folder) -> None:
    """A primary key, a time or a join over a protected column is told."""
    folder.replace(POLICY, "[first_name, last_name, email]", "[email, id]")
    found = _found(folder, "pii-key")
    assert found
    assert all("'id'" in item.message and item.file == SEMANTICS for item in found)
    text = (folder.root / POLICY).read_text("utf-8")
    (folder.root / POLICY).write_text(
        text.replace("main.customers: [email, id]", "main.orders: [customer_id]"), "utf-8"
    )
    assert ["customer_id" in item.message for item in _found(folder, "pii-join")] == [True]


def _catalogs(folder: Any, *statements: str) -> dict[str, Any]:
    with duckdb.connect(str(folder.root / "bakery.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    return {"bakery": read_catalog(load_project(folder.root).config.databases[0])}


def test_a_primary_key_that_is_not_in_the_database(folder) -> None:
    """A model's primary key is held against the real schema, and its table too."""
    catalogs = _catalogs(folder, "CREATE TABLE main.customers (no INTEGER, city VARCHAR)")
    missing = [item.message for item in _found(folder, "no-such-column", catalogs=catalogs)]
    assert any("primary key 'id'" in message.replace("_", " ") for message in missing), missing
    tables = [item.message for item in _found(folder, "no-such-table", catalogs=catalogs)]
    assert any("main.orders" in message for message in tables)


def test_a_filter_value_of_another_type(folder) -> None:
    """A measure's filter that compares a number with a text is told."""
    folder.make_database()
    folder.replace(SEMANTICS, "column: status, operator: ne", "column: customer_id, operator: ne")
    catalogs = {"bakery": read_catalog(load_project(folder.root).config.databases[0])}
    found = _found(folder, "filter-type", catalogs=catalogs)
    assert [item.file for item in found] == [SEMANTICS]
    assert "'returned'" in found[0].message


def test_a_role_for_a_column_that_is_open(folder) -> None:
    """A role that may read what nobody is kept from is told."""
    text = (folder.root / POLICY).read_text("utf-8")
    roles = "roles:\n  support: {pii_columns: {main.customers: [email, city]}}\n"
    (folder.root / POLICY).write_text(text + roles, "utf-8")
    found = _found(folder, "role-not-pii")
    assert len(found) == 1
    assert "city of main.customers, which is no PII column" in found[0].message


def test_a_bundle_is_required_and_there_is_none(folder) -> None:
    """A policy that requires a bundle in a project without one refuses everything: an error."""
    shutil.rmtree(folder.root / "datasets")
    assert [item.level for item in _found(folder, "no-bundle-to-require")] == ["error"]
