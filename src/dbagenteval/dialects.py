"""What databases and SQL dialects are called, for rooms that read no SQL themselves."""

from __future__ import annotations

__all__ = ["DIALECTS", "DIALECT_OF", "SOME_DIALECTS", "is_dialect"]

DIALECTS = frozenset(
    {
        "athena",
        "bigquery",
        "clickhouse",
        "databricks",
        "dax",
        "doris",
        "dremio",
        "drill",
        "druid",
        "duckdb",
        "dune",
        "exasol",
        "fabric",
        "hive",
        "materialize",
        "mysql",
        "oracle",
        "postgres",
        "presto",
        "prql",
        "redshift",
        "risingwave",
        "snowflake",
        "solr",
        "spark",
        "spark2",
        "sqlite",
        "starrocks",
        "tableau",
        "teradata",
        "trino",
        "tsql",
    }
)
"""The dialects of sqlglot."""

SOME_DIALECTS = "postgres, mysql, sqlite, duckdb, tsql, oracle, bigquery or snowflake"

DIALECT_OF = {
    "postgresql": "postgres",
    "postgis": "postgres",
    "cockroachdb": "postgres",
    "yugabytedb": "postgres",
    "alloydb": "postgres",
    "timescaledb": "postgres",
    "mariadb": "mysql",
    "tidb": "mysql",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "sql server": "tsql",
    "microsoft.sql_server": "tsql",
    "microsoft sql server": "tsql",
    "azure sql": "tsql",
    "oracle.db": "oracle",
    "oracledb": "oracle",
    "gcp.bigquery": "bigquery",
    "google bigquery": "bigquery",
    "aws.redshift": "redshift",
    "amazon redshift": "redshift",
    "aws.athena": "athena",
    "amazon athena": "athena",
    "apache.spark": "spark",
    "spark sql": "spark",
    "sparksql": "spark",
    "pyspark": "spark",
    "databricks sql": "databricks",
    "prestodb": "presto",
    "sqlite3": "sqlite",
    "motherduck": "duckdb",
    "clickhouse-cloud": "clickhouse",
    "hive2": "hive",
    "teradatasql": "teradata",
}
"""`db.system.name` (semantic conventions 1.30), the older `db.system`, SQLAlchemy's and
everyday names, lower case, where sqlglot's name differs."""


def is_dialect(name: str) -> bool:
    """Tell whether a name is one of a dialect, settings behind a comma aside."""
    plain = name.partition(",")[0].strip().lower()
    return DIALECT_OF.get(plain, plain) in DIALECTS
