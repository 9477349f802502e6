"""Function calls of a statement, and what the rules know of the functions called."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.known_functions import (
    EFFECTS,
    READING,
    KnownFunctions,
    known_functions,
)
from dbagenteval.rules.query.sql import Sql

__all__ = ["Call", "calls", "source_call", "unseen_reads"]

_BUILTIN_SCHEMAS = ("pg_catalog", "sys", "system", "main", "safe", "information_schema", "standard")
_COMBINATORS = (
    "if", "array", "map", "distinct", "ornull", "ordefault", "merge", "state", "foreach",
)  # fmt: skip
"""Endings of ClickHouse's aggregate functions."""

_NO_CALLS = (exp.And, exp.Or, exp.Xor, exp.Case, exp.If, exp.Cast, exp.Exists, exp.Columns)


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Args:
        name: As written where the tree keeps that, else the parser's name; lower case, dotted.
        names: All names it may go by.
        is_parsed: The parser knows it as a built-in function.
        is_source: It stands in FROM.
    """

    name: str
    names: frozenset[str]
    is_parsed: bool
    is_source: bool

    def effect(self, known: KnownFunctions) -> str | None:
        """Give the section of what it does beyond computing, or None."""
        for name in sorted(self.names, key=len, reverse=True):
            if name in known.effects and not (self.is_parsed and name in known.pure):
                return known.effects[name]
        return None

    def is_known(self, known: KnownFunctions) -> bool:
        """True if it is a built-in function that the rules know."""
        schema, _, last = self.name.rpartition(".")
        if schema and schema not in _BUILTIN_SCHEMAS:
            return self.name in known.pure or self.name in known.rows
        if self.is_parsed:
            return True
        has_combinators = "grouparray" in known.pure
        names = _without_ends(last) if has_combinators else iter((last,))
        return any(name in known.pure or name in known.rows for name in names)


def _without_ends(name: str) -> Iterator[str]:
    """Give a name, and it without the endings by which ClickHouse combines aggregates."""
    yield name
    for end in _COMBINATORS:
        if name.endswith(end) and len(name) > len(end):
            yield from _without_ends(name[: -len(end)])


def calls(sql: Sql) -> list[Call]:
    """Give all calls of all statements."""
    return sql.memo("calls", lambda: [_call(node) for node in sql.find(exp.Func) if _is_call(node)])


def _is_call(node: exp.Expr) -> bool:
    return not isinstance(node, _NO_CALLS)


def _call(node: exp.Expr) -> Call:
    is_parsed = not isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc))
    last = {node.name.lower()} if not is_parsed else {name.lower() for name in _sql_names(node)}
    written = node.meta.get("name")
    if is_parsed and isinstance(written, str):
        last.add(written.lower())
    prefix = _prefix(node)
    names = {prefix + name for name in last} | last
    parent = node.parent
    return Call(
        prefix + min(last, key=lambda name: (name.count("_"), name)),
        frozenset(names),
        is_parsed,
        isinstance(parent, (exp.Table, exp.Lateral, exp.From, exp.Join)),
    )


def _sql_names(node: exp.Expr) -> list[str]:
    return type(node).sql_names() if isinstance(node, exp.Func) else []


def _prefix(node: exp.Expr) -> str:
    """Give the dotted schema or package before a call, with its last dot."""
    parts: list[str] = []
    parent = node.parent
    if isinstance(parent, exp.Table):
        parts = [part.name for key in ("catalog", "db") if (part := parent.args.get(key))]
    if isinstance(parent, exp.Dot) and parent.expression is node:
        left = parent.this
        if isinstance(left, exp.Expr):
            parts = [part.name for part in left.find_all(exp.Identifier)] or [left.name]
    return "".join(f"{part.lower()}." for part in parts if part)


def source_call(node: exp.Expr) -> Call | None:
    """Give the call that a FROM item is, or None."""
    inner = node
    while isinstance(inner, (exp.Table, exp.Lateral)) and isinstance(inner.this, exp.Expr):
        inner = inner.this
    return _call(inner) if isinstance(inner, exp.Func) else None


def unseen_reads(sql: Sql, allowed: Collection[str] = (), *, strict: bool = False) -> str | None:
    """Name a function that may read tables without the SQL showing which.

    Args:
        sql: The text.
        allowed: Names of functions that the user vouches for, lower case; `*` for all.
        strict: Functions that nobody knows count too, not only those known to read.
    """
    known = known_functions(base_name(sql.dialect))
    for call in calls(sql):
        if call.names & set(allowed):
            continue
        effect = call.effect(known)
        if effect in READING:
            return f"calls {call.name}(), which {EFFECTS[effect]}: the rule can't see what"
        if (strict or call.is_source) and "*" not in allowed and not call.is_known(known):
            return (
                f"calls {call.name}(), which is no function known of the database and may read "
                "any table; allowed_functions can vouch for it"
            )
    return None
