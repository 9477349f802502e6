"""Database client spans, in the old and the stable names.

Pinned: semantic conventions 1.11.0 (old) and 1.25.0 (stable).
Source: https://opentelemetry.io/docs/specs/semconv/database/database-spans/
"""

from __future__ import annotations

from dbagenteval.otlp import Attributes
from dbagenteval.traces.conventions.convention import DB, Convention
from dbagenteval.traces.tree import Node

__all__ = ["DATABASE", "dialect_of", "sql_of"]

QUERY_TEXT = "db.query.text"
STATEMENT = "db.statement"
SYSTEM_NAME = "db.system.name"
SYSTEM = "db.system"

# What sqlglot calls the database; a name that is not here is one that sqlglot doesn't know.
_DIALECTS = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "postgres": "postgres",
    "cockroachdb": "postgres",
    "edb": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "tidb": "mysql",
    "mssql": "tsql",
    "microsoft.sql_server": "tsql",
    "azure.sql": "tsql",
    "oracle": "oracle",
    "oracle.db": "oracle",
    "duckdb": "duckdb",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "gcp.bigquery": "bigquery",
    "redshift": "redshift",
    "aws.redshift": "redshift",
    "athena": "athena",
    "aws.athena": "athena",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "spark": "spark",
    "hive": "hive",
    "trino": "trino",
    "presto": "presto",
    "teradata": "teradata",
    "exasol": "exasol",
    "druid": "druid",
}


def sql_of(attributes: Attributes) -> str | None:
    """Give the statement of a database span, or None."""
    sql = attributes.get(QUERY_TEXT) or attributes.get(STATEMENT)
    return sql if isinstance(sql, str) else None


def dialect_of(attributes: Attributes) -> str | None:
    """Give sqlglot's name of the database that a span names, or None."""
    system = attributes.get(SYSTEM_NAME) or attributes.get(SYSTEM)
    return _DIALECTS.get(system.lower()) if isinstance(system, str) else None


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return QUERY_TEXT in attributes or STATEMENT in attributes


def _role(node: Node) -> str | None:
    return DB if sql_of(node.span.attributes) else None


DATABASE = Convention(
    name="OpenTelemetry database",
    pinned="semantic conventions 1.11.0 and 1.25.0",
    source="https://opentelemetry.io/docs/specs/semconv/database/database-spans/",
    applies=_applies,
    role=_role,
)
