"""The shape of an answer test below `tests/`."""

from __future__ import annotations

from dbagenteval.project.folder.formats.choices import COMPARISON_NAMES, EXPECTED_OUTCOMES
from dbagenteval.project.folder.shapes import (
    FLAG,
    TEXT,
    TEXT_OR_TEXTS,
    AnyValue,
    Choice,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Record,
    Whole,
)

__all__ = ["ANSWER_TEST"]

_TOLERANCE = OneOf(
    scalar=Number(0),
    mapping=Record({"relative": Number(0), "absolute": Number(0)}),
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
        "roles": TEXT_OR_TEXTS,
        "tables": TEXT_OR_TEXTS,
        "columns": TEXT_OR_TEXTS,
        "not_tables": TEXT_OR_TEXTS,
        "tool": TEXT,
        "args": MapOf(AnyValue()),
        "min_count": Whole(1),
        "text": TEXT,
        "pattern": TEXT,
        "value": Number(0),
    },
    required=("type",),
)

ANSWER_TEST = Record(
    {
        "name": TEXT,
        "prompt": TEXT,
        "sql": TEXT_OR_TEXTS,
        "database": TEXT,
        "tags": TEXT_OR_TEXTS,
        "tolerance": _TOLERANCE,
        "ordered": FLAG,
        "expect": OneOf(
            scalar=Choice(EXPECTED_OUTCOMES), items=ListOf(Choice(EXPECTED_OUTCOMES), minimum=1)
        ),
        "comparison": Choice(COMPARISON_NAMES),
        "extra_columns": Choice(("allow", "fail")),
        "empty_for_null": Choice(("allow", "fail")),
        "assertions": ListOf(_ASSERTION),
        "timeout": Number(0),
        "turns": ListOf(
            OneOf(scalar=TEXT, mapping=Record({"prompt": TEXT}, required=("prompt",))), minimum=1
        ),
        "description": TEXT,
        "owner": TEXT,
        "category": TEXT,
        "difficulty": AnyValue(),
        "notes": AnyValue(),
    },
    required=("prompt",),
    nullable=("name", "sql", "database", "tags", "description", "notes", "timeout"),
)
