"""How names stand in canonical text, and how they are found there again."""

from __future__ import annotations

import re

__all__ = ["COLUMN", "LONG_NAME", "MARK", "NUMBERED", "QUALIFIED", "UNQUALIFIED", "last", "written"]

_PART = r'(?:"[^"]+"|§?\w[\w$]*(?:#\d+)?)'

MARK = re.compile("§[0-9a-f]{12}")
"""Stands for an inner query by what is in it, until the whole statement is known."""

NUMBERED = re.compile(r"#\d+(?=\.|$)")
"""The second and later uses of a table in one query."""

COLUMN = re.compile(rf"\^?{_PART}?(?:\.{_PART})+")
"""A plain column; `^` says that an outer query reads it. One that may belong to several tables
starts with its dot."""

UNQUALIFIED = re.compile(r"(?<![\w\])`\".$'])\.(\"[^\"]+\"|\w[\w$]*)")
"""A column that may belong to several tables."""

QUALIFIED = re.compile(rf"(?<![\w$'.])({_PART})\.({_PART})(?![\w$(])")
"""A column of a table."""

LONG_NAME = re.compile(rf"(?:{_PART}\.)+(?={_PART}\.(?:{_PART}|\*))")
"""What stands before table and column."""

_PARTS = re.compile(_PART)
_PLAIN = re.compile(r"\w[\w$]*")


def written(name: str) -> str:
    """Write a name down, in quotes if it is no plain word."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', "") + '"'


def last(name: str) -> str:
    """Give the last part of a written name."""
    parts = _PARTS.findall(name)
    return parts[-1] if parts else name
