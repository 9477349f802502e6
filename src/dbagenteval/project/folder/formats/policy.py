"""The shape of `policies/policy.yml`."""

from __future__ import annotations

from dbagenteval.project.folder.formats.choices import LEVELS, TOOLS
from dbagenteval.project.folder.shapes import (
    FLAG,
    TEXT,
    TEXTS,
    AnyValue,
    Choice,
    ListOf,
    MapOf,
    Record,
    Whole,
)

__all__ = ["POLICY"]

POLICY = Record(
    {
        "version": AnyValue(),
        "defaults": Record(
            {
                "max_rows": Whole(1),
                "max_preview_rows": Whole(1),
                "require_limit_for_raw_rows": FLAG,
                "require_time_filter_for_fact_tables": FLAG,
                "time_filter_max_days_default": Whole(1),
            }
        ),
        "pii": Record(
            {
                "mode": Choice(("block", "mask")),
                "tags": TEXTS,
                "columns": MapOf(TEXTS),
                "allow_aggregates": ListOf(Choice(("count", "count_distinct"))),
                "mask_with": TEXT,
            },
            nullable=("columns", "tags"),
        ),
        "certification": Record(
            {
                "prefer": Choice(LEVELS),
                "require_for_execute_sql": FLAG,
                "require_for_query_metrics": FLAG,
            }
        ),
        "joins": Record({"enforce_bundle_allowlist": FLAG, "allow_cross_bundle": FLAG}),
        "execution": Record(
            {
                "allow_execute_sql": FLAG,
                "allow_query_metrics": FLAG,
                "require_contract": FLAG,
                "require_bundle": FLAG,
                "allow_functions": TEXTS,
                "sql_validation": Record(
                    {
                        "mode": Choice(("parse", "compile")),
                        "disallow_multi_statement": FLAG,
                        "enforce_limit": FLAG,
                    }
                ),
            }
        ),
        "roles": MapOf(
            Record(
                {
                    "description": TEXT,
                    "bundles": TEXTS,
                    "tools": ListOf(Choice(TOOLS)),
                    "max_rows": Whole(1),
                    "pii_columns": MapOf(TEXTS),
                }
            )
        ),
    },
    nullable=("defaults", "pii", "certification", "joins", "execution", "roles"),
)
