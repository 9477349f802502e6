"""The shape of each file of a project."""

from __future__ import annotations

from dbagenteval.project.folder.shapes import (
    AnyValue,
    Choice,
    DateValue,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Record,
    Text,
    Whole,
)

__all__ = ["ANSWER_TEST", "BUNDLE", "BUSINESS_RULES", "CONFIG", "GLOSSARY", "POLICY", "SEMANTICS"]

_TEXT = Text()
_FLAG = Flag()
_TEXTS = ListOf(_TEXT)
_TEXT_OR_TEXTS = OneOf(scalar=_TEXT, items=_TEXTS)

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

_TOLERANCE = OneOf(
    scalar=Number(0),
    mapping=Record({"relative": Number(0), "absolute": Number(0)}),
)

# Connection settings differ by driver, and belong to it.
_DATABASE = Record(
    {"name": _TEXT, "type": Choice(DATABASE_TYPES), "include": _TEXTS, "exclude": _TEXTS},
    required=("name", "type"),
    others="allow",
)

_AGENT = Record(
    {
        "url": _TEXT,
        "function": _TEXT,
        "headers": MapOf(AnyValue()),
        "timeout": Number(0),
        "retries": Whole(),
    },
)

_PRICES = MapOf(
    Record(
        {
            "input": Number(0),
            "output": Number(0),
            "cache_read": Number(0),
            "cache_write": Number(0),
        },
        required=("input", "output"),
    )
)

_TEST = Record(
    {
        "models": _TEXT_OR_TEXTS,
        "threads": Whole(1),
        "k": Whole(1),
        "timeout": Number(0),
        "comparison": OneOf(
            scalar=Choice(COMPARISON_NAMES),
            mapping=Record(
                {
                    "mode": Choice(COMPARISON_NAMES),
                    "rtol": Number(0),
                    "atol": Number(0),
                    "decimals": Whole(),
                }
            ),
        ),
        "prices": _PRICES,
        "reference_timeout": Number(0),
        "reference_max_rows": Whole(1),
        "redact": _FLAG,
        "provenance": _FLAG,
    },
)

CONFIG = Record(
    {
        "project_name": _TEXT,
        "databases": ListOf(_DATABASE),
        "agent": _AGENT,
        "test": _TEST,
        "llm": AnyValue(),
        "repos": AnyValue(),
        "notion": AnyValue(),
        "slack": AnyValue(),
        "mcp": AnyValue(),
        "skills": AnyValue(),
        "catalog": AnyValue(),
    },
    required=("project_name",),
    others="warn",
    nullable=("databases", "agent", "test"),
)

_TABLE = Record({"schema": _TEXT, "table": _TEXT}, required=("schema", "table"), others="error")
_JOIN_SIDE = Record(
    {"schema": _TEXT, "table": _TEXT, "column": _TEXT}, required=("schema", "table", "column")
)

_RANGE = ListOf(Number(), minimum=2)
EXPECTED = Record(
    {
        "outcome": Choice(OUTCOMES),
        "check_failed": _TEXT_OR_TEXTS,
        "check_passed": _TEXT_OR_TEXTS,
        "tool": Choice(TOOLS),
        "model_name": _TEXT,
        "measure": _TEXT,
        "result_range": _RANGE,
        "result": Number(),
        "tolerance": Number(0),
        "guidance_rules_include": _TEXT_OR_TEXTS,
    }
)
CASE = Record(
    {
        "id": _TEXT,
        "prompt": _TEXT,
        "category": _TEXT,
        "expected": EXPECTED,
        "sql": _TEXT,
        "roles": _TEXT_OR_TEXTS,
        "today": DateValue(),
        "description": _TEXT,
    },
    required=("id", "prompt", "expected"),
)

BUNDLE = Record(
    {
        "version": AnyValue(),
        "bundle_id": _TEXT,
        "display_name": _TEXT,
        "description": _TEXT,
        "owners": ListOf(Record({"name": _TEXT, "email": _TEXT})),
        "warehouse": Record(
            {"type": _TEXT, "database_id": _TEXT}, required=("type", "database_id")
        ),
        "tables": ListOf(_TABLE),
        "joins": ListOf(
            Record(
                {
                    "left": _JOIN_SIDE,
                    "right": _JOIN_SIDE,
                    "type": Choice(JOIN_TYPES),
                    "description": _TEXT,
                },
                required=("left", "right"),
            )
        ),
        "defaults": Record(
            {
                "time_column_by_table": MapOf(_TEXT),
                "require_time_filter_for_tables": _TEXTS,
                "max_rows": Whole(1),
                "demo_current_date": DateValue(),
                "data_start_date": DateValue(),
            }
        ),
        "certification": Record({"level": Choice(LEVELS)}, others="warn"),
        "use_cases": ListOf(Record({"id": _TEXT, "question_examples": _TEXTS}, others="warn")),
        "eval_test_cases": ListOf(CASE),
    },
    required=("bundle_id", "warehouse"),
    nullable=("tables", "joins", "defaults", "owners", "use_cases", "eval_test_cases"),
)

