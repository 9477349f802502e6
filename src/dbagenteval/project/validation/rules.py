"""Business rules and RULES.md against what they name."""

from __future__ import annotations

import re

from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["check_prose", "check_rules"]

_RULES = "semantics/business_rules.yml"


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
