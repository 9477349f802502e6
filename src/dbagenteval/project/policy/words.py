"""Texts and names as words that can be compared: lower case, singular."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["has_phrase", "name_words", "words_of"]


def words_of(text: str) -> list[str]:
    """Give the words of a text, lower case and singular."""
    return [_singular(word) for word in re.findall(r"[a-z0-9]+", text.casefold().replace("'s", ""))]


def name_words(name: str) -> list[str]:
    """Give the words of a name such as `order_items` or `OrderItems`."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ")
    return words_of(spaced)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Say whether the words of a phrase follow each other in a text's words."""
    return _position(words, phrase) >= 0


def _position(words: Sequence[str], phrase: Sequence[str]) -> int:
    size = len(phrase)
    if not size:
        return -1
    for index in range(len(words) - size + 1):
        if list(words[index : index + size]) == list(phrase):
            return index
    return -1
