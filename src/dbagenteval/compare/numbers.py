"""Numbers: exact values, rounding keys, and when two numbers are close.

Integers and decimals never pass through a float. A float counts as the shortest decimal that
reads back as the same float, so 2.665 is 2.665 and not 2.66499999999999992.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

__all__ = [
    "Number",
    "Tolerance",
    "close",
    "exact_number",
    "read_number",
    "round_half_up",
    "round_key",
    "round_keys",
]

Number = int | Decimal
"""An exact number; infinities are Decimals."""

_WIDE = decimal.Context(
    prec=decimal.MAX_PREC,
    Emax=decimal.MAX_EMAX,
    Emin=decimal.MIN_EMIN,
    rounding=decimal.ROUND_HALF_UP,
    traps=[decimal.InvalidOperation],
)
_FLOAT_INTEGERS = 2**53
"""Above this, neighbouring doubles are more than 1 apart."""
_FLOAT_DIGITS_SAFE = 15
"""Decimals of fewer digits than this have distinct doubles."""
_FAST_FLOATS = 2.0**36
"""Scaled floats below this are off by less than 1e-5 after the multiplication."""
_NOISE = Decimal("1e-9")
_FLOAT_DIGITS = Decimal("1e-14")
_INTEGER_TOLERANCE = 1e-6
_EDGE = Decimal("1e-15")
_PLAIN_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?", re.ASCII
)
_NOT_FINITE = {
    "nan": Decimal("NaN"),
    "inf": Decimal("Infinity"),
    "+inf": Decimal("Infinity"),
    "-inf": Decimal("-Infinity"),
    "infinity": Decimal("Infinity"),
    "+infinity": Decimal("Infinity"),
    "-infinity": Decimal("-Infinity"),
}


def exact_number(value: float | Decimal) -> Number:
    """Give the exact value of an int, float or Decimal; a float as its shortest decimal."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Decimal):
        return value
    if value.is_integer() and abs(value) < _FLOAT_INTEGERS:
        return int(value)
    return Decimal(float.__repr__(value))


def read_number(text: str) -> Number | None:
    """Read text that is a plain number, or None.

    Leading zeros make a code (`01234`), thousands separators and units are not read. `.5`, `+5`,
    `1e3`, `NaN` and `Infinity` are what databases and CSV files print.
    """
    if _PLAIN_NUMBER.fullmatch(text):
        return Decimal(text)
    return _NOT_FINITE.get(text.lower()) if len(text) <= 9 else None


@lru_cache(maxsize=64)
def _unit(precision: int) -> Decimal:
    return Decimal((0, (1,), -precision))


