"""Vague figures: words that claim a quantity which can't be held against a cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.fate import Fate

__all__ = ["vague_notes"]

_WORDS = re.compile(
    r"(?<!\w)(?:(?:tens|dozens|hundreds|thousands|millions|billions|trillions)(?: of)?"
    r"|(?:more than )?(?:doubled?|tripled?|quadrupled?|halved)|(?:two|three|four|five|ten)fold"
    r"|dutzende|hunderte|tausende|millionen von|verdoppelt\w*|verdreifacht\w*|halbiert\w*"
    r"|(?:des )?(?:dizaines|centaines|milliers|millions) de|doublé\w*|triplé\w*"
    r"|(?:decenas|cientos|miles|millones) de|(?:centinaia|migliaia|milioni) di"
    r"|(?:centenas|milhares|milhões) de)(?!\w)",
    re.IGNORECASE,
)
_MOST_WORDS = 200


def vague_notes(answer: str, fates: Sequence[Fate], most_rows: int) -> list[str]:
    """Name the vague figures that nobody checked: two thirds, millions of, doubled, #43.

    Args:
        answer: The answer.
        fates: What became of its figures.
        most_rows: Rows of the largest result; `#2` of three rows is a rank.
    """
    found = [fate.figure.text for fate in fates if _is_unchecked(fate, most_rows)]
    words = [fate.figure for fate in fates if fate.figure.word][:_MOST_WORDS]
    covered = [(figure.start, figure.end) for figure in words]
    found += [
        match[0]
        for match in _WORDS.finditer(normal_text(answer))
        if not any(start <= match.start() < end for start, end in covered)
    ]
    return [f"{text!r} is a vague figure that was not checked" for text in dict.fromkeys(found)]


def _is_unchecked(fate: Fate, most_rows: int) -> bool:
    if fate.state != "ignored":
        return False
    if fate.figure.kind == "fraction":
        return True
    digits = fate.figure.text.lstrip("#")
    is_rank = fate.figure.kind == "ordinal" and fate.figure.text.startswith("#")
    return is_rank and digits.isdigit() and int(digits) > most_rows
