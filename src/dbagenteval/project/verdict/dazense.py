"""The comparison of the existing command, rule by rule, for those who move from it.

It is kept with its faults: floats are rounded to two decimals, whole numbers pass within one part
in 100,000, rows are compared by place, and no answer equals no rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

__all__ = ["compare_as_dazense"]

_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
_DECIMALS = 2

Rows = Sequence[Mapping[str, Any]]


def compare_as_dazense(expected: Rows, actual: Rows) -> tuple[bool, str]:
    """Give whether the rows count as equal, and the message."""
    if not expected and not actual:
        return True, "both empty"
    if not actual:
        return False, "actual is empty"
    if not expected:
        return False, "expected is empty"
    names = sorted(expected[0])
    missing = {name for name in names if name not in actual[0]}
    if missing:
        return False, f"missing columns: {missing}"
    if len(actual) != len(expected):
        return False, f"row count: {len(actual)} vs {len(expected)}"
    columns = [
        ([_plain(row.get(name)) for row in expected], [_plain(row.get(name)) for row in actual])
        for name in names
    ]
    rounded = [(_rounded(left), _rounded(right)) for left, right in columns]
    if all(_same(left, right) for left, right in rounded):
        return True, "match"
    if all(_close(left, right) for left, right in rounded):
        return True, "match (approximate)"
    return False, "values differ"


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _rounded(values: list[Any]) -> list[Any]:
    if any(isinstance(value, float) for value in values) and all(_numeric(v) for v in values):
        return [None if value is None else round(float(value), _DECIMALS) for value in values]
    return values


def _same(left: list[Any], right: list[Any]) -> bool:
    kinds = {type(value) for value in (*left, *right) if value is not None}
    return len(kinds) <= 1 and all(map(_equal, left, right))


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)


def _close(left: list[Any], right: list[Any]) -> bool:
    if all(_numeric(value) for value in (*left, *right)):
        return all(map(_near, left, right))
    return all(type(one) is type(two) and one == two for one, two in zip(left, right, strict=True))


def _near(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return bool(abs(float(right) - float(left)) <= _ABSOLUTE + _RELATIVE * abs(float(left)))


def _numeric(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))
