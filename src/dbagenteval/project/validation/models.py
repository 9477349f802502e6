"""Semantic models against the bundles and the policy."""

from __future__ import annotations

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.model import Policy, Project, SemanticModel
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["check_models"]

_SEMANTICS = "semantics/semantic_model.yml"


def check_models(project: Project) -> list[Problem]:
    """Check each semantic model: measures, joins, bundles, and the policy's PII columns."""
    node = project.nodes.get(_SEMANTICS)
    if node is None:
        return []
    problems = Problems(_SEMANTICS)
    scoped = {table for bundle in project.bundles.values() for table in bundle.tables}
    for model in project.models.values():
        line = node.line_of("models", model.name)
        if project.bundles and model.key not in scoped:
            problems.warn(
                "model-outside-bundles",
                node.line_of("models", model.name, "table"),
                f"table {model.schema}.{model.table} of model {model.name!r} is in no bundle",
            )
        if not model.measures:
            problems.warn("no-measures", line, f"model {model.name!r} has no measures")
        for name, measure in model.measures.items():
            if measure.type != "count" and not measure.column:
                problems.error(
                    "measure-without-column",
                    node.line_of("models", model.name, "measures", name),
                    f"measure {model.name}.{name} of type {measure.type} needs a column",
                )
        _check_time_dimension(model, node, problems)
        _check_model_joins(model, project, node, problems)
        if project.policy is not None:
            _check_model_pii(model, project.policy, node, problems)
    return problems.found


def _check_time_dimension(model: SemanticModel, node: Node, problems: Problems) -> None:
    known = {*model.dimensions, *model.dimensions.values()}
    if model.time_dimension and model.dimensions and model.time_dimension not in known:
        problems.warn(
            "unknown-dimension",
            node.line_of("models", model.name, "time_dimension"),
            f"time_dimension {model.time_dimension!r} is no dimension of {model.name!r}"
            + did_you_mean(model.time_dimension, list(model.dimensions)),
        )


def _check_model_joins(
    model: SemanticModel, project: Project, node: Node, problems: Problems
) -> None:
    for name, join in model.joins.items():
        other = project.models.get(join.to_model)
        path = ("models", model.name, "joins", name)
        if other is None:
            problems.error(
                "unknown-model",
                node.line_of(*path, "to_model"),
                f"join {model.name}.{name} goes to the model {join.to_model!r}, which does not "
                "exist" + did_you_mean(join.to_model, list(project.models)),
            )
            continue
        edge = frozenset(
            ((model.key, join.foreign_key.casefold()), (other.key, join.related_key.casefold()))
        )
        for bundle in project.bundles.values():
            both = model.key in bundle.tables and other.key in bundle.tables
            if both and edge not in {allowed.edge for allowed in bundle.joins}:
                problems.warn(
                    "join-not-allowed",
                    node.line_of(*path),
                    f"join {model.name}.{name} is none of the joins that bundle "
                    f"{bundle.bundle_id!r} allows",
                )


def _check_model_pii(model: SemanticModel, policy: Policy, node: Node, problems: Problems) -> None:
    pii = policy.pii_columns.get(model.key, frozenset())
    base = ("models", model.name)
    for name, column in model.dimensions.items():
        if column.casefold() in pii:
            problems.warn(
                "pii-dimension",
                node.line_of(*base, "dimensions", name),
                f"dimension {model.name}.{name} shows the PII column {column!r}",
            )
    for name, measure in model.measures.items():
        used = [measure.column or "", *(item.column for item in measure.filters)]
        shown = [column for column in used if column.casefold() in pii]
        if shown:
            problems.warn(
                "pii-measure",
                node.line_of(*base, "measures", name),
                f"measure {model.name}.{name} reads the PII column {shown[0]!r}",
            )
    for key in ("primary_key", "time_dimension"):
        value = getattr(model, key)
        if value and value.casefold() in pii:
            problems.warn(
                "pii-key",
                node.line_of(*base, key),
                f"{key} of {model.name!r} is the PII column {value!r}",
            )
    for name, join in model.joins.items():
        if join.foreign_key.casefold() in pii:
            problems.warn(
                "pii-join",
                node.line_of(*base, "joins", name),
                f"join {model.name}.{name} uses the PII column {join.foreign_key!r}",
            )
