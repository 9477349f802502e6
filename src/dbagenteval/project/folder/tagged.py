"""Columns that the semantic files tag as personal data: protected as if the policy named them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.model import Bundle, Policy, SemanticModel
from dbagenteval.project.folder.plain import data_of, listed, mapping, texts
from dbagenteval.project.folder.problems import Problem, Problems

__all__ = ["protect_tagged", "tagged_names"]

_Named = tuple[str, tuple[str | int, ...]]
"""A column as it is written, and where it stands in its file."""


def protect_tagged(
    policy: Policy,
    semantics: Node | None,
    rules: Node | None,
    rules_file: str,
    bundles: Mapping[str, Bundle],
    models: Mapping[str, SemanticModel],
) -> tuple[Policy, list[Problem]]:
    """Add to the protected columns those that carry one of the policy's `pii.tags`.

    Args:
        policy: As it is written.
        semantics: `semantic_model.yml`, whose dimensions may have `tags`.
        rules: `business_rules.yml`, whose classifications have `tags` and `columns`.
        rules_file: Its path in the project.
        bundles: Their tables may be meant by a name without schema.
        models: The models of `semantics`, which may be meant too.

    Returns:
        The policy to enforce, and a warning for each name that means no known table.
    """
    problems = Problems(rules_file)
    columns = {table: set(names) for table, names in policy.pii_columns.items()}
    for model in models.values():
        for name in _tagged_dimensions(semantics, model, policy):
            columns.setdefault(model.key, set()).add(model.dimensions[name].casefold())
    for written, path in tagged_names(rules, policy):
        found = _meant(written, bundles, models)
        for table, column in found:
            columns.setdefault(table, set()).add(column)
        if not found and rules is not None:
            problems.warn(
                "tagged-column",
                rules.line_of(*path),
                f"{written!r} is tagged as personal data, but means no table of the project",
            )
    protected = {table: frozenset(names) for table, names in columns.items()}
    return replace(policy, pii_columns=protected), problems.found


def tagged_names(rules: Node | None, policy: Policy) -> Iterator[_Named]:
    """Give the columns of every classification that carries one of the policy's tags."""
    written = data_of(rules).get("classifications") if rules is not None else None
    items: list[tuple[str | int, Any]] = (
        list(written.items()) if isinstance(written, dict) else list(enumerate(listed(written)))
    )
    for key, item in items:
        if policy.pii_tags & _folded(mapping(item).get("tags")):
            for column in texts(mapping(item).get("columns")):
                yield column, ("classifications", key, "columns")


def _tagged_dimensions(
    semantics: Node | None, model: SemanticModel, policy: Policy
) -> Iterator[str]:
    if semantics is None:
        return
    written = mapping(mapping(data_of(semantics).get("models")).get(model.name))
    for name, dimension in mapping(written.get("dimensions")).items():
        if policy.pii_tags & _folded(mapping(dimension).get("tags")):
            yield name


def _meant(
    written: str, bundles: Mapping[str, Bundle], models: Mapping[str, SemanticModel]
) -> list[tuple[str, str]]:
    """Give every table and column that a name may mean; rather one too many than one too few.

    A name is `schema.table.column`, `table.column`, `model.dimension` or a column alone.
    """
    owner, _, column = written.casefold().rpartition(".")
    tables = {table for bundle in bundles.values() for table in bundle.tables}
    tables |= {model.key for model in models.values()}
    found = [
        (table, column)
        for table in sorted(tables)
        if not owner or table == owner or table.endswith("." + owner)
    ]
    for model in models.values():
        if not owner or owner == model.name.casefold():
            real = {key.casefold(): name for key, name in model.dimensions.items()}
            found.append((model.key, real.get(column, column).casefold()))
    if not found and owner.count(".") == 1:
        found = [(owner, column)]
    return found


def _folded(value: object) -> frozenset[str]:
    return frozenset(text.casefold() for text in texts(value))
