"""What the tokens of an SQL text tell before it is parsed: texts that databases read differently.

The parser decides what is a comment and what is a string. Where databases decide otherwise, the
same text is another statement to them, so the rules refuse it and say why. Only what lies between
the tokens is looked at, so a marker inside a string literal is no comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from dbagenteval.rules.query.dialects import base_name

__all__ = ["MAX_NESTING", "MAX_TOKENS", "inferred_dialect", "nesting", "text_problem", "trim"]

MAX_NESTING = 250
"""Open brackets, CASEs and prefix operators at one place; the parser needs about 3 stack frames
for each and Python's limit is 1,000."""

MAX_TOKENS = 400_000
"""About 700 kB of conditions or a list of 200,000 values; parsing them takes 2 to 4 s."""

_FREE_NESTING = 20
_NESTING_CHARS = "([{-+~"
"""What nests has one of these characters, CASE or NOT for each level."""

_MAX_OPEN_JOINS = 12
"""JOINs that still wait for their ON; the parser's time doubles with each."""

_MYSQL = ("mysql", "doris", "starrocks", "singlestore")
_CR_ENDS_COMMENT = ("postgres", "redshift", "materialize", "risingwave", "duckdb")
_UNICODE_ESCAPES = ("", "postgres", "redshift", "materialize", "risingwave", "trino", "presto")
_MARKS = ("/*", "--", "#", "//", "\r", "{%")
_FILTER_STEPS = (
    "WHERE", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "AS",
)  # fmt: skip
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060 \t\r\n\f\v"
_ODD_BLANK = re.compile(
    "[\u0085\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]"
)
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_ENDS_JOIN = {TokenType.ON, TokenType.USING}
_JOIN_STEPS = {
    TokenType.JOIN: 1,
    TokenType.ON: -1,
    TokenType.USING: -1,
    TokenType.CROSS: -1,
    TokenType.NATURAL: -1,
}
_COUNTED = _OPENING | _CLOSING | _PREFIX | set(_JOIN_STEPS)


def trim(sql: str) -> str:
    """Take off byte-order marks, zero-width characters and blanks at both ends."""
    return sql.strip(_INVISIBLE)


def nesting(sql: str, tokens: list[Token]) -> tuple[int, str | None]:
    """Give the deepest nesting, and why the statement is too much to be parsed safely, if so."""
    if len(tokens) > MAX_TOKENS:
        return 0, f"SQL is too long to analyse ({len(tokens)} tokens, at most {MAX_TOKENS})"
    bound = _bound(sql)
    if bound is not None:
        return bound, None
    depth = deepest = prefix = 0
    joins = [0]
    for token in tokens:
        kind = token.token_type
        if kind not in _COUNTED:
            prefix = 0
            continue
        if kind in _PREFIX:
            prefix += 1
        elif kind in _OPENING:
            depth += 1
            joins.append(0)
        elif kind in _CLOSING:
            depth -= 1
            joins = joins[:-1] if len(joins) > 1 else joins
        else:
            joins[-1] = max(joins[-1] + _JOIN_STEPS[kind], 0 if kind in _ENDS_JOIN else -1)
        deepest = max(deepest, depth + prefix)
        if deepest > MAX_NESTING:
            return deepest, "SQL is too deeply nested to analyse"
        if joins[-1] > _MAX_OPEN_JOINS:
            return deepest, "has too many JOINs without ON or USING to analyse"
    return deepest, None


def _bound(sql: str) -> int | None:
    """Give what the nesting is at most, by counting characters; None if they must be followed."""
    bound = sum(map(sql.count, _NESTING_CHARS))
    if bound > _FREE_NESTING:
        return None
    words = sql.upper()
    bound += words.count("CASE") + words.count("NOT")
    is_fine = bound <= _FREE_NESTING and words.count("JOIN") <= _MAX_OPEN_JOINS
    return bound if is_fine else None


