"""The texts in statements, and what they are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from dbagenteval.rules.query.sql import read_sql

__all__ = ["compared_texts", "core_of", "is_like", "texts_in", "with_new_literals"]

_STRINGS = (
    TokenType.STRING,
    TokenType.NATIONAL_STRING,
    TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.UNICODE_STRING,
)


def texts_in(sql: str, dialect: str) -> Iterator[str]:
    """Give the text literals of a statement."""
    for token in read_sql(sql, dialect).tokens:
        if token.token_type in _STRINGS:
            yield token.text


def compared_texts(sql: str, dialect: str) -> Iterator[tuple[str, str, bool]]:
    """Give text literals with what they are compared with.

    Yields:
        Name of the column, lower case and empty if there is none; the text; whether it is a
        pattern of LIKE.
    """
    for literal in read_sql(sql, dialect).find(exp.Literal):
        if isinstance(literal, exp.Literal) and literal.is_string:
            beside = literal.find_ancestor(exp.Predicate)
            column = beside.find(exp.Column) if beside is not None else None
            name = column.name.lower() if column is not None else ""
            yield name, literal.this, isinstance(beside, (exp.Like, exp.ILike))


def core_of(pattern: str) -> str:
    """Give what a pattern of LIKE looks for, without `%` around it."""
    return pattern.strip("%")


def is_like(text: str, pattern: str) -> bool:
    """Say whether a text is LIKE a pattern, in any case."""
    parts = ({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch("".join(parts), text, re.IGNORECASE | re.DOTALL) is not None


def with_new_literals(sql: str, dialect: str, new: Mapping[Any, Any]) -> str:
    """Give a statement with some literals, texts and whole numbers, replaced in place."""
    parsed = read_sql(sql, dialect)
    text = parsed.text
    for token in reversed(parsed.tokens):
        literal: object = None
        if token.token_type in _STRINGS and token.text in new:
            literal = "'" + new[token.text].replace("'", "''") + "'"
        elif token.token_type == TokenType.NUMBER and token.text.isdecimal():
            literal = new.get(int(token.text))
        if literal is not None:
            text = f"{text[: token.start]}{literal}{text[token.end + 1 :]}"
    return text
