"""The drafts of the files below `semantics/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbagenteval.project.starter.tables import Table, dimensions_of, main_table, measures_of
from dbagenteval.project.starter.yamltext import yaml_text

__all__ = ["business_rules_file", "semantics_file"]


def semantics_file(tables: list[Table]) -> str:
    """Write `semantic_model.yml`: a model for each table."""
    keys = {table.key: table for table in tables}
    return yaml_text(
        "Measures and dimensions. Give measures the filters of your business rules.",
        {"models": {table.key.replace(".", "_"): _model(table, keys) for table in tables}},
    )


def _model(table: Table, keys: Mapping[str, Table]) -> dict[str, Any]:
    measures: dict[str, Any] = {"row_count": {"type": "count"}}
    measures.update(
        {f"total_{column}": {"type": "sum", "column": column} for column in measures_of(table)[:8]}
    )
    model: dict[str, Any] = {"table": table.name, "schema": table.schema}
    if "id" in table.columns:
        model["primary_key"] = "id"
    if table.time:
        model["time_dimension"] = table.time
    model["dimensions"] = {column: {"column": column} for column in dimensions_of(table)}
    model["measures"] = measures
    joins = {
        column.removesuffix("_id"): {
            "to_model": target.replace(".", "_"),
            "foreign_key": column,
            "related_key": "id",
            "type": "many_to_one",
        }
        for column, target in table.links.items()
        if target in keys
    }
    if joins:
        model["joins"] = joins
    return model


def business_rules_file(tables: list[Table]) -> str:
    """Write `business_rules.yml`: one rule as a pattern."""
    main = main_table(tables)
    measure = next(iter(measures_of(main)), None)
    target = f"{main.key.replace('.', '_')}.{f'total_{measure}' if measure else 'row_count'}"
    return yaml_text(
        "Rules in words, and what they are about.",
        {
            "rules": [
                {
                    "name": "what_counts",
                    "severity": "info",
                    "applies_to": [target],
                    "guidance": "Say here which rows count, such as cancelled or test records.",
                }
            ]
        },
    )
