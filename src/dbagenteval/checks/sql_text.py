"""The little that is read off the text of a query without parsing it.

A parser lives in the rules; what stands here only words warnings and finds the outermost ORDER BY
and LIMIT of a reference query that its author trusts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["doubled_columns", "has_outer_order_by", "reads_a_source", "without_limit"]

_TOKEN = re.compile(
    r"""
    (?P<skip>--[^\n\r]*|/\*.*?(?:\*/|\Z)|\s+)
    |(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]\n]*\]|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<word>\w+)
    |(?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_END_OF_SELECT_LIST = {"from", "where", "group", "order", "limit", "union", "except", "intersect"}
_AFTER_ORDER_BY = {"union", "except", "intersect", "select"}


def _tokens(sql: str) -> Iterator[tuple[str, int, int, bool]]:
    """Give lower-case text, start, depth and "is quoted" of each token but space and comments."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        if match.lastgroup == "skip":
            continue
        text = match.group()
        if text == ")":
            depth -= 1
        yield text.lower(), match.start(), depth, match.group("quoted") is not None
        if text == "(":
            depth += 1


def _outer_words(sql: str) -> list[tuple[str, int]]:
    return [(text, start) for text, start, depth, quoted in _tokens(sql) if not depth | quoted]


def has_outer_order_by(sql: str) -> bool:
    """Say whether the result as a whole is ordered."""
    words = [text for text, _ in _outer_words(sql)]
    positions = [
        position for position, pair in enumerate(pairwise(words)) if pair == ("order", "by")
    ]
    return bool(positions) and not _AFTER_ORDER_BY.intersection(words[positions[-1] :])


def reads_a_source(sql: str) -> bool:
    """Say whether the query names anything it reads: it has a FROM or a JOIN somewhere."""
    return any(
        text in ("from", "join", "table") for text, _, _, quoted in _tokens(sql) if not quoted
    )


def without_limit(sql: str) -> str | None:
    """Give the query without its outermost LIMIT or FETCH FIRST, or None if it has none."""
    words = _outer_words(sql)
    for position in range(len(words) - 1, -1, -1):
        text, start = words[position]
        following = words[position + 1][0] if position + 1 < len(words) else ""
        if text == "limit" or (text == "fetch" and following in ("first", "next")):
            return sql[:start].rstrip()
    return None


def doubled_columns(sql: str) -> tuple[int, list[str]]:
    """Count the outermost SELECT's columns and find output names that it gives twice.

    Returns:
        How many columns there are and the doubled names; `(0, [])` where a `*` hides the number.
    """
    items = _select_items(sql)
    if any("*" in (item[0], item[-1]) for item in items if item):
        return 0, []
    names = [item[-1].strip('"`[]') for item in items if item and item[-1] != ")"]
    return len(items), sorted({name for name in names if names.count(name) > 1})


def _select_items(sql: str) -> list[list[str]]:
    """Split the list of the first outermost SELECT at its commas; inner tokens are left out."""
    items: list[list[str]] = []
    for text, _, depth, quoted in _tokens(sql):
        if depth:
            continue
        if not quoted and text == "select" and not items:
            items = [[]]
        elif items and not quoted and text in _END_OF_SELECT_LIST:
            break
        elif items and text == "," and not quoted:
            items.append([])
        elif items:
            items[-1].append(text)
    return items
