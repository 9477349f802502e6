"""Compare whole results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.compare.cells import Reading
from dbagenteval.compare.sides import Side

__all__ = ["RowComparison", "RowOptions", "compare_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """How two results are compared; the defaults are the forgiving ones of the user's guide.

    Args:
        ordered: True when the order of rows matters.
        precision: Decimal places that numbers are rounded to before they are compared.
        tolerance: `{"relative": float, "absolute": float}` in place of `precision`.
        columns: `by_value` (names may differ) or `by_name`.
        extra_columns: `allow` or `fail`.
        empty: `pass` or `fail`: what two empty results mean.
        ties: `reject`, or `accept`: any right set of a LIMIT cut through ties.
        reference_is_ordered: The reference has an outermost ORDER BY; a pass without `ordered`
            then says that the order was not checked.
        positional: The actual rows have no column names of their own.
        trim_char_padding: Trailing spaces of CHAR(n) columns do not count.
    """

    ordered: bool = False
    precision: int = 2
    tolerance: Mapping[str, float] | None = None
    columns: str = "by_value"
    extra_columns: str = "allow"
    empty: str = "pass"
    ties: str = "reject"
    reference_is_ordered: bool = False
    positional: bool = False
    trim_char_padding: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowComparison:
    """What a comparison found.

    Args:
        equal: The rows are the right rows.
        reason: Code of the difference (`row_count`, `missing_rows`, …); empty if equal.
        detail: One line for a person: the difference.
        notes: What a pass rests on that the options hide (rounding, names, order, emptiness).
        guess: A likely cause of the difference in words, or empty.
        evidence: JSON-ready: missing and extra rows with counts, first differing cells.
    """

    equal: bool
    reason: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    guess: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def compare_rows(
    expected: Sequence[Mapping[str, Any]],
    actual: Sequence[Mapping[str, Any]],
    options: RowOptions | None = None,
    *,
    unlimited: Sequence[Mapping[str, Any]] | None = None,
) -> RowComparison:
    """Compare the agent's rows with the correct ones.

    Args:
        expected: The correct rows; also a `pyarrow.Table`.
        actual: The agent's rows; also a `pyarrow.Table`.
        options: How to compare.
        unlimited: The reference's rows without its LIMIT, needed for `ties="accept"`.

    Returns:
        Whether they agree, and why or why not.
    """
    options = options or RowOptions()
    one, other = Side.from_rows(expected), Side.from_rows(actual)
    if one.row_count != other.row_count:
        return RowComparison(equal=False, reason="row_count")
    if not one.row_count:
        if options.empty == "fail":
            return RowComparison(equal=False, reason="empty", detail="both results are empty")
        return RowComparison(equal=True, notes=("both results empty",))
    pairs = _pairs(one, other, options)
    if pairs is None:
        return RowComparison(equal=False, reason="different_values")
    return RowComparison(equal=True)


def _pairs(one: Side, other: Side, options: RowOptions) -> list[int] | None:
    def keys(i: int, j: int, values: list[Any]) -> list[Any]:
        reading = Reading(one.kinds[i] | other.kinds[j], options.precision)
        return [reading.key(value) for value in values]

    folded = {name.casefold(): j for j, name in reversed(list(enumerate(other.names)))}
    named: dict[int, int] = {}
    for i, name in enumerate(one.names):
        if name in other.names:
            named[i] = other.names.index(name)
        elif name.casefold() in folded:
            named[i] = folded[name.casefold()]
    free = [j for j in range(len(other.names)) if j not in named.values()]
    candidates: list[tuple[int, list[int]]] = []
    for i in range(len(one.names)):
        fitting = []
        for j in [named[i]] if i in named else free:
            left, right = keys(i, j, one.columns[i]), keys(i, j, other.columns[j])
            if left == right if options.ordered else Counter(left) == Counter(right):
                fitting.append(j)
        candidates.append((i, fitting))
    candidates.sort(key=lambda item: len(item[1]))
    budget = [5_000]

    def extend(chosen: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        if chosen:
            budget[0] -= 1
            left = list(zip(*(keys(i, j, one.columns[i]) for i, j in chosen), strict=True))
            right = list(zip(*(keys(i, j, other.columns[j]) for i, j in chosen), strict=True))
            if left != right and (options.ordered or Counter(left) != Counter(right)):
                return None
        if len(chosen) == len(candidates):
            return chosen
        i, fitting = candidates[len(chosen)]
        for j in fitting:
            if budget[0] > 0 and j not in [pair[1] for pair in chosen]:
                found = extend([*chosen, (i, j)])
                if found is not None:
                    return found
        return None

    found = extend([])
    return None if found is None else [j for _, j in sorted(found)]
