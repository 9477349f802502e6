"""The words that values of several files are limited to."""

from __future__ import annotations

__all__ = [
    "COMPARISON_NAMES",
    "DATABASE_TYPES",
    "EXPECTED_OUTCOMES",
    "JOIN_TYPES",
    "LEVELS",
    "MEASURE_TYPES",
    "OPERATORS",
    "OUTCOMES",
    "TOOLS",
]

DATABASE_TYPES = (
    "bigquery",
    "databricks",
    "duckdb",
    "mssql",
    "mysql",
    "postgres",
    "redshift",
    "snowflake",
    "sqlite",
)

JOIN_TYPES = ("many_to_one", "one_to_many", "one_to_one", "many_to_many")
MEASURE_TYPES = ("count", "sum", "avg", "min", "max", "count_distinct")
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in")

LEVELS = ("certified", "candidate", "experimental")
"""From the best to the least certified."""

TOOLS = ("execute_sql", "query_metrics")
OUTCOMES = ("allow", "block", "needs_clarification")
EXPECTED_OUTCOMES = ("answer", "refuse", "clarify", "unavailable")
COMPARISON_NAMES = ("exact", "dazense")
