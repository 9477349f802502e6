"""A tenant filter on every table that has the tenant's column."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from dbagenteval.slices.schema import Schema
from dbagenteval.slices.tables import base_tables, conjuncts

__all__ = ["mend_tenant"]


def mend_tenant(tree: exp.Expr, schema: Schema | None, tenant: tuple[str, Any] | None) -> list[str]:
    """Add the filter where it is missing in a statement; gives what was done in words.

    It goes into WHERE, on the optional side of an outer join into ON.
    """
    if tenant is None:
        return []
    column, value = tenant
    said = []
    guarded = {id(node) for node in base_tables(tree) if _has(node, column, schema)}
    for select in tree.find_all(exp.Select):
        from_ = select.args.get("from_")
        joins = select.args.get("joins") or []
        is_alone = not joins
        for side in [from_, *joins]:
            node = None if side is None else side.this
            if id(node) not in guarded or not isinstance(node, exp.Table):
                continue
            if _mend_source(select, side, node, column, value, is_alone=is_alone):
                said.append(f"filter {column} = {exp.convert(value).sql()} on {node.name}")
    return said


def _has(node: exp.Table, column: str, schema: Schema | None) -> bool:
    if schema is None:
        return True
    table = schema.get(node.name)
    names = [each.name.lower() for each in table.columns] if table is not None else []
    return column.lower() in names


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
    where, on = select.args.get("where"), side.args.get("on")
    for condition in (where.this if where else None, on):
        for part in conjuncts(condition):
            if _is_filter(part, column, alias, is_alone=is_alone):
                if part.args["expression"] == wanted.args["expression"]:
                    return False
                part.replace(wanted)
                return True
    joins = select.args.get("joins") or []
    later = joins[joins.index(side) + 1 :] if side in joins else joins
    if any(join.side in ("RIGHT", "FULL") for join in later) or side.args.get("side") == "FULL":
        rows = (
            exp.select("*")
            .from_(exp.Table(this=node.this.copy()))
            .where(exp.EQ(this=exp.column(column), expression=exp.convert(value)))
        )
        node.replace(rows.subquery(alias))
    elif side.args.get("side") == "LEFT" and on is not None:
        side.set("on", exp.and_(*conjuncts(on), wanted))
    else:
        conditions = conjuncts(where.this) if where is not None else []
        select.set("where", exp.Where(this=exp.and_(*conditions, wanted)))
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