POLICY = Record(
    {
        "version": AnyValue(),
        "defaults": Record(
            {
                "max_rows": Whole(1),
                "max_preview_rows": Whole(1),
                "require_limit_for_raw_rows": _FLAG,
                "require_time_filter_for_fact_tables": _FLAG,
                "time_filter_max_days_default": Whole(1),
            }
        ),
        "pii": Record(
            {
                "mode": Choice(("block", "mask")),
                "tags": _TEXTS,
                "columns": MapOf(_TEXTS),
                "allow_aggregates": ListOf(Choice(("count", "count_distinct"))),
                "mask_with": _TEXT,
            },
            nullable=("columns", "tags"),
        ),
        "certification": Record(
            {
                "prefer": Choice(LEVELS),
                "require_for_execute_sql": _FLAG,
                "require_for_query_metrics": _FLAG,
            }
        ),
        "joins": Record({"enforce_bundle_allowlist": _FLAG, "allow_cross_bundle": _FLAG}),
        "execution": Record(
            {
                "allow_execute_sql": _FLAG,
                "allow_query_metrics": _FLAG,
                "require_contract": _FLAG,
                "require_bundle": _FLAG,
                "allow_functions": _TEXTS,
                "sql_validation": Record(
                    {
                        "mode": Choice(("parse", "compile")),
                        "disallow_multi_statement": _FLAG,
                        "enforce_limit": _FLAG,
                    }
                ),
            }
        ),
        "roles": MapOf(
            Record(
                {
                    "description": _TEXT,
                    "bundles": _TEXTS,
                    "tools": ListOf(Choice(TOOLS)),
                    "max_rows": Whole(1),
                    "pii_columns": MapOf(_TEXTS),
                }
            )
        ),
    },
    nullable=("defaults", "pii", "certification", "joins", "execution", "roles"),
)

_FILTER = Record(
    {"column": _TEXT, "operator": Choice(OPERATORS), "value": AnyValue()},
    required=("column", "operator", "value"),
)
SEMANTICS = Record(
    {
        "version": AnyValue(),
        "models": MapOf(
            Record(
                {
                    "table": _TEXT,
                    "schema": _TEXT,
                    "database": _TEXT,
                    "description": _TEXT,
                    "primary_key": _TEXT,
                    "time_dimension": _TEXT,
                    "dimensions": MapOf(
                        Record(
                            {"column": _TEXT, "description": _TEXT, "tags": _TEXTS},
                            nullable=("column",),
                        )
                    ),
                    "measures": MapOf(
                        Record(
                            {
                                "type": Choice(MEASURE_TYPES),
                                "column": _TEXT,
                                "description": _TEXT,
                                "filters": ListOf(_FILTER),
                            },
                            required=("type",),
                            nullable=("column", "filters"),
                        )
                    ),
                    "joins": MapOf(
                        Record(
                            {
                                "to_model": _TEXT,
                                "foreign_key": _TEXT,
                                "related_key": _TEXT,
                                "type": Choice(JOIN_TYPES[:3]),
                            },
                            required=("to_model", "foreign_key", "related_key"),
                        )
                    ),
                },
                required=("table",),
                nullable=("dimensions", "measures", "joins", "time_dimension", "primary_key"),
            )
        ),
    },
    required=("models",),
)

_CLASSIFICATION = Record(
    {
        "name": _TEXT,
        "description": _TEXT,
        "condition": _TEXT,
        "columns": _TEXTS,
        "tags": _TEXTS,
        "characteristics": AnyValue(),
    }
)
BUSINESS_RULES = Record(
    {
        "version": AnyValue(),
        "rules": ListOf(
            Record(
                {
                    "name": _TEXT,
                    "category": _TEXT,
                    "severity": Choice(("info", "warning", "critical")),
                    "applies_to": _TEXT_OR_TEXTS,
                    "description": _TEXT,
                    "guidance": _TEXT,
                },
                required=("name",),
            )
        ),
        "classifications": OneOf(items=ListOf(_CLASSIFICATION), mapping=MapOf(_CLASSIFICATION)),
    },
    nullable=("rules", "classifications"),
)

GLOSSARY = Record(
    {
        "version": AnyValue(),
        "terms": ListOf(
            Record(
                {
                    "term": _TEXT,
                    "meanings": ListOf(_TEXT, minimum=1),
                    "settled_by": _TEXTS,
                },
                required=("term", "meanings"),
            )
        ),
    },
    required=("terms",),
)

_ASSERTION = Record(
    {
        "type": Choice(
            (
                "tool_call",
                "no_tool_call",
                "contains",
                "not_contains",
                "matches",
                "max_tokens",
                "max_cost",
                "max_seconds",
                "max_tool_calls",
                "max_bytes",
                "rubric",
                "policy",
                "provenance",
            )
        ),
        "roles": _TEXT_OR_TEXTS,
        "tables": _TEXT_OR_TEXTS,
        "columns": _TEXT_OR_TEXTS,
        "not_tables": _TEXT_OR_TEXTS,
        "tool": _TEXT,
        "args": MapOf(AnyValue()),
        "min_count": Whole(1),
        "text": _TEXT,
        "pattern": _TEXT,
        "value": Number(0),
    },
    required=("type",),
)
ANSWER_TEST = Record(
    {
        "name": _TEXT,
        "prompt": _TEXT,
        "sql": _TEXT_OR_TEXTS,
        "database": _TEXT,
        "tags": _TEXT_OR_TEXTS,
        "tolerance": _TOLERANCE,
        "ordered": _FLAG,
        "expect": OneOf(
            scalar=Choice(EXPECTED_OUTCOMES), items=ListOf(Choice(EXPECTED_OUTCOMES), minimum=1)
        ),
        "comparison": Choice(COMPARISON_NAMES),
        "extra_columns": Choice(("allow", "fail")),
        "assertions": ListOf(_ASSERTION),
        "timeout": Number(0),
        "turns": ListOf(
            OneOf(scalar=_TEXT, mapping=Record({"prompt": _TEXT}, required=("prompt",))), minimum=1
        ),
        "description": _TEXT,
        "owner": _TEXT,
        "category": _TEXT,
        "difficulty": AnyValue(),
        "notes": AnyValue(),
    },
    required=("prompt",),
    nullable=("name", "sql", "database", "tags", "description", "notes", "timeout"),
)
