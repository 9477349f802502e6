"""Questions that say nearly the same."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

__all__ = ["nearest", "words_of"]

_WORD = re.compile(r"\w+")
_SIMILAR = 0.85
"""Share of common words (Jaccard) from which two questions are near-duplicates: one word may be
another in a question of 13, or missing in one of 7."""

_NEGATIONS = frozenset(
    ("no", "not", "never", "without", "except", "nicht", "kein", "keine", "keinen", "nie", "ohne")
)
"""A question with one of them asks for something else, however alike it is."""

_LONGEST_LIST = 200
"""Questions looked at for each word; a word in more of them tells nothing apart."""


def words_of(question: str) -> frozenset[str]:
    """Give the words of a question, folded; every number is the same word."""
    text = unicodedata.normalize("NFKC", question).casefold()
    return frozenset("0" if word.isdecimal() else word for word in _WORD.findall(text))


def nearest(
    questions: Sequence[frozenset[str]], topics: Sequence[tuple[str, ...]] | None = None
) -> list[int]:
    """Tell for each question which earlier one it is a near-duplicate of.

    Args:
        questions: The words of each; the more important ones first.
        topics: What each is about, empty if that is not known; those about different things are
            no near-duplicates.

    Returns:
        For each the index of the first similar one that is not itself a near-duplicate, or its
        own index.
    """
    frequency = Counter(word for words in questions for word in words)
    topics = topics or [()] * len(questions)
    kept: dict[str, list[int]] = {}
    found = []
    for index, words in enumerate(questions):
        # Similar sets share one of their rarest words: of n words, all but 85 % and one more.
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(words) - math.ceil(_SIMILAR * len(words)) + 1]
        candidates = {other for word in prefix for other in kept.get(word, ())}
        similar = (
            other
            for other in sorted(candidates)
            if (not topics[index] or not topics[other] or topics[index] == topics[other])
            and _is_similar(words, questions[other])
        )
        first = next(similar, index)
        found.append(first)
        if first == index:
            for word in prefix:
                listed = kept.setdefault(word, [])
                if len(listed) < _LONGEST_LIST:
                    listed.append(index)
    return found


def _is_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    if one & _NEGATIONS != other & _NEGATIONS:
        return False
    common = len(one & other)
    return common >= _SIMILAR * (len(one) + len(other) - common)