def text_problem(sql: str, tokens: list[Token], dialect: str | None) -> str | None:
    """Say why databases may read this text as another statement than the parser does, if so."""
    name = base_name(dialect)
    if tokens and tokens[0].token_type is TokenType.TABLE:
        return "TABLE statements are not supported; write SELECT * FROM ..."
    if "\0" in sql:
        return "contains a NUL character, at which some databases stop reading"
    is_plain = sql.isascii() and not any(mark in sql for mark in _MARKS)
    for gap in () if is_plain else _gaps(sql, tokens):
        problem = _gap_problem(gap, name)
        if problem:
            return problem
    return _pipe_problem(sql, tokens) or _token_problem(sql, tokens, name)


def has_escaped_quote(sql: str) -> bool:
    """Whether a backslash stands before a quote, where databases differ on the text's end."""
    return "\\'" in sql or '\\"' in sql


def inferred_dialect(sql: str) -> str | None:
    """Give the dialect that a text without one must be in, if its marks say so.

    Asked only for texts that the standard's reading refuses. Double quotes beside backticks are
    left alone: what they mean differs between the databases that take backticks.
    """
    if re.search(r"\bSELECT\s+(DISTINCT\s+)?TOP\b", sql, re.IGNORECASE) or re.search(
        r"\[\w+\]", sql
    ):
        return "tsql"
    if "`" in sql and '"' not in sql:
        return "bigquery" if re.search(r"`[^`]*\.[^`]*`", sql) else "mysql"
    return "postgres" if re.search(r"\s!?~\*?\s", sql) else None


def _gaps(sql: str, tokens: list[Token]) -> Iterator[str]:
    """Give the texts between tokens that hold more than plain blanks."""
    end = 0
    for token in tokens:
        gap = sql[end : token.start]
        if (gap and not gap.isascii()) or (len(gap) > 1 and gap.strip(" \n\t")):
            yield gap
        end = token.end + 1
    if end < len(sql):
        yield sql[end:]


def _gap_problem(gap: str, name: str) -> str | None:
    if "{#" in gap:
        return "contains '{#', which is read as a comment here but not by databases"
    if (not name or name in _MYSQL) and re.search(r"/\*M?!", gap):
        return "contains a MySQL executable comment (/*! ... */), which hides SQL"
    if name in _MYSQL and re.search(r"--[^\s]", gap.split("/*", 1)[0]):
        return "contains '--' with no space after it, which MySQL does not read as a comment"
    if not name and gap.count("/*") > 1 and "/*" in gap[gap.find("/*") + 2 : gap.find("*/")]:
        return "contains a nested block comment; set `dialect` so it is read correctly"
    if name not in _CR_ENDS_COMMENT and re.search(r"(--|#|//)[^\n]*?\r(?!\n)", gap):
        return "contains a comment ended by a lone carriage return, which databases read on"
    if _ODD_BLANK.search(re.sub(r"/\*.*?\*/|--[^\n]*", "", gap, flags=re.DOTALL)):
        return "contains a blank that is no plain space, tab or line end"
    return None


def _pipe_problem(sql: str, tokens: list[Token]) -> str | None:
    """Refuse pipes that filter or join after another step: the parser puts all filters first."""
    if "|>" not in sql:
        return None
    steps = [
        after.text.upper()
        for pipe, after in pairwise(tokens)
        if sql[pipe.start : pipe.end + 1] == "|>"
    ]
    others = [at for at, step in enumerate(steps) if step not in _FILTER_STEPS]
    if others and any(step in _FILTER_STEPS for step in steps[others[0] :]):
        return "filters or joins after another step of a pipe (|>), which cannot be analysed"
    return None


def _token_problem(sql: str, tokens: list[Token], name: str) -> str | None:
    if "&" in sql and name in _UNICODE_ESCAPES:
        for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if (
                second.token_type is TokenType.AMP
                and first.text.upper() == "U"
                and first.end + 1 == second.start
                and second.end + 1 == third.start
                and third.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
            ):
                return 'contains a U&"..." escape, which cannot be analysed'
    return None
