"""The values that a string of digits and separators may have."""

from __future__ import annotations

import re
from decimal import Decimal

from dbagenteval.answers.figure import Reading

__all__ = ["DIGIT_RUN", "alternatives", "plain_reading"]

_SPACES = " \u00a0\u202f\u2009"
_HARD_SPACES = "\u00a0\u202f\u2009"
_MARKS = ".,'\u2019_"

# Digits with separators between them. A space joins only groups of three, so that "10 20" stays
# two numbers; what the whole means is for `alternatives` to say.
DIGIT_RUN = re.compile(rf"(?<![\w.])\.\d+|\d+(?:[{_MARKS}]\d+|[{_SPACES}]\d{{3}}(?!\d))*")
_SEPARATOR = re.compile(rf"[{_MARKS}{_SPACES}]")
_LONGEST_GROUPED = 24  # groups: 72 digits; more of them are a list


def plain_reading(digits: str) -> Reading:
    """Read digits with at most a decimal point."""
    places = len(digits.partition(".")[2])
    return Reading(Decimal(digits), Decimal(5).scaleb(-places - 1))


def alternatives(run: str, decimal: str = "") -> tuple[tuple[Reading, ...], ...]:
    """Give what a run of digits and separators may stand for, the likeliest first.

    Args:
        run: A match of `DIGIT_RUN`, in ASCII digits.
        decimal: `.` or `,` if the language settles which is the decimal sign, else empty. It
            decides only where both readings are possible: `2,5` is 2.5 in any language.

    Returns:
        One value, or the several numbers of a list written without blanks: `10,20,30`.
    """
    separators = _SEPARATOR.findall(run)
    if not separators:
        return ((plain_reading(run),),)
    parts = _SEPARATOR.split(run)
    values = [] if len(parts) > _LONGEST_GROUPED else _single_values(parts, separators, decimal)
    found: list[tuple[Reading, ...]] = [(plain_reading(value),) for value in values]
    if _may_be_list(separators, has_grouped=any("." not in value for value in values)):
        found.append(_list_of(parts, separators))
    return tuple(found) or (_list_of(parts, separators),)


def _single_values(parts: list[str], separators: list[str], decimal: str) -> list[str]:
    if not parts[0]:
        return ["0." + parts[1]]
    last = separators[-1]
    values = []
    whole = _grouped(parts, separators)
    if whole is not None:
        values.append(whole)
    if last in ".," and separators.count(last) == 1:
        before = _grouped(parts[:-1], separators[:-1])
        if before is not None:
            values.append(f"{before}.{parts[-1]}")
    if len(values) == 2:
        return _most_likely(values, parts, last, decimal)
    return values


def _most_likely(values: list[str], parts: list[str], last: str, decimal: str) -> list[str]:
    grouped, fraction = values
    if decimal:
        return [fraction] if last == decimal else [grouped]
    return [grouped, fraction] if last == "," or len(parts) > 2 else [fraction, grouped]


def _grouped(parts: list[str], separators: list[str]) -> str | None:
    """Join groups by threes, or Indian ones by twos and a last three; None if they are none."""
    if not separators:
        return parts[0]
    # A narrow blank and a wide one are one separator.
    kinds = {" " if sign in _SPACES else "'" if sign == "\u2019" else sign for sign in separators}
    first, *middle, last = parts
    if kinds <= {"'", "_"} and len(last) == 3:
        return "".join(parts)  # they separate nothing but groups
    if len(kinds) > 1 or len(last) != 3 or not 1 <= len(first) <= 3:
        return None
    # "0,123" and "012.345" are no groups.
    if first.startswith("0"):
        return None
    by_threes = all(len(group) == 3 for group in middle)
    by_twos = kinds == {","} and len(first) <= 2 and all(len(group) == 2 for group in middle)
    return "".join(parts) if by_threes or by_twos else None


def _may_be_list(separators: list[str], *, has_grouped: bool) -> bool:
    if set(separators) == {" "}:
        return True
    return set(separators) == {","} and not has_grouped


def _list_of(parts: list[str], separators: list[str]) -> tuple[Reading, ...]:
    """Split at commas and blanks; points stay decimal signs: `1.5,2.5` is two numbers."""
    items = [parts[0]]
    for separator, part in zip(separators, parts[1:], strict=True):
        if separator == "." and "." not in items[-1]:
            items[-1] += "." + part
        else:
            items.append(part)
    return tuple(plain_reading("0" + item if item.startswith(".") else item) for item in items)
