"""Semantic models, business rules and RULES.md against the bundles and the policy."""

from __future__ import annotations

import re

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.model import Policy, Project, SemanticModel
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean
from dbagenteval.project.folder.translate import texts

__all__ = ["check_models", "check_prose", "check_rules"]

_SEMANTICS = "semantics/semantic_model.yml"
_RULES = "semantics/business_rules.yml"


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


def check_rules(project: Project) -> list[Problem]:
    """Check that each business rule's targets exist, and that guidance keeps to the policy."""
    node = project.nodes.get(_RULES)
    if node is None:
        return []
    problems = Problems(_RULES)
    known = _rule_targets(project)
    data = node.at("rules")
    for index, item in enumerate((data.items or []) if data else []):
        rule = item.data()
        if not isinstance(rule, dict):
            continue
        for target in texts(rule.get("applies_to")):
            if known and target.casefold() not in known:
                problems.warn(
                    "rule-target",
                    node.line_of("rules", index, "applies_to"),
                    f"rule {rule.get('name')!r} applies to {target!r}, which is no table, column "
                    "or measure of the project" + did_you_mean(target, sorted(known)),
                )
        line = node.line_of("rules", index, "guidance")
        _check_words(str(rule.get("guidance") or ""), line, project, problems)
    return problems.found


def _rule_targets(project: Project) -> set[str]:
    known: set[str] = set()
    for bundle in project.bundles.values():
        known |= set(bundle.tables) | {table.split(".", 1)[1] for table in bundle.tables}
        known |= {f"{table}.{column}".casefold() for table, column in bundle.time_columns.items()}
    for model in project.models.values():
        table = model.table.casefold()
        columns = [*model.dimensions.values(), *(m.column for m in model.measures.values())]
        columns += [item.column for m in model.measures.values() for item in m.filters]
        names = {name.casefold() for name in columns if name}
        known |= {model.name.casefold(), table, model.key}
        known |= {
            f"{model.name}.{name}".casefold() for name in (*model.measures, *model.dimensions)
        }
        known |= {f"{owner}.{name}" for owner in (table, model.key) for name in names}
    for owner, pii in (project.policy.pii_columns if project.policy else {}).items():
        known |= {f"{prefix}.{c}" for prefix in (owner, owner.split(".")[-1]) for c in pii}
    return known


def check_prose(project: Project) -> list[Problem]:
    """Note where RULES.md names PII columns or tables that no bundle has."""
    path = project.root / "RULES.md"
    if not path.is_file():
        return []
    problems = Problems("RULES.md")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        problems.error("not-utf8", 0, "cannot be read as UTF-8 text")
        return problems.found
    for number, line in enumerate(lines, 1):
        _check_words(line, number, project, problems)
    return problems.found


def _check_words(text: str, line: int, project: Project, problems: Problems) -> None:
    """Note identifiers in prose that contradict the policy or the scope."""
    if re.search(r"\b(never|not|don't|no|without|avoid|exclude|hide|mask)\b", text, re.IGNORECASE):
        return
    scoped = {table for bundle in project.bundles.values() for table in bundle.tables}
    schemas = {table.split(".")[0] for table in scoped}
    for word in re.findall(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b", text):
        parts = word.casefold().split(".")
        if scoped and parts[0] in schemas and ".".join(parts[:2]) not in scoped:
            problems.warn("prose-outside-bundles", line, f"{word} is in no bundle")
    columns = project.policy.pii_columns if project.policy else {}
    marked = {word.casefold() for word in re.findall(r"`([^`]+)`", text)}
    for table, names in columns.items():
        for name in sorted(names):
            spellings = {name, f"{table}.{name}", f"{table.split('.')[-1]}.{name}"}
            if spellings & marked:
                problems.warn(
                    "prose-names-pii",
                    line,
                    f"{name!r} is a PII column of {table}, which the policy protects",
                )
