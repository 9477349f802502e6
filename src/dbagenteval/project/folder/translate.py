"""Turn the plain data of a file into the values of `model`, taking what is sound."""

from __future__ import annotations

from typing import Any

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.formats import LEVELS
from dbagenteval.project.folder.model import (
    Bundle,
    GovernanceCase,
    Join,
    Measure,
    MeasureFilter,
    ModelJoin,
    Policy,
    Role,
    SemanticModel,
)
from dbagenteval.project.folder.plain import data_of, date_of, flag, listed, mapping, texts

__all__ = ["bundle_of", "model_of", "policy_of"]


def bundle_of(node: Node, name: str) -> Bundle | None:
    """Read the bundle of `dataset.yaml`; None if it has no id."""
    data = data_of(node)
    bundle_id = data.get("bundle_id")
    if not isinstance(bundle_id, str):
        return None
    defaults = mapping(data.get("defaults"))
    tables = [_table(item) for item in listed(data.get("tables"))]
    max_rows = defaults.get("max_rows")
    level = mapping(data.get("certification")).get("level")
    return Bundle(
        bundle_id=bundle_id,
        database_id=str(mapping(data.get("warehouse")).get("database_id") or ""),
        tables={table.casefold(): table for table in tables if table},
        joins=tuple(join for join in map(_join, listed(data.get("joins"))) if join is not None),
        time_columns={
            table.casefold(): str(column)
            for table, column in mapping(defaults.get("time_column_by_table")).items()
        },
        fact_tables=tuple(
            table.casefold() for table in texts(defaults.get("require_time_filter_for_tables"))
        ),
        max_rows=max_rows if isinstance(max_rows, int) else None,
        today=date_of(defaults.get("demo_current_date")),
        data_start=date_of(defaults.get("data_start_date")),
        level=level if level in LEVELS else LEVELS[-1],
        cases=_cases(node, bundle_id, name),
        file=name,
        node=node,
    )


def _cases(node: Node, bundle_id: str, name: str) -> tuple[GovernanceCase, ...]:
    items = node.at("eval_test_cases")
    found = []
    for item in (items.items or []) if items else []:
        data = item.data()
        if not isinstance(data, dict) or not isinstance(data.get("expected"), dict):
            continue
        if not isinstance(data.get("id"), str) or not isinstance(data.get("prompt"), str):
            continue
        sql = data.get("sql")
        found.append(
            GovernanceCase(
                id=data["id"],
                prompt=data["prompt"],
                category=str(data.get("category") or ""),
                expected=data["expected"],
                bundle_id=bundle_id,
                sql=sql if isinstance(sql, str) else None,
                roles=texts(data.get("roles")),
                today=date_of(data.get("today")),
                file=name,
                line=item.line,
            )
        )
    return tuple(found)


def _join(item: object) -> Join | None:
    data = mapping(item)
    sides = [mapping(data.get(side)) for side in ("left", "right")]
    pairs = [(_table(side), side.get("column")) for side in sides]
    if not all(table and isinstance(column, str) for table, column in pairs):
        return None
    left, right = [(table.casefold(), str(column).casefold()) for table, column in pairs]
    return Join(left=left, right=right, type=str(data.get("type") or ""))


def policy_of(node: Node) -> Policy:
    """Read a policy whose shape was found sound."""
    data = data_of(node)
    defaults, pii = mapping(data.get("defaults")), mapping(data.get("pii"))
    certification, joins = mapping(data.get("certification")), mapping(data.get("joins"))
    execution = mapping(data.get("execution"))
    validation = mapping(execution.get("sql_validation"))
    return Policy(
        max_rows=defaults.get("max_rows", 200),
        require_limit_for_raw_rows=flag(defaults, "require_limit_for_raw_rows", True),
        require_time_filter_for_fact_tables=flag(
            defaults, "require_time_filter_for_fact_tables", True
        ),
        pii_mode=pii.get("mode", "block"),
        pii_columns=_columns(pii.get("columns")),
        pii_tags=frozenset(tag.casefold() for tag in texts(pii.get("tags", ["PII", "Sensitive"]))),
        pii_aggregates=frozenset(texts(pii.get("allow_aggregates"))),
        mask_with=pii.get("mask_with", "***"),
        prefer_level=certification.get("prefer", "certified"),
        require_level_for_sql=flag(certification, "require_for_execute_sql", False),
        require_level_for_metrics=flag(certification, "require_for_query_metrics", False),
        enforce_joins=flag(joins, "enforce_bundle_allowlist", True),
        allow_cross_bundle=flag(joins, "allow_cross_bundle", False),
        allow_sql=flag(execution, "allow_execute_sql", True),
        allow_metrics=flag(execution, "allow_query_metrics", True),
        require_bundle=flag(execution, "require_bundle", False),
        allow_functions=frozenset(
            name.casefold() for name in texts(execution.get("allow_functions"))
        ),
        must_compile=validation.get("mode") == "compile",
        disallow_multi_statement=flag(validation, "disallow_multi_statement", True),
        enforce_limit=flag(validation, "enforce_limit", True),
        roles={name: _role(mapping(item)) for name, item in mapping(data.get("roles")).items()},
        node=node,
    )


def _role(data: dict[str, Any]) -> Role:
    return Role(
        bundles=texts(data["bundles"]) if "bundles" in data else None,
        tools=texts(data["tools"]) if "tools" in data else None,
        max_rows=data.get("max_rows"),
        pii_columns=_columns(data.get("pii_columns")),
    )


def model_of(name: str, data: dict[str, Any]) -> SemanticModel:
    """Read one model of `semantic_model.yml`."""
    dimensions = {
        key: str(mapping(value).get("column") or key)
        for key, value in mapping(data.get("dimensions")).items()
    }
    measures = {
        key: Measure(
            type=value["type"],
            column=value.get("column") if isinstance(value.get("column"), str) else None,
            filters=tuple(
                MeasureFilter(column=item["column"], operator=item["operator"], value=item["value"])
                for item in listed(value.get("filters"))
                if isinstance(item, dict) and {"column", "operator", "value"} <= item.keys()
            ),
            description=str(value.get("description") or ""),
        )
        for key, value in mapping(data.get("measures")).items()
        if isinstance(value, dict) and isinstance(value.get("type"), str)
    }
    joins = {
        key: ModelJoin(
            to_model=value["to_model"],
            foreign_key=value["foreign_key"],
            related_key=value["related_key"],
            type=str(value.get("type") or "many_to_one"),
        )
        for key, value in mapping(data.get("joins")).items()
        if isinstance(value, dict)
        and all(isinstance(value.get(k), str) for k in ("to_model", "foreign_key", "related_key"))
    }
    return SemanticModel(
        name=name,
        schema=str(data.get("schema") or "main"),
        table=data["table"],
        primary_key=data.get("primary_key"),
        time_dimension=data.get("time_dimension"),
        dimensions=dimensions,
        measures=measures,
        joins=joins,
    )


def _columns(value: object) -> dict[str, frozenset[str]]:
    return {
        table.casefold(): frozenset(column.casefold() for column in texts(columns))
        for table, columns in mapping(value).items()
    }


def _table(item: object) -> str:
    data = mapping(item)
    schema, table = data.get("schema"), data.get("table")
    return f"{schema}.{table}" if isinstance(schema, str) and isinstance(table, str) else ""
