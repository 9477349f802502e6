"""The structure of SQL: one text for all queries that do the same with other values and names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dbagenteval.failures.literals import DATE, telling
from dbagenteval.failures.shape_reader import read_shape
from dbagenteval.rules.query.dialects import from_system_name
from dbagenteval.rules.query.names import folding
from dbagenteval.rules.query.raw_text import trim

__all__ = ["Outline", "outline", "structure"]

_CACHED_CHARS = 65_536
_MAX_CHARS = 1_500_000
_MAX_TOKENS = 20_000
_SHOWN_CHARS = 4_000

_STRINGS = frozenset(
    kind for kind in TokenType if kind.name.endswith("STRING") and "LINE" not in kind.name
)
_PATHS = frozenset((TokenType.ARROW, TokenType.DARROW, TokenType.HASH_ARROW, TokenType.DHASH_ARROW))
_WORD = re.compile(
    r"'(?:[^']|'')*'?|\"[^\"]*\"?|--[^\n]*|/\*.*?(?:\*/|$)|[\w$]+|[^\s\w]", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a query does, and what of.

    Args:
        structure: The canonical text, at most 4,000 characters; the rest stands as a digest.
        tables: The tables that it reads, sorted; empty if the text can't be analysed.
    """

    structure: str
    tables: tuple[str, ...] = ()


def structure(sql: str, dialect: str | None = None) -> str:
    """Give the canonical text of what a query does.

    Queries that differ in aliases, spelling, spacing, comments, literal values or the order of
    conditions have one structure; another table, filter, join, aggregate or order of columns
    gives another. Text that can't be analysed gives its words with the literals taken out. Never
    raises; at most 4,000 characters, the rest stands as a digest.

    Args:
        sql: One or more statements, as the agent wrote them.
        dialect: sqlglot's name of the dialect or a database's own, or None.
    """
    return outline(sql, dialect).structure


def outline(sql: str, dialect: str | None = None) -> Outline:
    """Give the structure and the tables; see `structure`."""
    if len(sql) > _CACHED_CHARS:
        return _outline(sql, dialect)
    return _cached(sql, dialect)


def _outline(sql: str, dialect: str | None) -> Outline:
    dialect = None if dialect is None else from_system_name(dialect)
    sql = trim(sql)
    if len(sql) <= _MAX_CHARS:
        masked = _masked(sql, dialect)
        if masked is not None:
            return _of_masked(*masked, dialect)
    return Outline(_cut(" ".join(_words(sql[:_MAX_CHARS]))))


_cached = lru_cache(maxsize=4096)(_outline)


@lru_cache(maxsize=4096)
def _of_masked(masked: str, token_count: int, dialect: str | None) -> Outline:
    shape = read_shape(masked, dialect) if token_count <= _MAX_TOKENS else None
    if shape is None:
        return Outline(_cut(" ".join(_words(masked))))
    return Outline(_cut(str(shape)), shape.tables)


def _cut(text: str) -> str:
    if len(text) <= _SHOWN_CHARS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[: _SHOWN_CHARS - 20]} … {digest}"


def _masked(sql: str, dialect: str | None) -> tuple[str, int] | None:
    """Put one literal in place of all of its type: queries of one template become one text.

    Positions in ORDER BY and GROUP BY matter, so numbers of one or two digits stay. Words that
    stand together stay so: they may be names in brackets or backticks of another dialect.

    Returns:
        The text, which parses as the given one does, and its number of tokens; None if the
        tokenizer does not take it.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except (SqlglotError, ValueError, RecursionError):
        return None
    fold = folding(dialect)
    keeps_case = fold.tables_keep_case or fold.columns_keep_case
    found: list[str] = []
    opened, end = -1, 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1].token_type if index else None
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            opened = len(found) + 1 if before is TokenType.IN else -1
        elif kind is TokenType.R_PAREN and opened >= 0:
            found[opened:] = [", ".join(sorted(set(found[opened:]) - {","}))]
            opened = -1
        elif kind not in _STRINGS and kind is not TokenType.NUMBER and kind is not TokenType.COMMA:
            opened = -1
        if token.start > end and opened < 0:
            found.append(" ")
        end = token.end + 1
        found.append(_token(sql, token, before, is_listed=opened >= 0, keeps_case=keeps_case))
    return "".join(found), len(found)


def _token(
    sql: str, token: Token, before: TokenType | None, *, is_listed: bool, keeps_case: bool
) -> str:
    kind, text = token.token_type, sql[token.start : token.end + 1]
    if kind is TokenType.NUMBER:
        return text if text.isdigit() and len(text) <= 2 and not is_listed else "100"
    if kind in _STRINGS and before not in _PATHS:
        told = telling(token.text)
        if told is not None:
            return f"'{told}'"
        return "'2000-01-01'" if DATE.fullmatch(token.text) else "'text'"
    if kind in _STRINGS or kind is TokenType.IDENTIFIER or keeps_case:
        return text
    return text.lower()


def _words(sql: str) -> Iterator[str]:
    """Give the words of a text that has no structure: folded, with the literals taken out."""
    for word in _WORD.findall(sql):
        if word.startswith(("--", "/*")):
            continue
        if word.startswith("'"):
            yield ":text"
        elif word[0].isdigit():
            yield ":number"
        else:
            yield word if word.startswith('"') else word.lower()
