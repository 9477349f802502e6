"""Compare whole results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    raise NotImplementedError
