"""The real schema of a database: its tables, columns and types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbagenteval.errors import UserError
from dbagenteval.executors import executor_for
from dbagenteval.project.folder.config import Database

__all__ = ["Catalog", "read_catalog"]

_INFORMATION_SCHEMA = """
SELECT table_schema AS table_schema, table_name AS table_name, column_name AS column_name,
       data_type AS data_type
FROM information_schema.columns
WHERE table_schema NOT IN ('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys')
ORDER BY table_schema, table_name, ordinal_position
"""
_SQLITE = """
SELECT 'main' AS table_schema, m.name AS table_name, c.name AS column_name, c.type AS data_type
FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%'
ORDER BY m.name, c.cid
"""
_NUMBERS = ("int", "dec", "num", "real", "double", "float", "serial", "money", "number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Tables with their columns.

    Args:
        tables: Casefolded `schema.table` to columns in order: casefolded name to type in lower
            case, as the database names it.
        spelling: Casefolded `schema.table` to its real spelling.
        has_text_times: The database has no type for times, and keeps them as text (SQLite).
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    spelling: Mapping[str, str] = field(default_factory=dict)
    has_text_times: bool = False

    def is_number(self, table: str, column: str) -> bool:
        """Say whether a column's type is a number."""
        kind = self.tables.get(table, {}).get(column.casefold(), "")
        return kind.startswith(_NUMBERS) or kind in ("tinyint", "smallint", "bigint", "hugeint")

    def is_text(self, table: str, column: str) -> bool:
        """Say whether a column's type is text."""
        kind = self.tables.get(table, {}).get(column.casefold(), "")
        return any(part in kind for part in ("char", "text", "string", "clob"))

    def is_time(self, table: str, column: str) -> bool:
        """Say whether a column's type is a date or timestamp."""
        kind = self.tables.get(table, {}).get(column.casefold(), "")
        return "date" in kind or "time" in kind


def read_catalog(database: Database) -> Catalog:
    """Read the schema of a database.

    Raises:
        UserError: It can't be opened or asked.
    """
    execute = executor_for(database.url)
    try:
        rows = execute(_SQLITE if database.type == "sqlite" else _INFORMATION_SCHEMA)
    except Exception as error:  # drivers share no base class
        raise UserError(f"database {database.name!r}: its schema can't be read: {error}") from error
    tables: dict[str, dict[str, str]] = {}
    spelling: dict[str, str] = {}
    for row in rows:
        name = f"{row['table_schema']}.{row['table_name']}"
        spelling[name.casefold()] = name
        columns = tables.setdefault(name.casefold(), {})
        columns[str(row["column_name"]).casefold()] = str(row["data_type"]).casefold()
    return Catalog(tables=tables, spelling=spelling, has_text_times=database.type == "sqlite")
