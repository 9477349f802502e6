"""Words before a figure that make it a bound or an estimate: over, nearly, about."""

from __future__ import annotations

import re

__all__ = ["bound_before"]

_WORDS = {
    "over": "over|more than|at least|above|exceeds|exceeding|exceeded|upwards of|greater than"
    "|no less than"
    "|über|mehr als|mindestens|plus de|au moins|más de|al menos|mais de|più di|oltre|almeno"
    "|meer dan|ponad|более|>|≥",
    "under": "under|less than|fewer than|nearly|almost|just under|close to|up to|below|at most"
    "|no more than"
    "|unter|weniger als|fast|beinahe|knapp|höchstens|moins de|presque|près de|menos de|casi"
    "|quase|meno di|quasi"
    "|minder dan|bijna|prawie|почти|менее|<|≤",
    "about": "about|around|roughly|approximately|approx\\.?|some|circa|ca\\.?|c\\.|an estimated"
    "|in the region of"
    "|etwa|ungefähr|rund|zirka|gut|environ|autour de|unos|unas|alrededor de|aproximadamente"
    "|cerca de|cerca di"
    "|circa|intorno a|ongeveer|około|около|примерно|~|≈|約|およそ|大约|约|약",
}
_BEFORE = {
    kind: re.compile(
        rf"(?:(?<!\w)(?:{words}))\s*(?:a\s|the\s|just\s)?[*_$€£¥₹]*(?:[A-Z]{{3}}\s?)?$",
        re.IGNORECASE,
    )
    for kind, words in _WORDS.items()
}
_OF_MANY = re.compile(
    r"(?<!\w)(?:top|first|last|bottom|ersten|letzten|premiers|premières|primeros|primeras|primi"
    r"|prime|primeiros|eerste)"
    r"\s[*_]*$",
    re.IGNORECASE,
)
_PLUS = re.compile(r"\+(?!\s?\d)|\s?(?:or more|and more|以上|이상)")
_REACH = 32


def bound_before(text: str, start: int, end: int) -> str:
    """Tell whether a figure is said to be `over`, `under` or `about`; empty if it is exact.

    `of many` is the 3 of `the top 3`: it may be any number up to that of the rows.

    Args:
        text: The text that the figure stands in.
        start: Index of the figure.
        end: Index after it, for `1,000+`.
    """
    before = text[max(0, start - _REACH) : start]
    if _OF_MANY.search(before):
        return "of many"
    for kind, pattern in _BEFORE.items():
        if pattern.search(before):
            return kind
    return "over" if _PLUS.match(text, end) else ""
