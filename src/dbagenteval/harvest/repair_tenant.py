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
            own = _typed(value, node, column, schema)
            if _mend_source(select, side, node, column, own, is_alone=is_alone):
                said.append(f"filter {column} = {exp.convert(own).sql()} on {node.name}")
    return said


def _has(node: exp.Table, column: str, schema: Schema | None) -> bool:
    if schema is None:
        return True
    table = schema.get(node.name)
    names = [each.name.lower() for each in table.columns] if table is not None else []
    return column.lower() in names


def _typed(value: Any, node: exp.Table, column: str, schema: Schema | None) -> Any:
    """Give the tenant as the table's column holds it: a text may look like a number."""
    table = None if schema is None else schema.get(node.name)
    columns = () if table is None else table.columns
    is_text = any(each.name.lower() == column.lower() and each.kind == "text" for each in columns)
    return str(value) if is_text else value


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
    kind = side.args.get("side")
    is_optional = any(join.side in ("RIGHT", "FULL") for join in later)
    # An optional side that is joined by USING has no condition that the filter could join.
    if is_optional or kind == "FULL" or (kind == "LEFT" and on is None):
        rows = (
            exp.select("*")
            .from_(exp.Table(this=node.this.copy()))
            .where(exp.EQ(this=exp.column(column), expression=exp.convert(value)))
        )
        node.replace(rows.subquery(alias))
    elif kind == "LEFT" and on is not None:
        side.set("on", exp.and_(*conjuncts(on), wanted, copy=False))
    else:
        conditions = conjuncts(where.this) if where is not None else []
        # Not copied: the subqueries in them are still to be looked at.
        select.set("where", exp.Where(this=exp.and_(*conditions, wanted, copy=False)))
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
