"""A project against the real schema of its databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.model import Bundle, Measure, Project, SemanticModel
from dbagenteval.project.folder.plain import listed, mapping
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["check_catalog"]

_SEMANTICS = "semantics/semantic_model.yml"
_POLICY = "policies/policy.yml"


def check_catalog(project: Project, catalogs: Mapping[str, Catalog]) -> list[Problem]:
    """Check that every table and column that a project names exists and has a fitting type."""
    found: list[Problem] = []
    for bundle in project.bundles.values():
        catalog = catalogs.get(bundle.database_id)
        if catalog is not None and bundle.node is not None:
            found += _check_bundle(bundle, bundle.node, catalog)
    union = _union(catalogs)
    semantics = project.nodes.get(_SEMANTICS)
    if semantics is not None:
        problems = Problems(_SEMANTICS)
        for model in project.models.values():
            _check_model(model, semantics, project, union, problems)
        found += problems.found
    policy = project.policy.node if project.policy is not None else None
    if project.policy is not None and policy is not None:
        problems = Problems(_POLICY)
        for table, columns in project.policy.pii_columns.items():
            written = _written(policy.at("pii", "columns"), table)
            line = policy.line_of("pii", "columns", written)
            if _require_table(union, written, line, problems):
                for column in sorted(columns):
                    _require_column(union, table, column, line, "PII column", problems)
        found += problems.found
    return found


def _union(catalogs: Mapping[str, Catalog]) -> Catalog:
    tables: dict[str, Mapping[str, str]] = {}
    spelling: dict[str, str] = {}
    for catalog in catalogs.values():
        for table, columns in catalog.tables.items():
            tables[table] = {**tables.get(table, {}), **columns}
        spelling.update(catalog.spelling)
    has_text_times = any(catalog.has_text_times for catalog in catalogs.values())
    return Catalog(tables=tables, spelling=spelling, has_text_times=has_text_times)


def _check_bundle(bundle: Bundle, node: Node, catalog: Catalog) -> list[Problem]:
    problems = Problems(bundle.file)
    data = mapping(node.data())
    for index, item in enumerate(listed(data.get("tables"))):
        named = mapping(item)
        name = f"{named.get('schema')}.{named.get('table')}"
        line = node.line_of("tables", index)
        if _require_table(catalog, name, line, problems):
            real = catalog.spelling[name.casefold()]
            if real != name:
                problems.warn("case-differs", line, f"{name} is {real} in the database")
    for index, join in enumerate(bundle.joins):
        line = node.line_of("joins", index)
        sound = [
            table not in catalog.tables
            or _require_column(catalog, table, column, line, "join column", problems)
            for table, column in (join.left, join.right)
        ]
        if all(sound):
            _check_key_types(catalog, join.left, join.right, line, problems)
    for table, column in bundle.time_columns.items():
        written = _written(node.at("defaults", "time_column_by_table"), table)
        line = node.line_of("defaults", "time_column_by_table", written)
        if table in catalog.tables and _require_column(
            catalog, table, column, line, "time column", problems
        ):
            _require_time(catalog, table, column, line, problems)
    return problems.found


def _check_model(
    model: SemanticModel, node: Node, project: Project, catalog: Catalog, problems: Problems
) -> None:
    base = ("models", model.name)
    name = f"{model.schema}.{model.table}"
    if not _require_table(catalog, name, node.line_of(*base, "table"), problems):
        return

    def require(column: str, what: str, *path: str | int) -> bool:
        line = node.line_of(*base, *path)
        return _require_column(catalog, model.key, column, line, what, problems)

    for key, column in model.dimensions.items():
        require(column, f"column of dimension {key!r}", "dimensions", key)
    if model.primary_key:
        require(model.primary_key, "primary_key", "primary_key")
    if model.time_dimension:
        column = model.dimensions.get(model.time_dimension, model.time_dimension)
        if require(column, "time_dimension", "time_dimension"):
            line = node.line_of(*base, "time_dimension")
            _require_time(catalog, model.key, column, line, problems)
    for key, measure in model.measures.items():
        _check_measure(model, key, measure, catalog, node, require, problems)
    _check_joins(model, project, catalog, node, require, problems)


def _check_joins(
    model: SemanticModel,
    project: Project,
    catalog: Catalog,
    node: Node,
    require: Callable[..., bool],
    problems: Problems,
) -> None:
    for key, join in model.joins.items():
        other = project.models.get(join.to_model)
        if not require(join.foreign_key, "foreign_key", "joins", key) or other is None:
            continue
        line = node.line_of("models", model.name, "joins", key)
        if other.key in catalog.tables and _require_column(
            catalog, other.key, join.related_key, line, "related_key", problems
        ):
            left, right = (model.key, join.foreign_key), (other.key, join.related_key)
            _check_key_types(catalog, left, right, line, problems)


def _check_measure(
    model: SemanticModel,
    key: str,
    measure: Measure,
    catalog: Catalog,
    node: Node,
    require: Callable[..., bool],
    problems: Problems,
) -> None:
    line = node.line_of("models", model.name, "measures", key)
    exists = measure.column is None or require(
        measure.column, f"column of measure {key!r}", "measures", key
    )
    if (
        exists
        and measure.column is not None
        and measure.type in ("sum", "avg")
        and not catalog.is_number(model.key, measure.column)
    ):
        kind = catalog.tables[model.key][measure.column.casefold()]
        problems.error(
            "measure-type",
            line,
            f"measure {model.name}.{key} is a {measure.type} of {measure.column}, which is {kind}",
        )
    for index, item in enumerate(measure.filters):
        path = ("measures", key, "filters", index)
        if not require(item.column, "filter column", *path):
            continue
        values = item.value if isinstance(item.value, list) else [item.value]
        numbers = catalog.is_number(model.key, item.column)
        if numbers and any(isinstance(value, str) and not _numeric(value) for value in values):
            problems.error(
                "filter-type",
                node.line_of("models", model.name, *path),
                f"filter on the number {item.column} compares with text {values[0]!r}",
            )


def _check_key_types(
    catalog: Catalog, left: tuple[str, str], right: tuple[str, str], line: int, problems: Problems
) -> None:
    kinds = []
    for table, column in (left, right):
        if catalog.is_number(table, column):
            kinds.append("number")
        elif catalog.is_text(table, column):
            kinds.append("text")
    if len(set(kinds)) == 2:
        sides = " and ".join(f"{table}.{column}" for table, column in (left, right))
        problems.error("join-types", line, f"{sides} are joined, but one is text, one a number")


def _require_table(catalog: Catalog, name: str, line: int, problems: Problems) -> bool:
    if name.casefold() in catalog.tables:
        return True
    near = did_you_mean(name, list(catalog.spelling.values()))
    problems.error("no-such-table", line, f"table {name} is not in the database{near}")
    return False


def _require_column(
    catalog: Catalog, table: str, column: str, line: int, what: str, problems: Problems
) -> bool:
    columns = catalog.tables.get(table, {})
    if column.casefold() in columns:
        return True
    near = did_you_mean(column, list(columns)) or f"; it has {', '.join(list(columns)[:20])}"
    problems.error("no-such-column", line, f"{what} {column!r} is not in {table}{near}")
    return False


def _require_time(catalog: Catalog, table: str, column: str, line: int, problems: Problems) -> None:
    is_text_time = catalog.has_text_times and catalog.is_text(table, column)
    if not is_text_time and not catalog.is_time(table, column):
        kind = catalog.tables[table][column.casefold()]
        problems.warn("time-type", line, f"time column {table}.{column} is {kind}, not a date")


def _written(node: Node | None, table: str) -> str:
    names = (node.entries or {}) if node is not None else {}
    return next((name for name in names if name.casefold() == table), table)


def _numeric(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
