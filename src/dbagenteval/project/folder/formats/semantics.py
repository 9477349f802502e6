"""The shapes of the files below `semantics/`."""

from __future__ import annotations

from dbagenteval.project.folder.formats.choices import JOIN_TYPES, MEASURE_TYPES, OPERATORS
from dbagenteval.project.folder.shapes import (
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    AnyValue,
    Choice,
    ListOf,
    MapOf,
    OneOf,
    Record,
)

__all__ = ["BUSINESS_RULES", "GLOSSARY", "SEMANTICS"]

_FILTER = Record(
    {"column": TEXT, "operator": Choice(OPERATORS), "value": AnyValue()},
    required=("column", "operator", "value"),
)

SEMANTICS = Record(
    {
        "version": AnyValue(),
        "models": MapOf(
            Record(
                {
                    "table": TEXT,
                    "schema": TEXT,
                    "database": TEXT,
                    "description": TEXT,
                    "primary_key": TEXT,
                    "time_dimension": TEXT,
                    "dimensions": MapOf(
                        Record(
                            {"column": TEXT, "description": TEXT, "tags": TEXTS},
                            nullable=("column",),
                        )
                    ),
                    "measures": MapOf(
                        Record(
                            {
                                "type": Choice(MEASURE_TYPES),
                                "column": TEXT,
                                "description": TEXT,
                                "filters": ListOf(_FILTER),
                            },
                            required=("type",),
                            nullable=("column", "filters"),
                        )
                    ),
                    "joins": MapOf(
                        Record(
                            {
                                "to_model": TEXT,
                                "foreign_key": TEXT,
                                "related_key": TEXT,
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
        "name": TEXT,
        "description": TEXT,
        "condition": TEXT,
        "columns": TEXTS,
        "tags": TEXTS,
        "characteristics": AnyValue(),
    }
)

BUSINESS_RULES = Record(
    {
        "version": AnyValue(),
        "rules": ListOf(
            Record(
                {
                    "name": TEXT,
                    "category": TEXT,
                    "severity": Choice(("info", "warning", "critical")),
                    "applies_to": TEXT_OR_TEXTS,
                    "description": TEXT,
                    "guidance": TEXT,
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
                    "term": TEXT,
                    "meanings": ListOf(TEXT, minimum=1),
                    "settled_by": TEXTS,
                },
                required=("term", "meanings"),
            )
        ),
    },
    required=("terms",),
)
