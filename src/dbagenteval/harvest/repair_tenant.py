"""A tenant filter on every table that has the tenant's column."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from dbagenteval.slices.schema import Column, Schema
from dbagenteval.slices.tables import (
    base_tables,
    conjuncts,
    rows_of_tenant,
    sides_of,
    tenant_in,
    where_conjuncts,
)

__all__ = ["mend_tenant"]


def mend_tenant(tree: exp.Expr, schema: Schema | None, tenant: tuple[str, Any] | None) -> list[str]:
    """Add the filter where it is missing in a statement; gives what was done in words.

    It goes into WHERE, on the optional side of an outer join into ON.
    """
    if tenant is None:
        return []
    column, value = tenant
    said = []
    guarded = {
        id(node)
        for node in base_tables(tree)
        if schema is None or _column(node, column, schema) is not None
    }
    for select in tree.find_all(exp.Select):
        is_alone = not select.args.get("joins")
        for side in sides_of(select):
            node = side.this
            if id(node) not in guarded or not isinstance(node, exp.Table):
                continue
            own = tenant_in(_column(node, column, schema), value)
            if _mend_source(select, side, node, column, own, is_alone=is_alone):
                said.append(f"filter {column} = {exp.convert(own).sql()} on {node.name}")
    return said


def _column(node: exp.Table, name: str, schema: Schema | None) -> Column | None:
    table = None if schema is None else schema.get(node.name)
    return None if table is None else table.column(name)


def _mend_source(
    select: exp.Select,
    side: exp.Expr,
    node: exp.Table,
    column: str,
    value: Any,
    *,
    is_alone: bool,
) -> bool:
    """Filter one source; False if it is filtered already."""
    alias = node.alias_or_name
    wanted = exp.EQ(
        this=exp.column(column, table=None if is_alone else alias), expression=exp.convert(value)
    )
    on = side.args.get("on")
    for part in (*where_conjuncts(select), *conjuncts(on)):
        if _is_filter(part, column, alias, is_alone=is_alone):
            if part.args["expression"] == wanted.args["expression"]:
                return False
            part.replace(wanted)
            return True
    joins = select.args.get("joins") or []
    later = joins[joins.index(side) + 1 :] if side in joins else joins
    kind = side.args.get("side")
    is_optional = any(join.side in ("RIGHT", "FULL") for join in later)
    # An optional side that is joined by USING has no condition that the filter could join.
    if is_optional or kind == "FULL" or (kind == "LEFT" and on is None):
        node.replace(rows_of_tenant(node, column, value))
    elif kind == "LEFT" and on is not None:
        side.set("on", exp.and_(*conjuncts(on), wanted, copy=False))
    else:
        # Not copied: the subqueries in them are still to be looked at.
        conditions = exp.and_(*where_conjuncts(select), wanted, copy=False)
        select.set("where", exp.Where(this=conditions))
    return True


def _is_filter(part: exp.Expr, column: str, alias: str, *, is_alone: bool) -> bool:
    """Say whether a condition compares the tenant's column of a source with a constant."""
    if not isinstance(part, exp.EQ) or not isinstance(part.left, exp.Column):
        return False
    table = part.left.table.lower()
    return (
        part.left.name.lower() == column.lower()
        and (table == alias.lower() or (is_alone and not table))
        and isinstance(part.right, (exp.Literal, exp.Neg, exp.Cast))
    )
