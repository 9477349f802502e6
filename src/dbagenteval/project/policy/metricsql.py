"""Metric queries of the semantic layer as SQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from dbagenteval.project.folder.model import Measure, MeasureFilter, Project, SemanticModel
from dbagenteval.project.policy.request import MetricQuery

__all__ = ["metric_faults", "metric_sql", "metric_tables"]

_ColumnOf = Callable[[SemanticModel, str], str]
_OPERATORS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_QUOTES = {"bigquery": "``", "databricks": "``", "mysql": "``", "tsql": "[]"}


def metric_faults(query: MetricQuery, project: Project) -> list[str]:
    """Say what of a metric query does not exist."""
    model = project.models.get(query.model)
    if model is None:
        return [f"there is no semantic model {query.model!r}"]
    faults = [
        f"model {query.model!r} has no measure {name!r}"
        for name in query.measures
        if name not in model.measures
    ]
    if not query.measures:
        faults.append("no measure is asked for")
    faults += [
        f"model {query.model!r} has no dimension {name!r}"
        for name in query.dimensions
        if _dimension(name, model, project) is None
    ]
    if (query.start or query.end) and model.time_dimension is None:
        faults.append(f"model {query.model!r} has no time dimension to limit")
    return faults


def metric_tables(query: MetricQuery, project: Project) -> list[str]:
    """Give the table keys that a sound metric query reads."""
    model = project.models[query.model]
    owners = [_dimension(name, model, project) for name in query.dimensions]
    return list(dict.fromkeys((model.key, *(owner[0].key for owner in owners if owner))))


def metric_sql(query: MetricQuery, project: Project, dialect: str) -> str:
    """Write a sound metric query as SQL; its columns are the dimensions, then the measures."""
    model = project.models[query.model]
    quotes = _QUOTES.get(dialect, '""')

    def name_of(text: str) -> str:
        return quotes[0] + text.replace(quotes[1], quotes[1] * 2) + quotes[1]

    def column_of(owner: SemanticModel, column: str) -> str:
        return f"{name_of(owner.name)}.{name_of(column)}"

    shown, grouped, joins = [], [], []
    for name in query.dimensions:
        owner, column, join = _dimension(name, model, project) or (model, name, None)
        grouped.append(column_of(owner, column))
        shown.append(f"{grouped[-1]} AS {name_of(name)}")
        if join is not None:
            step = model.joins[join]
            joins.append(
                f"LEFT JOIN {name_of(owner.schema)}.{name_of(owner.table)} AS "
                f"{name_of(owner.name)} ON {column_of(model, step.foreign_key)} = "
                f"{column_of(owner, step.related_key)}"
            )
    for name in query.measures:
        measure = model.measures[name]
        shown.append(f"{_aggregate(measure, model, column_of)} AS {name_of(name)}")
    conditions = _conditions(query, model, column_of)
    parts = [
        f"SELECT {', '.join(shown)}",
        f"FROM {name_of(model.schema)}.{name_of(model.table)} AS {name_of(model.name)}",
        *dict.fromkeys(joins),
    ]
    if conditions:
        parts.append(f"WHERE {' AND '.join(conditions)}")
    if grouped:
        parts.append(f"GROUP BY {', '.join(grouped)}")
    if query.limit is not None:
        parts.append(f"LIMIT {int(query.limit)}")
    return "\n".join(parts)


def _conditions(query: MetricQuery, model: SemanticModel, column_of: _ColumnOf) -> list[str]:
    conditions = [
        _condition(
            MeasureFilter(
                column=model.dimensions.get(item.column, item.column),
                operator=item.operator,
                value=item.value,
            ),
            model,
            column_of,
        )
        for item in query.filters
    ]
    if model.time_dimension:
        time = column_of(model, model.dimensions.get(model.time_dimension, model.time_dimension))
        if query.start:
            conditions.append(f"{time} >= {_literal(query.start)}")
        if query.end:
            conditions.append(f"{time} < {_literal(query.end + datetime.timedelta(days=1))}")
    return conditions


def _dimension(
    name: str, model: SemanticModel, project: Project
) -> tuple[SemanticModel, str, str | None] | None:
    """Give the model, the column, and the join that leads there (None for the model's own)."""
    if name in model.dimensions:
        return model, model.dimensions[name], None
    join_name, _, rest = name.partition(".")
    join = model.joins.get(join_name)
    other = project.models.get(join.to_model) if join else None
    if other is None or rest not in other.dimensions:
        return None
    return other, other.dimensions[rest], join_name


def _aggregate(measure: Measure, model: SemanticModel, column_of: _ColumnOf) -> str:
    conditions = " AND ".join(_condition(item, model, column_of) for item in measure.filters)
    value = column_of(model, measure.column) if measure.column else "1"
    if conditions:
        value = f"CASE WHEN {conditions} THEN {value} END"
    if measure.type == "count_distinct":
        return f"COUNT(DISTINCT {value})"
    if measure.type == "count" and not measure.column and not conditions:
        return "COUNT(*)"
    return f"{measure.type.upper()}({value})"


def _condition(item: MeasureFilter, model: SemanticModel, column_of: _ColumnOf) -> str:
    column = column_of(model, item.column)
    if item.operator in ("in", "not_in"):
        values = item.value if isinstance(item.value, list) else [item.value]
        listed = ", ".join(_literal(value) for value in values)
        return f"{column} {'NOT IN' if item.operator == 'not_in' else 'IN'} ({listed})"
    if item.value is None:
        return f"{column} IS {'NOT ' if item.operator == 'ne' else ''}NULL"
    return f"{column} {_OPERATORS[item.operator]} {_literal(item.value)}"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.date):
        return f"DATE '{value:%Y-%m-%d}'"
    return "'" + str(value).replace("'", "''") + "'"
