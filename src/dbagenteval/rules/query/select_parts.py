"""The parts of a SELECT that mix rows: groups, aggregates, windows, DISTINCT ON."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbagenteval.rules.query.names import Folding
from dbagenteval.rules.query.queries import unwrap

__all__ = [
    "aggregate_conditions",
    "always_has_row",
    "group_keys",
    "is_aggregated",
    "partitions",
    "shadowed_names",
]

_MIXING_FUNCS = (
    exp.AggFunc,
    exp.Anonymous,
    exp.JSONArrayAgg,
    exp.JSONObjectAgg,
)
"""A function the parser doesn't know may be an aggregate."""


def shadowed_names(node: exp.Expr, fold: Folding) -> frozenset[str]:
    """Give the aliases of the SELECT list that are not names of the column they stand for.

    Where both an alias and a column have a name, databases differ on which of the two HAVING,
    GROUP BY and the like mean.
    """
    found = set()
    for item in node.expressions:
        if isinstance(item, exp.Alias):
            value = unwrap(item.this)
            name = fold.of_column(item.args["alias"])
            if not (isinstance(value, exp.Column) and fold.of_column(value.this) == name):
                found.add(name)
    return frozenset(found)


def _outside_windows(node: exp.Expr) -> Iterator[exp.Expr]:
    """Give the nodes that belong to this SELECT: not in subqueries, not window functions."""
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, exp.Query):
            continue
        if isinstance(part, exp.Window):
            held = part.this
            todo += list(held.iter_expressions()) if held is not None else []
            todo += [child for child in part.iter_expressions() if child is not held]
            continue
        yield part
        todo += list(part.iter_expressions())


def _own_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    yield from node.expressions
    for part in ("having", "qualify", "order"):
        clause = node.args.get(part)
        if clause is not None:
            yield clause


def is_aggregated(node: exp.Expr) -> bool:
    """True if rows are gathered into groups, or into one row."""
    if node.args.get("group") is not None or _has_outer_aggregate(node):
        return True
    return any(
        isinstance(found, _MIXING_FUNCS)
        for part in _own_parts(node)
        for found in _outside_windows(part)
    )


def _has_outer_aggregate(node: exp.Expr) -> bool:
    """True if an aggregate inside a subquery is over this SELECT's columns only.

    It then gathers the rows of this SELECT, not those of the subquery.
    """
    for part in _own_parts(node):
        for query in part.find_all(exp.Select):
            start = query.args.get("from_")
            inside = {
                table.alias_or_name.lower() for table in query.find_all(exp.Table, exp.Subquery)
            }
            for aggregate in query.find_all(exp.AggFunc):
                names = [column.table.lower() for column in aggregate.find_all(exp.Column)]
                if start is None or (names and all(name and name not in inside for name in names)):
                    return True
    return False


def aggregate_conditions(node: exp.Expr) -> list[list[exp.Expr]] | None:
    """Give, for each aggregate, the conditions one of which a row meets if it counts in it.

    Only for a SELECT that gathers everything into one row of such aggregates, FILTER (WHERE …) or
    over a CASE without ELSE; None for any other, where rows that meet none may matter too.
    """
    if any(node.args.get(part) for part in ("group", "having", "qualify", "order", "distinct")):
        return None
    found: list[list[exp.Expr]] = []
    todo = list(node.expressions)
    while todo:
        part = todo.pop()
        held = (
            part.this if isinstance(part, (exp.Sum, exp.Count, exp.Min, exp.Max, exp.Avg)) else None
        )
        if isinstance(part, exp.Filter) and isinstance(part.this, exp.AggFunc):
            found.append([part.expression.this])
        elif isinstance(held, exp.Case) and held.this is None and not held.args.get("default"):
            found.append([branch.this for branch in held.args["ifs"]])
        elif isinstance(part, (exp.Column, exp.Star, exp.Query, exp.Window, *_MIXING_FUNCS)):
            return None
        else:
            todo += list(part.iter_expressions())
    return found or None


def always_has_row(node: exp.Expr) -> bool:
    """True if there may be a row in the result though none fulfils WHERE."""
    return node.args.get("group") is None and is_aggregated(node)


def group_keys(node: exp.Expr) -> list[exp.Expr] | None:
    """Give the expressions grouped by; None without GROUP BY, or with ROLLUP and its like."""
    group = node.args.get("group")
    if group is None:
        return None
    if any(group.args.get(part) for part in ("grouping_sets", "cube", "rollup", "totals")):
        return None
    if group.args.get("all"):
        return [_value(item) for item in node.expressions if not _has_aggregate(item)]
    found: list[exp.Expr] = []
    for key in group.expressions:
        if isinstance(key, (exp.Rollup, exp.Cube, exp.GroupingSets)):
            return None
        if isinstance(key, exp.Literal) and not key.is_string and key.this.isdigit():
            index = int(key.this) - 1
            if 0 <= index < len(node.expressions):
                found.append(_value(node.expressions[index]))
        else:
            found.append(key)
    return found


def _value(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _has_aggregate(item: exp.Expr) -> bool:
    return any(isinstance(found, _MIXING_FUNCS) for found in _outside_windows(item))


def partitions(node: exp.Expr) -> Iterator[list[exp.Expr]]:
    """Give the PARTITION BY of each window, and the keys of DISTINCT ON."""
    named = {
        window.this.name.lower(): window
        for window in node.args.get("windows") or ()
        if isinstance(window, exp.Window) and window.this is not None
    }
    for part in _own_parts(node):
        for window in part.find_all(exp.Window):
            yield _partition(window, named)
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    if on is not None:
        yield list(on.expressions) if isinstance(on, exp.Tuple) else [on]


def _partition(window: exp.Window, named: dict[str, exp.Window]) -> list[exp.Expr]:
    own = list(window.args.get("partition_by") or ())
    alias = window.args.get("alias")
    if not own and alias is not None:
        base = named.get(alias.name.lower())
        own = list(base.args.get("partition_by") or ()) if base is not None else []
    return own
