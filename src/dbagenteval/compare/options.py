"""How results are compared, and what a comparison gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["RowComparison", "RowOptions"]


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
        trim_char_padding: Blanks around text do not count, and a pass does not mention them.
        text_numbers: `typed` reads text as a number only against a number; `equal` also
            between two columns of text.
        order_columns: Names of the expected columns that the reference orders by, if known;
            else they are guessed from the rows.

    Raises:
        ValueError: An option has a value that is not allowed.
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
    text_numbers: str = "typed"
    order_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name!r} must be one of {', '.join(allowed)}")


_CHOICES = {
    "columns": ("by_value", "by_name"),
    "extra_columns": ("allow", "fail"),
    "empty": ("pass", "fail"),
    "ties": ("reject", "accept"),
    "text_numbers": ("typed", "equal"),
}


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
