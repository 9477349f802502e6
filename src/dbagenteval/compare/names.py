"""What column names say: which two belong together, and which two contradict each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["affinity", "contradicts", "is_row_number", "named_pairs", "words"]

_WORD = re.compile(
    r"(?<![A-Za-z])[QqHh][1-4](?!\d)|(?<!\d)\d{4}(?!\d)"  # quarters, halves and years
    r"|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+"
)
_SAME_WORD = {
    "average": "avg",
    "mean": "avg",
    "minimum": "min",
    "lowest": "min",
    "smallest": "min",
    "maximum": "max",
    "highest": "max",
    "largest": "max",
    "cnt": "count",
    "num": "count",
    "number": "count",
    "qty": "quantity",
    "amt": "amount",
    "pct": "percent",
    "percentage": "percent",
    "cust": "customer",
    "dt": "date",
}
_SILENT_WORDS = frozenset(("of", "the", "a", "by", "per", "in", "for", "and", "distinct", "as"))
_EXPLICIT = frozenset(("min", "max", "avg"))
_ADDITIVE = frozenset(("count", "sum", "total"))
_COMMON_WORD = 0.25
"""Weight of words that name nearly any measure."""
_TIME_WORDS = frozenset(
    ("duration", "time", "wait", "delay", "elapsed", "length", "runtime", "latency", "age")
)
_ROW_NUMBERS = frozenset(
    ("row_number", "rownumber", "row_num", "rownum", "row_no", "rn", "row", "idx", "index", "#")
)


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """Split a column name into its words: lower case, singular, one word per idea."""
    found = set()
    for word in _WORD.findall(name):
        lower = word.casefold()
        if len(lower) == 1 and lower.isascii():
            continue  # `c1` and `c2` are numbered, not named
        if len(lower) > 3 and lower.endswith("s") and not lower.endswith("ss"):
            lower = lower[:-1]
        found.add(_SAME_WORD.get(lower, lower))
    return frozenset(found - _SILENT_WORDS)


def _aggregates(name: str) -> frozenset[str]:
    found = words(name) & (_EXPLICIT | _ADDITIVE)
    if "min" in found and (words(name) & _TIME_WORDS or not re.match(r"\W*min", name.casefold())):
        found -= {"min"}  # minutes
    return found


def contradicts(expected: str, actual: str) -> bool:
    """Tell whether the actual name says it is another aggregate than the expected one, or an id.

    `total` and `count` are common nouns, so on the actual side only min, max and avg count.
    """
    wanted, given = _aggregates(expected), _aggregates(actual)
    if wanted and "id" in words(actual) - words(expected):
        return True
    return bool(wanted and given) and given <= _EXPLICIT and not wanted & given


def is_row_number(name: str) -> bool:
    """Tell whether a name is that of a column that counts the rows."""
    return name.strip().casefold() in _ROW_NUMBERS


def affinity(expected: str, actual: str, others: Sequence[str]) -> float:
    """Say how much two names have in common.

    Args:
        expected: Name in the expected result.
        actual: Name in the actual result.
        others: All expected names: a word that many of them have weighs little.
    """
    score = 0.0
    for word in words(expected):
        shared = max((_likeness(word, other) for other in words(actual)), default=0.0)
        if shared:
            weight = _COMMON_WORD if word in _ADDITIVE else 1.0
            score += weight * shared / sum(word in words(name) for name in others)
    return score


def _likeness(word: str, other: str) -> float:
    if word == other:
        return 1.0
    short, long = sorted((word, other), key=len)
    return 0.8 if len(short) >= 4 and long.startswith(short) else 0.0


def named_pairs(expected: Sequence[str], actual: Sequence[str]) -> dict[int, int]:
    """Pair columns of the same name: exact names first, then without regard to case.

    Returns:
        Index of the expected column to index of the actual one.
    """
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for spelling in (str, str.casefold):
        places: dict[str, list[int]] = {}
        for j, name in enumerate(actual):
            if j not in taken:
                places.setdefault(spelling(name), []).append(j)
        for i, name in enumerate(expected):
            free = places.get(spelling(name))
            if i not in pairs and free:
                pairs[i] = free.pop(0)
                taken.add(pairs[i])
    return pairs
