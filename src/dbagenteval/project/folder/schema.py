"""What a project, and its database's catalog if there is one, tell of the schema."""

from __future__ import annotations

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Bundle, Project
from dbagenteval.rules.lineage.facts import Schema

__all__ = ["schema_of"]


def schema_of(project: Project, bundle: Bundle | None, catalog: Catalog | None) -> Schema:
    """Gather tables and columns for reading SQL.

    Args:
        project: The project.
        bundle: Whose database is meant; None takes the only one.
        catalog: The real schema; without it no table's columns count as complete.
    """
    columns: dict[str, dict[str, None]] = {}
    spelling: set[str] = set(bundle.tables.values() if bundle else ())

    def know(table: str, *names: str | None) -> None:
        known = columns.setdefault(table, {})
        known.update({name.casefold(): None for name in names if name})

    for item in project.bundles.values():
        spelling.update(item.tables.values())
        for join in item.joins:
            know(*join.left)
            know(*join.right)
        for table, column in item.time_columns.items():
            know(table, column)
    for model in project.models.values():
        know(model.key, model.primary_key, *model.dimensions.values())
        for measure in model.measures.values():
            know(model.key, measure.column, *(each.column for each in measure.filters))
    for table, names in (project.policy.pii_columns if project.policy else {}).items():
        know(table, *names)
    complete: set[str] = set()
    if catalog is not None:
        for table, real in catalog.tables.items():
            columns[table] = dict.fromkeys(real)
            complete.add(table)
        spelling.update(catalog.spelling.values())
    database = project.database_of(bundle)
    return Schema(
        columns={table: tuple(names) for table, names in columns.items()},
        complete=frozenset(complete),
        spelling=frozenset(spelling),
        default_schema=database.default_schema if database else "",
        catalog=database.catalog if database else "",
    )
