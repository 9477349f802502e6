"""Bounds that conditions put on columns: which are limited from below and above by constants."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

__all__ = ["Bounds", "bounds_of"]

Origin = tuple[int, str, str]
Bounds = dict[Origin, set[str]]
"""Column of one table occurrence to `lower`, `upper` or both."""

_BOTH = ("lower", "upper")
_LEFT = {
    exp.GT: ("lower",),
    exp.GTE: ("lower",),
    exp.LT: ("upper",),
    exp.LTE: ("upper",),
    exp.EQ: _BOTH,
}
_MIRRORED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ}
# Functions that keep the order of time, so that a bound of the value bounds the column.
_MONOTONE = (
    exp.Cast,
    exp.TryCast,
    exp.Date,
    exp.DateTrunc,
    exp.TimestampTrunc,
    exp.DatetimeTrunc,
    exp.TsOrDsToDate,
    exp.TsOrDsToTimestamp,
    exp.Year,
    exp.Paren,
)
_YEAR_FORMAT = re.compile(r"%Y|YYYY", re.IGNORECASE)


def bounds_of(
    condition: exp.Expr | None, origins_of: Callable[[exp.Column], frozenset[Origin]]
) -> Bounds:
    """Give the bounds that hold for every row the condition lets through.

    Args:
        condition: A WHERE or ON condition, or None.
        origins_of: Gives the table columns that a column is the very value of.
    """
    if condition is None:
        return {}
    if isinstance(condition, (exp.Where, exp.Having, exp.Paren)):
        return bounds_of(condition.this, origins_of)
    if isinstance(condition, exp.And):
        left = bounds_of(condition.left, origins_of)
        for origin, sides in bounds_of(condition.right, origins_of).items():
            left.setdefault(origin, set()).update(sides)
        return left
    if isinstance(condition, exp.Or):
        left = bounds_of(condition.left, origins_of)
        right = bounds_of(condition.right, origins_of)
        both = {origin: sides & right.get(origin, set()) for origin, sides in left.items()}
        return {origin: sides for origin, sides in both.items() if sides}
    column, limited = _bounded(condition)
    if column is None or not limited:
        return {}
    return {origin: set(limited) for origin in origins_of(column)}


def _bounded(node: exp.Expr) -> tuple[exp.Column | None, tuple[str, ...]]:
    if isinstance(node, exp.Between):
        if _is_constant(node.args["low"]) and _is_constant(node.args["high"]):
            return _time_column(node.this), _BOTH
        return None, ()
    if isinstance(node, exp.In):
        listed = node.expressions
        if listed and all(_is_constant(item) for item in listed):
            return _time_column(node.this), _BOTH
        return None, ()
    if isinstance(node, exp.Like):
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and re.match(r"\d{4}", str(pattern.this)):
            return _time_column(node.this), _BOTH
        return None, ()
    kind = type(node)
    if kind not in _LEFT or not isinstance(node, exp.Binary):
        return None, ()
    if _is_constant(node.right):
        return _time_column(node.left), _LEFT[kind]
    if _is_constant(node.left):
        return _time_column(node.right), _LEFT[_MIRRORED[kind]]
    return None, ()


def _time_column(node: exp.Expr) -> exp.Column | None:
    """Give the column that the expression rises with, or None."""
    if isinstance(node, exp.Column):
        return node
    if isinstance(node, _MONOTONE):
        return _time_column(node.this)
    if isinstance(node, exp.Extract):
        return _time_column(node.expression) if node.name.upper() == "YEAR" else None
    if isinstance(node, (exp.TimeToStr, exp.ToChar)):
        # A text that starts with the year sorts like the time and holds the year.
        pattern = node.args.get("format")
        text = str(pattern.this) if isinstance(pattern, exp.Literal) else ""
        return _time_column(node.this) if _YEAR_FORMAT.match(text) else None
    return None


def _is_constant(node: exp.Expr) -> bool:
    if isinstance(node, exp.Null):
        return False
    return not any(isinstance(part, (exp.Column, exp.Query, exp.Star)) for part in node.walk())
