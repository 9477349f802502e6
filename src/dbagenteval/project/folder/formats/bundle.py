"""The shape of `datasets/*/dataset.yaml`: a bundle with its governance cases."""

from __future__ import annotations

from dbagenteval.project.folder.formats.choices import JOIN_TYPES, LEVELS, OUTCOMES, TOOLS
from dbagenteval.project.folder.shapes import (
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    AnyValue,
    Choice,
    DateValue,
    ListOf,
    MapOf,
    Number,
    Record,
    Whole,
)

__all__ = ["BUNDLE"]

_TABLE = Record({"schema": TEXT, "table": TEXT}, required=("schema", "table"), others="error")

_JOIN_SIDE = Record(
    {"schema": TEXT, "table": TEXT, "column": TEXT}, required=("schema", "table", "column")
)

_RANGE = ListOf(Number(), minimum=2)

_EXPECTED = Record(
    {
        "outcome": Choice(OUTCOMES),
        "check_failed": TEXT_OR_TEXTS,
        "check_passed": TEXT_OR_TEXTS,
        "tool": Choice(TOOLS),
        "model_name": TEXT,
        "measure": TEXT,
        "result_range": _RANGE,
        "result": Number(),
        "tolerance": Number(0),
        "guidance_rules_include": TEXT_OR_TEXTS,
    }
)

_CASE = Record(
    {
        "id": TEXT,
        "prompt": TEXT,
        "category": TEXT,
        "expected": _EXPECTED,
        "sql": TEXT,
        "roles": TEXT_OR_TEXTS,
        "today": DateValue(),
        "description": TEXT,
    },
    required=("id", "prompt", "expected"),
)

BUNDLE = Record(
    {
        "version": AnyValue(),
        "bundle_id": TEXT,
        "display_name": TEXT,
        "description": TEXT,
        "owners": ListOf(Record({"name": TEXT, "email": TEXT})),
        "warehouse": Record({"type": TEXT, "database_id": TEXT}, required=("type", "database_id")),
        "tables": ListOf(_TABLE),
        "joins": ListOf(
            Record(
                {
                    "left": _JOIN_SIDE,
                    "right": _JOIN_SIDE,
                    "type": Choice(JOIN_TYPES),
                    "description": TEXT,
                },
                required=("left", "right"),
            )
        ),
        "defaults": Record(
            {
                "time_column_by_table": MapOf(TEXT),
                "require_time_filter_for_tables": TEXTS,
                "max_rows": Whole(1),
                "demo_current_date": DateValue(),
                "data_start_date": DateValue(),
            }
        ),
        "certification": Record({"level": Choice(LEVELS)}, others="warn"),
        "use_cases": ListOf(Record({"id": TEXT, "question_examples": TEXTS}, others="warn")),
        "eval_test_cases": ListOf(_CASE),
    },
    required=("bundle_id", "warehouse"),
    nullable=("tables", "joins", "defaults", "owners", "use_cases", "eval_test_cases"),
)