def round_key(value: float | Decimal, precision: int) -> float | Decimal | None:
    """Round half up to `precision` places; equal results are equal and hash alike.

    Returns:
        An int, float or Decimal, or None for NaN.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value != value:  # noqa: PLR0124 - NaN
            return None
        scaled = value * 10**precision if precision <= 9 else math.inf
        if -_FAST_FLOATS < scaled < _FAST_FLOATS:
            whole = math.floor(scaled)
            part = scaled - whole
            if not 0.4999 < part < 0.5001:
                return (whole + (part > 0.5)) / float(10**precision)
    number = exact_number(value)
    if isinstance(number, int):
        return number
    if not number.is_finite():
        return None if number.is_nan() else number
    if number.adjusted() + precision < _FLOAT_DIGITS_SAFE and precision <= 22:
        return float(number.quantize(_unit(precision), context=_WIDE))
    return round_half_up(number, precision)


def round_keys(column: Sequence[float | None], precision: int) -> list[float | Decimal | None]:
    """Give `round_key` of a column of floats and None, without a call for each."""
    if precision > 9:
        return [None if value is None else round_key(value, precision) for value in column]
    floor, scale, limit = math.floor, float(10**precision), _FAST_FLOATS
    keys: list[float | Decimal | None] = []
    for value in column:
        if value is None:
            keys.append(None)
            continue
        scaled = value * scale
        if -limit < scaled < limit:
            whole = floor(scaled)
            part = scaled - whole
            if not 0.4999 < part < 0.5001:
                keys.append((whole + (part > 0.5)) / scale)
                continue
        keys.append(round_key(value, precision))
    return keys


def round_half_up(value: float | Decimal, precision: int) -> Number:
    """Round to `precision` places, exactly, whatever the number of digits."""
    number = exact_number(value)
    if isinstance(number, int) or not number.is_finite():
        return number
    if number.adjusted() < -precision - 1:
        return 0
    if -number.adjusted() - 1 + len(number.as_tuple().digits) <= precision:
        return number
    return number.quantize(_unit(precision), context=_WIDE)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far apart two measured values may be: the larger of the two allowances.

    Args:
        relative: Part of the larger absolute value.
        absolute: In the unit of the values.

    A relative tolerance finer than one in a million allows for float noise; whole numbers have
    none, so between two integers it does not count.
    """

    relative: float = 0.0
    absolute: float = 0.0

    @classmethod
    def from_mapping(cls, given: Mapping[str, float]) -> Tolerance:
        """Read `{"relative": …, "absolute": …}`.

        Raises:
            ValueError: Another key, a negative or a non-finite value, or no number.
        """
        values: Mapping[str, object] = given
        for name, value in values.items():
            if name not in ("relative", "absolute"):
                raise ValueError(f"unknown tolerance {name!r}; allowed: relative, absolute")
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= float(given[name]) < math.inf:
                raise ValueError(f"tolerance {name!r} must be a number of at least 0")
        return cls(float(given.get("relative", 0.0)), float(given.get("absolute", 0.0)))

    def allows(self, left: Number, right: Number) -> bool:
        """Tell whether two finite exact numbers are within the tolerance."""
        if left == right:
            return True
        relative = self.relative
        if relative < _INTEGER_TOLERANCE and _is_whole(left) and _is_whole(right):
            relative = 0.0
        if _is_extreme(left) or _is_extreme(right):
            return False
        largest = max(Decimal(left).copy_abs(), Decimal(right).copy_abs())
        allowed = max(
            Decimal(repr(self.absolute)), _WIDE.multiply(Decimal(repr(relative)), largest)
        )
        difference = _WIDE.abs(_WIDE.subtract(Decimal(left), Decimal(right)))
        if _is_whole(left) and _is_whole(right):
            return bool(difference <= allowed)
        # A float that was computed may lie beyond the edge by its last digit.
        slack = _WIDE.multiply(_EDGE, max(largest, allowed))
        return bool(difference <= _WIDE.add(allowed, slack if allowed else Decimal(0)))


def _is_extreme(number: Number) -> bool:
    """Tell numbers whose differences would need thousands of digits, and infinities."""
    if isinstance(number, int):
        return number.bit_length() > 16_000
    return not number.is_finite() or not -5000 < number.adjusted() < 5000


@lru_cache(maxsize=64)
def _half_unit(precision: int) -> Decimal:
    return Decimal((0, (5,), -precision - 1))


def _is_whole(number: Number) -> bool:
    return isinstance(number, int) or number == number.to_integral_value(context=_WIDE)


def close(left: float | Decimal, right: float | Decimal, precision: int | None) -> bool:
    """Tell whether two numbers differ by less than the comparison can mean.

    That is a difference below half a unit of `precision` and below one part in 10^9 (two values
    on both sides of a rounding boundary), or, if a float is among them, beyond the digits that
    a float holds.
    """
    one, other = exact_number(left), exact_number(right)
    if one == other:
        return True
    if _is_extreme(one) or _is_extreme(other):
        return False
    difference = _WIDE.abs(_WIDE.subtract(Decimal(one), Decimal(other)))
    largest = max(Decimal(one).copy_abs(), Decimal(other).copy_abs())
    is_noise = difference <= _WIDE.multiply(_NOISE, largest)
    if is_noise and precision is not None and difference < _half_unit(precision):
        return True
    if not (isinstance(left, float) or isinstance(right, float)):
        return False
    if _is_whole(one) and _is_whole(other):
        both_floats = isinstance(left, float) and isinstance(right, float)
        if largest < _FLOAT_INTEGERS:
            return False
        if not both_floats:
            return _as_float(left) == _as_float(right)
    return bool(difference <= _WIDE.multiply(_FLOAT_DIGITS, largest))


def _as_float(value: float | Decimal) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
