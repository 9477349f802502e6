"""Tables that are spelled in more than one way."""

from __future__ import annotations

from collections.abc import Iterator

from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.plain import entries_of, listed, mapping
from dbagenteval.project.folder.problems import Problem, Problems

__all__ = ["check_spelling"]


def check_spelling(project: Project) -> list[Problem]:
    """Note a table that is spelled with different capitals in two places."""
    first: dict[str, tuple[str, str]] = {}
    found: list[Problem] = []
    for name, file, line in _spellings(project):
        spelled, where = first.setdefault(name.casefold(), (name, f"{file}:{line}"))
        if spelled != name:
            problems = Problems(file)
            problems.warn("case-differs", line, f"{name} is spelled {spelled} at {where}")
            found += problems.found
    return found


def _spellings(project: Project) -> Iterator[tuple[str, str, int]]:
    for bundle in project.bundles.values():
        node = bundle.node
        if node is None:
            continue
        for index, item in enumerate(listed(mapping(node.data()).get("tables"))):
            table = mapping(item)
            name = f"{table.get('schema')}.{table.get('table')}"
            yield name, bundle.file, node.line_of("tables", index)
        for key in entries_of(node.at("defaults", "time_column_by_table")):
            yield key, bundle.file, node.line_of("defaults", "time_column_by_table", key)
    policy = project.policy.node if project.policy is not None else None
    if policy is not None:
        for key in entries_of(policy.at("pii", "columns")):
            yield key, "policies/policy.yml", policy.line_of("pii", "columns", key)
    semantics = project.nodes.get("semantics/semantic_model.yml")
    if semantics is not None:
        for model in project.models.values():
            line = semantics.line_of("models", model.name, "table")
            yield f"{model.schema}.{model.table}", "semantics/semantic_model.yml", line
