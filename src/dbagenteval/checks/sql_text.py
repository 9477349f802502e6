"""The little that is read off the text of a query without parsing it.

A parser lives in the rules; what stands here only words warnings and finds the outermost ORDER BY
and LIMIT of a reference query that its author trusts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

__all__ = [
    "doubled_columns",
    "has_outer_order_by",
    "looks_like_statement",
    "reads_a_source",
    "without_limit",
]

_TOKEN = re.compile(
    r"""
    (?P<skip>--[^\n\r]*|/\*.*?(?:\*/|\Z)|\s+)
    |(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\[\]\n]*\]|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<word>\w+)
    |(?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_Token = tuple[str, int, int, bool]
"""Lower-case text, start, depth, whether it is quoted."""

_END_OF_ORDER_BY = {"limit", "offset", "fetch", "for", ";"}
_END_OF_SELECT_LIST = {"from", "where", "group", "order", "limit", "union", "except", "intersect"}
_STATEMENTS = {"select", "values", "insert", "update", "delete", "merge", "replace", "create"} | {
    *("drop", "alter", "truncate", "grant", "revoke", "explain", "describe", "pragma", "call"),
    *("exec", "execute", "show", "copy"),
}
_OPERATORS = {"+", "-", "*", "/", "%", "|", "<", ">", "="}
_NEED_SELECT = {"with", "from"}
_FENCE = re.compile(r"\s*```\w*")
_AFTER_ORDER_BY = {"union", "except", "intersect", "select"}


def _tokens(sql: str) -> Iterator[tuple[str, int, int, bool]]:
    """Give lower-case text, start, depth and "is quoted" of each token but space and comments."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        if match.lastgroup == "skip":
            continue
        text = match.group()
        if text in _CLOSING:
            depth -= 1
        yield text.lower(), match.start(), depth, match.group("quoted") is not None
        if text in _OPENING:
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


def order_columns(sql: str, names: Sequence[str]) -> tuple[str, ...]:
    """Give what the result as a whole is ordered by, as output columns where it is one.

    Args:
        sql: A query.
        names: Its output columns, in order.

    Returns:
        For each item of the outermost ORDER BY the output column's name; for what is no output
        column, its text, which is no name in `names`. Empty without such an ORDER BY.
    """
    if not has_outer_order_by(sql):
        return ()
    tokens = list(_tokens(sql))
    start = max(
        position
        for position, (one, other) in enumerate(pairwise(tokens))
        if (one[0], other[0], one[2]) == ("order", "by", 0) and not one[3]
    )
    folded = {name.casefold(): name for name in names}
    written = {" ".join(item): name for item, name in _aliased_items(tokens)}
    found = []
    for item in _split(tokens[start + 2 :], _END_OF_ORDER_BY):
        text = " ".join(_without_direction(item))
        last = text.rpartition(" . ")[2].strip('"`[]')
        if text.isdigit() and 0 < int(text) <= len(names):
            found.append(names[int(text) - 1])
        elif last.casefold() in folded:
            found.append(folded[last.casefold()])
        else:
            found.append(folded.get(written.get(text, "").casefold(), f"({text})"))
    return tuple(found)


def _aliased_items(tokens: Sequence[_Token]) -> Iterator[tuple[list[str], str]]:
    """Give the expressions of the outermost SELECT that have a name, with the name."""
    for position, (text, _, depth, quoted) in enumerate(tokens):
        if text == "select" and not depth and not quoted:
            for item in _split(tokens[position + 1 :], _END_OF_SELECT_LIST):
                if len(item) > 2 and item[-2] == "as":
                    yield item[:-2], item[-1].strip('"`[]')
            return


def _split(tokens: Sequence[_Token], ends: set[str]) -> Iterator[list[str]]:
    """Split a list at its commas, up to the clause that ends it."""
    item: list[str] = []
    for text, _, depth, quoted in tokens:
        if not depth and not quoted and text in ends:
            break
        if not depth and not quoted and text == ",":
            yield item
            item = []
        else:
            item.append(text)
    yield item


def _without_direction(item: list[str]) -> list[str]:
    while item and item[-1] in ("asc", "desc", "nulls", "first", "last"):
        item = item[:-1]
    return item


def reads_a_source(sql: str) -> bool:
    """Say whether the query names anything it reads: it has a FROM or a JOIN somewhere."""
    return any(
        text in ("from", "join", "table") for text, _, _, quoted in _tokens(sql) if not quoted
    )


def looks_like_statement(text: str) -> bool:
    """Say whether a text begins as a statement does, and not as a sentence about one."""
    fence = _FENCE.match(text)
    words = [
        word
        for word, _, _, quoted in _tokens(text[fence.end() :] if fence else text)
        if not quoted and word != "("
    ]
    if not words:
        return False
    return words[0] in _STATEMENTS or (words[0] in _NEED_SELECT and "select" in words)


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
    """Count the outermost SELECT's columns and find output names that it may give twice.

    Expressions without a name get one from the database, the same for several of them: `count`,
    `?column?`, or none at all.

    Returns:
        How many columns there are and the doubled names, `unnamed expressions` where there are
        several of those; `(0, [])` where a `*` or the parameters
        of a type hide the number.
    """
    items = [item for item in _select_items(sql) if item]  # some dialects end it with a comma
    if any(_hides_the_number(item) for item in items):
        return 0, []
    names = [item[-1].strip('"`[]') for item in items if not _is_unnamed(item)]
    doubled = sorted({name for name in names if names.count(name) > 1})
    return len(items), doubled + ["unnamed expressions"] * (len(items) - len(names) > 1)


def _is_unnamed(item: list[str]) -> bool:
    last, before = item[-1], item[-2] if len(item) > 1 else ""
    if last in (")", "]", "end") or last[0] in "'0123456789[" or before in _OPERATORS:
        return before != "as"
    return False


def _hides_the_number(item: list[str]) -> bool:
    if item[0] == "*" or item[-1] == "*" or item[0] == "columns":
        return True
    pairs = set(pairwise(item))
    # `t.* EXCLUDE (a)`, and the comma of `STRUCT<a INT64, b STRING>(1, 'x')`
    return (".", "*") in pairs or any((kind, "<") in pairs for kind in ("struct", "array", "map"))


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
