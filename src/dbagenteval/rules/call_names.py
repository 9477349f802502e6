"""Function calls of a statement, and what the rules know of the functions."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbagenteval.rules.sql import Sql

__all__ = ["call_name", "is_row_maker", "unseen_reads"]

_ROW_MAKERS = frozenset(
    [
        "unnest",
        "explode",
        "explode_outer",
        "posexplode",
        "posexplode_outer",
        "inline",
        "inline_outer",
        "stack",
        "flatten",
        "generate_series",
        "exploding_generate_series",
        "generate_subscripts",
        "generate_array",
        "generate_date_array",
        "generate_timestamp_array",
        "range",
        "sequence",
        "json_each",
        "json_tree",
        "jsonb_each",
        "json_each_text",
        "jsonb_each_text",
        "json_array_elements",
        "json_array_elements_text",
        "jsonb_array_elements",
        "jsonb_array_elements_text",
        "json_object_keys",
        "jsonb_object_keys",
        "json_table",
        "openjson",
        "string_split",
        "string_to_table",
        "regexp_split_to_table",
        "regexp_matches",
        "split_to_table",
        "strtok_split_to_table",
        "xmltable",
        "json_to_recordset",
        "jsonb_to_recordset",
        "json_to_record",
        "jsonb_to_record",
        "json_populate_record",
        "json_populate_recordset",
        "jsonb_populate_record",
        "jsonb_populate_recordset",
        "table_from_rows",
        "generator",
        "numbers",
        "numbers_mt",
        "zeros",
        "values",
        "array_join",
        "repeat_row",
        "arrayjoin",
        "series",
        "pragma_table_info",
        "pragma_table_xinfo",
        "pragma_index_list",
        "pragma_index_info",
        "pragma_foreign_key_list",
        "pragma_database_list",
        "pragma_function_list",
        "pragma_collation_list",
        "pragma_table_list",
        "pragma_index_xinfo",
        "lateral_flatten",
        "json_tuple",
    ]
)

_READERS = frozenset(
    [
        "query",
        "query_table",
        "query_to_xml",
        "query_to_xmlschema",
        "query_to_xml_and_xmlschema",
        "table_to_xml",
        "table_to_xmlschema",
        "table_to_xml_and_xmlschema",
        "schema_to_xml",
        "schema_to_xmlschema",
        "schema_to_xml_and_xmlschema",
        "database_to_xml",
        "database_to_xmlschema",
        "database_to_xml_and_xmlschema",
        "cursor_to_xml",
        "cursor_to_xmlschema",
        "dblink",
        "dblink_exec",
        "dblink_fetch",
        "dblink_open",
        "dblink_send_query",
        "dblink_get_result",
        "ts_stat",
        "ts_rewrite",
        "crosstab",
        "crosstab2",
        "crosstab3",
        "crosstab4",
        "crosstabn",
        "connectby",
        "xpath_table",
        "pg_read_file",
        "openquery",
        "openrowset",
        "opendatasource",
        "external_query",
        "dictget",
        "dictgetordefault",
        "dictgetornull",
        "dicthas",
        "dictgethierarchy",
        "dictgetchildren",
        "joinget",
        "joingetornull",
        "remote",
        "remotesecure",
        "cluster",
        "clusterallreplicas",
        "merge",
        "mysql",
        "postgresql",
        "mongodb",
        "redis",
        "sqlite",
        "odbc",
        "jdbc",
        "executable",
        "file",
        "url",
        "s3",
        "hdfs",
        "input",
        "loop",
        "viewifpermitted",
        "read_csv",
        "read_csv_auto",
        "read_parquet",
        "parquet_scan",
        "read_json",
        "read_json_auto",
        "read_json_objects",
        "read_ndjson",
        "read_ndjson_auto",
        "read_ndjson_objects",
        "read_text",
        "read_blob",
        "read_xlsx",
        "sniff_csv",
        "glob",
        "sqlite_scan",
        "sqlite_query",
        "postgres_scan",
        "postgres_query",
        "postgres_scan_pushdown",
        "mysql_scan",
        "mysql_query",
        "iceberg_scan",
        "delta_scan",
        "duckdb_scan",
        "arrow_scan",
        "arrow_scan_dumb",
        "pandas_scan",
        "seq_scan",
        "result_scan",
        "vector_search",
        "table_changes",
        "read_files",
        "read_kafka",
        "read_kinesis",
        "cloud_files",
        "identifier",
        "dbms_xmlgen.getxml",
        "dbms_xmlgen.getxmltype",
        "dbms_xmlquery.getxml",
        "xmltype",
        "sys_dburigen",
        "load_file",
        "bfilename",
        "lo_get",
        "loread",
        "fts5vocab",
        "dbstat",
        "sqlite_dbpage",
    ]
)


def call_name(node: exp.Expr) -> str:
    """Give a function's name as written where the tree keeps it, else the parser's name for it."""
    inner = node
    while isinstance(inner, (exp.Table, exp.Lateral)) and isinstance(inner.this, exp.Expr):
        inner = inner.this
    if isinstance(inner, (exp.Anonymous, exp.AnonymousAggFunc)):
        return inner.name
    if isinstance(inner, exp.Func):
        return inner.sql_name().lower()
    return ""


def is_row_maker(node: exp.Expr, sql: Sql) -> bool:
    """True if a table function only makes rows from its arguments, or tells of the schema."""
    del sql
    name = call_name(node).casefold()
    return not name or name in _ROW_MAKERS


def unseen_reads(sql: Sql, allowed: Collection[str] = ()) -> str | None:
    """Name a function that reads tables or other data by a text, so that no rule sees which."""
    for node in sql.find(exp.Func):
        names = {call_name(node).casefold()}
        if isinstance(node.parent, exp.Dot):
            names.add(node.parent.sql().split("(", 1)[0].casefold())
        found = sorted((names & _READERS) - set(allowed))
        if found:
            return f"calls {found[0]}(), whose reads the rule can't see"
    for source in (*sql.find(exp.Table), *sql.find(exp.Lateral)):
        name = call_name(source)
        if name and not is_row_maker(source, sql) and name.casefold() not in allowed:
            return f"reads from {name}(), whose rows the rule can't see"
    return None
