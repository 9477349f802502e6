"""The shape of the configuration file."""

from __future__ import annotations

from dbagenteval.project.folder.formats.choices import COMPARISON_NAMES, DATABASE_TYPES
from dbagenteval.project.folder.shapes import (
    FLAG,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    AnyValue,
    Choice,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Record,
    Whole,
)

__all__ = ["CONFIG"]

# Connection settings differ by driver, and belong to it.
_DATABASE = Record(
    {"name": TEXT, "type": Choice(DATABASE_TYPES), "include": TEXTS, "exclude": TEXTS},
    required=("name", "type"),
    others="allow",
)

_AGENT = Record(
    {
        "url": TEXT,
        "function": TEXT,
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
        "models": TEXT_OR_TEXTS,
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
        "redact": FLAG,
        "provenance": FLAG,
    },
)

CONFIG = Record(
    {
        "project_name": TEXT,
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
