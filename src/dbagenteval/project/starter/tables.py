"""What names and types tell of the tables of a database."""

# ruff: noqa: S608 every name in a query goes through quoted_name
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dbagenteval.project.folder.catalog import Catalog

__all__ = [
    "KEY_NAME",
    "Execute",
    "Table",
    "dimensions_of",
    "find_tables",
    "first_and_last_day",
    "main_table",
    "measures_of",
    "quoted_name",
    "source_of",
    "spelled",
]

_PII = re.compile(
    r"(^|_)(e?_?mail|phone|mobile|fax|first_?name|last_?name|full_?name|surname|given_?name|"
    r"birth(_?(date|day|year))?|dob|ssn|passport|iban|card_?(number|no)|address(_line_?\d)?|street|"
    r"zip(_?code)?|postal_?code|post_?code|ip(_address)?|password|tax_id|national_id|salary|"
    r"latitude|longitude)(_|$)",
    re.IGNORECASE,
)

_TIME_NAME = re.compile(r"(?:^|_)(?:at|on|date|day|time|timestamp|datetime)$|date$", re.IGNORECASE)
_PERSON_TABLE = re.compile(r"customer|user|person|people|employee|patient|contact|member|client")
KEY_NAME = re.compile(r"(^id$|_id$|_key$|_no$|_code$|number$|year$)", re.IGNORECASE)
_MOST_TABLES = 60
Execute = Callable[[str], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the drafts see it.

    Args:
        key: `schema.table`, lower case.
        schema: As the database spells it.
        name: As the database spells it.
        columns: Name to type.
        pii: Columns that may be personal data, by their names.
        time: The column of its time, or None.
        links: Column to the key of the table whose `id` it holds.
    """

    key: str
    schema: str
    name: str
    columns: dict[str, str]
    pii: tuple[str, ...]
    time: str | None
    links: dict[str, str]

    @property
    def is_fact(self) -> bool:
        """True if it has a time and points to another table."""
        return self.time is not None and bool(self.links)


def find_tables(catalog: Catalog, execute: Execute, quotes: str) -> list[Table]:
    """Give the tables with their PII candidates, time and links."""
    names = {key.split(".", 1)[1]: key for key in catalog.tables}
    found = []
    for key, columns in list(catalog.tables.items())[:_MOST_TABLES]:
        schema, name = catalog.spelling[key].split(".", 1)
        person = _PERSON_TABLE.search(name.casefold()) is not None
        pii = tuple(
            column for column in columns if _PII.search(column) or (person and column == "name")
        )
        times = [column for column in columns if catalog.is_time(key, column)]
        links = {}
        for column in columns:
            target = _target(column, key, names, catalog)
            if target is not None:
                links[column] = target
        time = next((item for item in times if item not in pii), None)
        table = Table(key, schema, name, dict(columns), pii, time, links)
        if time is None and catalog.has_text_times:
            table = replace(table, time=_text_time(table, catalog, execute, quotes))
        found.append(table)
    return found


def _text_time(table: Table, catalog: Catalog, execute: Execute, quotes: str) -> str | None:
    """Give the column that is named like a time and holds texts like `2024-01-31`."""
    for column in table.columns:
        if column in table.pii or not catalog.is_text(table.key, column):
            continue
        if _TIME_NAME.search(column):
            days = first_and_last_day([replace(table, time=column)], execute, quotes)
            if days is not None:
                return column
    return None


def _target(column: str, key: str, names: Mapping[str, str], catalog: Catalog) -> str | None:
    """Give the table that `customer_id` points to, if it has an `id` of the same kind."""
    match = re.fullmatch(r"(\w+)_id", column)
    if match is None:
        return None
    stem = match.group(1)
    for name in (stem, f"{stem}s", f"{stem}es", re.sub(r"y$", "ies", stem)):
        other = names.get(name)
        if other and other != key and "id" in catalog.tables[other]:
            same = catalog.is_number(key, column) == catalog.is_number(other, "id")
            return other if same else None
    return None


def first_and_last_day(
    tables: list[Table], execute: Execute, quotes: str
) -> tuple[str, str] | None:
    """Give the first and last day of all fact tables' times."""
    seen: list[str] = []
    for table in tables:
        if not table.is_fact:
            continue
        column = quoted_name(table.time or "", quotes)
        sql = f"SELECT MIN({column}) AS a, MAX({column}) AS b FROM {source_of(table, quotes)}"
        try:
            row = execute(sql)[0]
        except Exception:  # noqa: BLE001, S112 a view that can't be read gives no days
            continue
        seen += [str(value)[:10] for value in row.values() if value is not None]
    dates = sorted(text for text in seen if re.fullmatch(r"\d{4}-\d\d-\d\d", text))
    return (dates[0], dates[-1]) if dates else None


def main_table(tables: list[Table]) -> Table:
    """Give the table that tests are about: a fact table with a measure if there is one."""
    return max(tables, key=lambda table: (table.is_fact, bool(measures_of(table)), -len(table.key)))


def measures_of(table: Table) -> list[str]:
    """Give the columns that can be added up."""
    catalog = Catalog(tables={table.key: table.columns})
    return [
        column
        for column in table.columns
        if catalog.is_number(table.key, column)
        and not KEY_NAME.search(column)
        and column not in table.pii
    ]


def dimensions_of(table: Table) -> list[str]:
    """Give the columns that can be grouped by and shown."""
    return [
        column
        for column in table.columns
        if column not in table.pii and column not in measures_of(table)
    ]


def spelled(table: Table) -> str:
    """Give `schema.table` as the database spells it."""
    return f"{table.schema}.{table.name}"


def source_of(table: Table, quotes: str) -> str:
    """Give `schema.table` as SQL, quoted where that is needed."""
    return f"{quoted_name(table.schema, quotes)}.{quoted_name(table.name, quotes)}"


def quoted_name(name: str, quotes: str) -> str:
    """Quote a name where it needs it."""
    if re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        return name
    return quotes[0] + name.replace(quotes[1], quotes[1] * 2) + quotes[1]
