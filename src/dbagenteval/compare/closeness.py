"""Cells that count as equal although their keys differ: tolerance, and noise of floats."""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

from dbagenteval.compare.cells import kind_of
from dbagenteval.compare.numbers import Tolerance, close, exact_number, read_number

__all__ = ["Closeness"]

_FUZZY_KINDS = frozenset(("number", "json"))
_FAR = 1e-6
_REACH = 1e-13
_HALF = 0.5


class Closeness:
    """Tells whether two cells with different keys are close enough.

    Args:
        precision: Decimal places that the keys are rounded to; None with a tolerance.
        tolerance: Replaces the rounding.
    """

    def __init__(self, precision: int | None, tolerance: Tolerance | None) -> None:
        self.precision = precision
        self.tolerance = tolerance

    def may_apply(self, context: frozenset[str]) -> bool:
        """Tell whether columns of these kinds can hold cells that are close but not equal."""
        return bool(context & _FUZZY_KINDS)

    def cells(self, left: Any, right: Any, left_key: Hashable, right_key: Hashable) -> bool:
        """Tell whether two cells agree.

        Args:
            left: Cell of the expected result.
            right: Cell of the actual result.
            left_key: Its key.
            right_key: Its key.
        """
        if left_key == right_key:
            return True
        if isinstance(left_key, tuple) and isinstance(right_key, tuple):
            return self._nested(left_key, right_key)
        one, other = _as_number(left, left_key), _as_number(right, right_key)
        return one is not None and other is not None and self.numbers(one, other)

    def numbers(self, left: float | Decimal, right: float | Decimal) -> bool:
        """Tell whether two numbers with different keys agree."""
        if self.tolerance is None:
            if isinstance(left, float) and isinstance(right, float) and _is_far(left, right):
                return False
            return close(left, right, self.precision)
        one, other = exact_number(left), exact_number(right)
        return self.tolerance.allows(one, other) or close(left, right, None)

    def reach(self, value: float) -> float:
        """Say how far from a number a cell may be that agrees with it, at most."""
        if self.tolerance is None:
            unit = 0.0 if self.precision is None else 10.0**-self.precision
            return unit + _REACH * abs(value)
        relative = self.tolerance.relative
        if relative >= _HALF:
            return math.inf
        return self.tolerance.absolute + (2 * relative + _REACH) * abs(value)

    def _nested(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        if left[0] != "json" or right[0] != "json" or len(left) != len(right):
            return False
        for one, other in zip(left, right, strict=True):
            if one == other:
                continue
            if not (one[0] == other[0] == "value"):
                return False
            if not (_is_number(one[1]) and _is_number(other[1])):
                return False
            if not self.numbers(_measured(one[1]), _measured(other[1])):
                return False
        return True


def _is_far(left: float, right: float) -> bool:
    """Rule out quickly what exact arithmetic need not look at."""
    return abs(left - right) > _FAR * max(abs(left), abs(right))


def _measured(number: Any) -> Any:
    """Give a nested number as a float if it has decimals, since its type is not kept."""
    return number if isinstance(number, int) else float(number)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _as_number(value: Any, key: Hashable) -> float | Decimal | None:
    if not _is_number(key):
        return None
    if kind_of(value) == "number":
        return value  # type: ignore[no-any-return]
    return read_number(value.strip()) if isinstance(value, str) else None
