"""Guess why rows differ: what queries get wrong most often.

A guess is offered only if it explains the whole difference. It is a hint for a person and never
changes a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dbagenteval.compare.difference import Difference, as_float, is_number
from dbagenteval.compare.names import contradicts, words
from dbagenteval.compare.numbers import read_number

__all__ = ["guess"]

_FACTORS = {
    100.0: "percent against ratio, or cents against whole units",
    1000.0: "thousands, or a metric prefix",
    1e6: "millions",
    1e9: "billions",
    60.0: "minutes against seconds, or hours against minutes",
    3600.0: "hours against seconds",
    24.0: "days against hours",
    7.0: "weeks against days",
    12.0: "years against months",
    86400.0: "days against seconds",
    1024.0: "a binary prefix",
    1048576.0: "a binary prefix",
}
_TENANT_WORDS = frozenset(
    (
        "tenant",
        "store",
        "shop",
        "org",
        "organisation",
        "organization",
        "company",
        "account",
        "customer",
        "client",
        "workspace",
        "merchant",
        "branch",
        "team",
        "user",
        "owner",
    )
)
_NEAR = 1e-9


def guess(difference: Difference, reason: str) -> str:
    """Give the likely cause in words, or empty text."""
    if reason == "reference_empty":
        return (
            "the expected result has no rows; if that is not meant, the reference may ask for "
            "dates relative to today while the data ends earlier"
        )
    by_reason = {
        "time_zone": "one side has a time zone and the other has none, so it is not known "
        "whether they are the same instant",
        "text_case": "the text differs in upper and lower case only",
        "row_pairing": "each column has the right values but they stand in the wrong rows",
        "names_contradict": "the values are there under names that say something else",
        "no_columns": "the expected rows have no columns, so there is nothing to compare with",
    }
    if reason in by_reason:
        return by_reason[reason]
    steps: Sequence[Callable[[Difference], str]] = (
        _repeated,
        _other_tenant,
        _total_row,
        _zero_groups,
        _unfiltered,
        _aggregated,
        _other_aggregate,
        _scaled,
        _shifted,
        _rounded,
        _number_as_text,
    )
    return next((found for step in steps if (found := step(difference))), "")


def _repeated(difference: Difference) -> str:
    matching = difference.matching
    if matching.missing and matching.extra and difference.same_distinct_rows():
        return "the same rows, but not each of them as often as expected"
    if matching.missing or not matching.extra or not difference.only_repeats():
        return ""
    return "rows are repeated, as by a join that matches several rows"


def _other_tenant(difference: Difference) -> str:
    """Find a column that has one value in the expected rows and others in the extra ones."""
    keys, extra = difference.keys, difference.matching.extra
    for i, j in difference.pairs.items():
        context = keys.context(i, j)
        wanted, given = set(keys.left(i, context)), keys.right(j, context)
        others = list(dict.fromkeys(given[row] for row in extra if given[row] not in wanted))
        name = keys.actual.names[j]
        if len(wanted) != 1 or not others or not words(name) & _TENANT_WORDS:
            continue
        shown = [keys.actual.columns[j][row] for row in extra if given[row] in set(others[:3])]
        shown = list(dict.fromkeys(map(str, shown)))[:3]
        return f"rows of another {name}: {', '.join(shown)}; a filter on it is missing"
    return ""


def _total_row(difference: Difference) -> str:
    """See whether the only row that one side has more is the sum of the others."""
    keys, matching = difference.keys, difference.matching
    columns = [
        (keys.expected.columns[i], keys.actual.columns[j]) for i, j in difference.pairs.items()
    ]
    if len(matching.extra) == 1 and not matching.missing and matching.pairs:
        sides = [(ours, theirs[matching.extra[0]]) for ours, theirs in columns]
        text = "one row more, the total of the others"
    elif len(matching.missing) == 1 and not matching.extra and matching.pairs:
        sides = [(theirs, ours[matching.missing[0]]) for ours, theirs in columns]
        text = "the row with the total of the others is missing"
    else:
        return ""
    sums = [(values, total) for values, total in sides if is_number(total)]
    is_total = len(columns) > 1 and all(
        _near(sum(as_float(value) for value in values if is_number(value)), as_float(total))
        for values, total in sums
    )
    return text if sums and is_total else ""


def _zero_groups(difference: Difference) -> str:
    """See whether every missing row, or every extra one, only counts nothing."""
    keys, matching = difference.keys, difference.matching
    if bool(matching.missing) == bool(matching.extra) or not matching.pairs:
        return ""
    rows = matching.missing or matching.extra
    columns = [
        keys.expected.columns[i] if matching.missing else keys.actual.columns[j]
        for i, j in difference.pairs.items()
    ]
    for row in rows:
        numbers = [as_float(column[row]) for column in columns if is_number(column[row])]
        if not numbers or any(numbers):
            return ""
    if matching.missing:
        return "the groups that count nothing are missing, as an inner join or a filter drops them"
    return "groups that count nothing are there too"


def _unfiltered(difference: Difference) -> str:
    matching = difference.matching
    if matching.extra and not matching.missing:
        return "all expected rows are there and more: a filter is missing"
    if matching.missing and not matching.extra and matching.pairs:
        return (
            "only some of the expected rows: a filter too many, an inner join that drops rows, "
            "or a LIMIT"
        )
    return ""


_AGGREGATES: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
    ("sum", sum),
    ("average", lambda values: sum(values) / len(values)),
    ("minimum", min),
    ("maximum", max),
    ("count", lambda values: float(len(values))),
)


def _aggregated(difference: Difference) -> str:
    """See whether one side is an aggregate of the other."""
    keys = difference.keys
    for one, many, text in (
        (keys.expected, keys.actual, "the rows were not aggregated: expected is the {} of them"),
        (keys.actual, keys.expected, "aggregated too far: this is the {} of the expected rows"),
    ):
        is_whole = one.row_count == one.total_rows and many.row_count == many.total_rows
        is_single = one.row_count == 1 and len(one.names) <= 3
        if not is_whole or not is_single or not 1 < many.row_count <= 100_000:
            continue
        for column in one.columns:
            if not is_number(column[0]):
                continue
            for values in many.columns:
                numbers = [as_float(value) for value in values if is_number(value)]
                for name, aggregate in _AGGREGATES if numbers else ():
                    if _near(aggregate(numbers), as_float(column[0])):
                        return text.format(name)
    return ""


def _other_aggregate(difference: Difference) -> str:
    keys = difference.keys
    for i, j in difference.pairs.items():
        name, other = keys.expected.names[i], keys.actual.names[j]
        if contradicts(name, other):
            return f"another aggregate: {other} in place of {name}"
    return ""


def _scaled(difference: Difference) -> str:
    numbers = difference.numbers()
    if not numbers or any(not a or not b for a, b in numbers):
        return ""
    ratios = [b / a for a, b in numbers]
    if not all(
        ratio and math.isfinite(ratio) and _near(ratio, ratios[0], 1e-3) for ratio in ratios
    ):
        return ""
    ratio = ratios[0]
    if _near(ratio, -1.0):
        return "the sign is the other way round"
    for factor, meaning in _FACTORS.items():
        if _near(ratio, factor, 1e-3):
            return f"{factor:,.0f} times the expected value: {meaning}"
        if _near(1 / ratio, factor, 1e-3):
            return f"the expected value divided by {factor:,.0f}: {meaning}"
    whole = round(ratio)
    is_chance = len(numbers) == 1 and abs(numbers[0][0]) < 10
    if 2 <= whole <= 50 and not is_chance and all(_near(ratio, whole) for ratio in ratios):
        return f"{whole} times the expected value: rows may be repeated by a join"
    return ""


def _shifted(difference: Difference) -> str:
    """See whether all times are off by the same time."""
    shifts = set()
    for ours, theirs in difference.keys_of_cells():
        if not (_is_time(ours) and _is_time(theirs) and ours[0] == theirs[0]):
            return ""
        shifts.add(theirs[1] - ours[1])
    if len(shifts) != 1:
        return ""
    seconds = shifts.pop() / 1e9
    days = seconds / 86_400
    shown = f"{days:+g} day(s)" if days == round(days) else f"{seconds / 3600:+g} hour(s)"
    return f"all times are off by {shown}: a time zone or the end of a period"


def _is_time(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 2 and key[0] in ("naive", "aware", "clock")


def _rounded(difference: Difference) -> str:
    numbers = difference.numbers()
    if not numbers:
        return ""
    for digits in (3, 2, 1, 0):
        unit = 10.0**-digits
        close = all(math.isfinite(a - b) and abs(a - b) < unit for a, b in numbers)
        if close and all(_near(b, round(b, digits)) and a != round(a, digits) for a, b in numbers):
            how = "rounded" if all(abs(a - b) <= unit / 2 for a, b in numbers) else "cut"
            return f"{how} to {digits} decimal place{'' if digits == 1 else 's'}"
    return ""


def _number_as_text(difference: Difference) -> str:
    cells = [
        (difference.keys.expected.columns[i][one], difference.keys.actual.columns[j][other])
        for one, other, differing in difference.neighbours
        for i, j in differing
    ]
    texts = all(isinstance(a, str) and isinstance(b, str) for a, b in cells)
    if not cells or not texts:
        return ""
    numbers = [(read_number(a.strip()), read_number(b.strip())) for a, b in cells]
    if all(a is not None and b is not None and a == b for a, b in numbers):
        return "equal as numbers, but both columns are text"
    return ""


def _near(value: float, other: float, relative: float = _NEAR) -> bool:
    return math.isclose(value, other, rel_tol=relative)
