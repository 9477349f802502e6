"""Figure: one number, date or code as a text prints it, and what it may stand for."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal

__all__ = ["EXACT", "Figure", "Period", "Reading"]

EXACT = Context(prec=400, Emax=999_999, Emin=-999_999, traps=[])
"""Arithmetic on printed figures; the default context would round long account numbers."""


_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Reading:
    """One value that a figure may stand for.

    Args:
        value: As printed, with its sign and its scale word, without its percent sign.
        half: Half a unit of the last printed place: the figure stands for `value` ± `half`.
        percent: True if a percent sign or word follows, so that 45 may also mean 0.45.
    """

    value: Decimal
    half: Decimal
    percent: bool = False

    def span(self) -> tuple[Decimal, Decimal]:
        """Give the smallest and the largest size (value without sign) that print like this."""
        size = abs(self.value)
        return EXACT.subtract(size, self.half), EXACT.add(size, self.half)

    def scaled(self, factor: Decimal | int) -> Reading:
        """Give this reading times a factor."""
        by = Decimal(factor)
        return Reading(
            EXACT.multiply(self.value, by), EXACT.multiply(self.half, abs(by)), percent=self.percent
        )


@dataclass(frozen=True, slots=True)
class Period:
    """A day, month, quarter or year; None where the text leaves a part out."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number-like piece of a text.

    Args:
        text: What is printed, with its scale word: `1.2 bn`.
        start: Index of its first character in the text that was read.
        end: Index after its last character.
        kind: `quantity`, `ordinal`, `fraction`, `date`, `year`, `time`, `code`, `phone`,
            `version`, `link`, `marker` (of a list) or `sql` (code that is quoted).
        readings: Alternatives, the likeliest first. Each is the quantities that the figure
            would be: `5,20` is 5.20, or 5 and 20.
        periods: Alternatives of a date: `05/06/24` is the fifth of June or the sixth of May.
        bound: `over`, `under`, `about` or `of many` (the top 3) if the words before it say so.
        sign: `-` or `+` if one is printed, else empty.
        word: True if it is spelled in letters.
    """

    text: str
    start: int
    end: int
    kind: str = "quantity"
    readings: tuple[tuple[Reading, ...], ...] = ()
    periods: tuple[Period, ...] = ()
    bound: str = ""
    sign: str = ""
    word: bool = False

    @property
    def shown(self) -> str:
        """The text, cut to 80 characters for messages."""
        return self.text if len(self.text) <= _SHOWN_CHARS else f"{self.text[:_SHOWN_CHARS]}…"
