"""Finding: what became of one claim of an answer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one claim.

    Args:
        state: `holds`, `fails` or `unclear` (the rows don't tell).
        detail: Why, for a person.
    """

    state: str
    detail: str
