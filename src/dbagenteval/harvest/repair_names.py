"""Names that the database doesn't have, replaced by the closest that it has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sqlglot import exp

from dbagenteval.rules.query.dialects import base_name
from dbagenteval.slices.schema import Schema, Table
from dbagenteval.slices.tables import base_tables, sides_of

__all__ = ["mend_names"]

_CLOSE = 0.6
"""Likeness of two names from which one may be a misspelling of the other, 1 for equal ones."""


def mend_names(tree: exp.Expr, schema: Schema | None, dialect: str | None) -> list[str]:
    """Replace unknown tables and columns in a statement; gives what was done in words.

    A column is unknown if the tables of its SELECT are all known and none has it. In SQLite an
    unknown name in double quotes is a text.
    """
    if schema is None:
        return []
    said = []
    for node in base_tables(tree):
        if schema.get(node.name) is None:
            name = _closest(node.name, [table.name for table in schema])
            if name is not None:
                said.append(f"there is no table {node.name}; read as {name}")
                if not node.alias:  # columns may be qualified by the old name
                    node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
                node.set("this", exp.to_identifier(name))
    for select in tree.find_all(exp.Select):
        said += _mend_columns(select, schema, may_be_text=base_name(dialect) == "sqlite")
    return list(dict.fromkeys(said))


def _mend_columns(select: exp.Select, schema: Schema, *, may_be_text: bool) -> list[str]:
    sources: dict[str, Table | None] = {}
    for side in sides_of(select):
        name = side.this.name if isinstance(side.this, exp.Table) else ""
        sources[side.this.alias_or_name.lower()] = schema.get(name)
    if not sources or select.find_ancestor(exp.Select) is not None:
        return []  # of a subquery a column may belong to what is around it
    aliases = {item.alias.lower() for item in select.expressions if item.alias}
    said = []
    for column in select.find_all(exp.Column):
        if column.find_ancestor(exp.Select) is not select or not column.name:
            continue
        if may_be_text and column.this.args.get("quoted"):
            continue
        meant = [sources.get(column.table.lower())] if column.table else list(sources.values())
        known = [table for table in meant if table is not None]
        names = [each.name for table in known for each in table.columns]
        is_known = column.name.lower() in {*map(str.lower, names), *aliases}
        if len(known) < len(meant) or is_known:
            continue
        closest = _closest(column.name, names)
        if closest is not None:
            said.append(f"there is no column {column.name}; read as {closest}")
            column.set("this", exp.to_identifier(closest))
    return said


def _closest(name: str, names: Iterable[str]) -> str | None:
    """Give the name with the same words and more or fewer of them, else one spelled alike."""
    words = set(name.lower().split("_"))
    ranked = []
    for each in names:
        of_each = set(each.lower().split("_"))
        shares = words <= of_each or of_each <= words
        likeness = difflib.SequenceMatcher(None, name.lower(), each.lower()).ratio()
        if shares or likeness >= _CLOSE:
            ranked.append((shares, likeness, each))
    return max(ranked)[2] if ranked else None
