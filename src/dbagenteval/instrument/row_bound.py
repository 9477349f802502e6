"""How many rows a statement can give at most, as far as its text says so for sure."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["at_most"]

_NOISE = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[\w[^\]]*\]", re.DOTALL
)
_QUERY = re.compile(r"[\s(]*(?:select|with|values)\b", re.IGNORECASE)  # not EXPLAIN, SHOW, …
_LIMIT = re.compile(r"\blimit\s+(\d+)\s*(?:offset\s+\d+\s*)?$", re.IGNORECASE)
_FETCH = re.compile(r"\bfetch\s+(?:first|next)\s+(?:(\d+)\s+)?rows?\s+only$", re.IGNORECASE)
_SELECT_LIST = re.compile(r"^\s*select\b(.*?)\bfrom\b(.*)$", re.IGNORECASE | re.DOTALL)
_SELECT_ALONE = re.compile(r"^\s*select\b(.*)$", re.IGNORECASE | re.DOTALL)
_MORE_ROWS = re.compile(
    r"\b(?:group|union|intersect|except|minus|over|qualify|unnest|explode|into)\b",
    re.IGNORECASE,
)
_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_AGGREGATES = frozenset({"count", "sum", "avg", "total", "stddev", "variance", "median"})
# Aggregates with one argument; with more, SQLite takes them for the greatest and least value.
_EXTREMES = frozenset({"min", "max"})
# What gives one value for a row, and words that may stand before a bracket.
_SCALARS = frozenset(
    [
        "round",
        "coalesce",
        "ifnull",
        "nullif",
        "abs",
        "cast",
        "lower",
        "upper",
        "length",
        "julianday",
        "strftime",
        "date",
        "distinct",
        "filter",
        "in",
        "and",
        "or",
        "not",
        "when",
        "then",
        "else",
        "case",
    ]
)


@lru_cache(maxsize=1024)
def at_most(sql: str) -> int | None:
    """Give the most rows that a statement can return, or None if its text doesn't say.

    A plain aggregate over a whole table gives one row, `LIMIT 5` at the end five. Whatever is not
    plain says nothing: no program fetches to the end of what it knows to be one row, and then only
    this tells that the row is the whole result.
    """
    plain = _NOISE.sub(_without_noise, sql).strip().rstrip("; \n\t")
    if (
        not _QUERY.match(plain) or ";" in plain or "#" in plain
    ):  # several statements, or a comment that MySQL alone knows
        return None
    bounds = [int(found[1] or 1) for found in (_LIMIT.search(plain), _FETCH.search(plain)) if found]
    if _is_one_aggregate(plain):
        bounds.append(1)
    return min(bounds) if bounds else None


def _without_noise(found: re.Match[str]) -> str:
    """Leave nothing of a comment, and a word of a text or a quoted name."""
    return " " if found[0].startswith(("--", "/*")) else " x "


def _is_one_aggregate(plain: str) -> bool:
    found = _SELECT_LIST.match(plain)
    if _MORE_ROWS.search(plain):
        return False
    alone = _SELECT_ALONE.match(plain)  # one row of constants
    listed = found[1] if found is not None else alone[1] if alone is not None else None
    if listed is None:
        return False
    calls = [name.lower() for name in _CALL.findall(listed)]
    is_whole = listed.count("(") == listed.count(")") and not re.search(
        r"\bselect\b", listed, re.IGNORECASE
    )
    if not is_whole or not all(name in _AGGREGATES | _EXTREMES | _SCALARS for name in calls):
        return False
    if found is None or any(name in _AGGREGATES for name in calls):
        return True
    return any(name in _EXTREMES for name in calls) and "," not in listed
