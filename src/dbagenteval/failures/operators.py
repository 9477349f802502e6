"""Which operators of SQL a statement uses, by the names that coverage counts them under."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbagenteval.failures.names import MARK
from dbagenteval.failures.shape import Block, Shape

__all__ = ["OPERATORS", "operators_of"]

_IN_TEXT = {
    "window function": r"\bOVER \(",
    "CASE": r"\bCASE\b",
    "OR": r"\bOR\b",
    "NOT": r"\bNOT\b|<>",
    "IN list": r"\bIN \(:",
    "LIKE": r"LIKE\b|\bREGEXP|\bSIMILAR",
    "NULL handling": r"\bNULL\b|\bCOALESCE\(|\bNULLIF\(",
    "date literal": r":date\b",
    "date part": r"TRUNC\('|\bEXTRACT\(|\bYEAR\(|\bMONTH\(|\bDAY\(|_TO_STR\(|\bSTRFTIME\(",
    "date arithmetic": r"\bINTERVAL\b|\bDATE_?(ADD|SUB|DIFF)|\bJULIANDAY|\d (day|month|year)s'",
    "current date": r"\bCURRENT_(DATE|TIME)|\bNOW\(|'now'",
    "division": r" / ",
    "rounding": r"\bROUND\(",
    "text function": r"\b(UPPER|LOWER|TRIM|SUBSTRING|SUBSTR|CONCAT|REPLACE|LENGTH)\(|\|\|",
    "JSON": r"\bJSON",
    "cast": r"CAST\(",
    "FILTER": r"\bFILTER\b",
    "correlated subquery": r"\^",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _IN_TEXT.items()}
_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_CLAUSES = {"GROUP BY": "group", "HAVING": "having", "ORDER BY": "order", "DISTINCT": "distinct"}
_SETS = ("UNION", "INTERSECT", "EXCEPT")

OPERATORS = (
    *_AGGREGATES,
    "COUNT DISTINCT",
    "other aggregate",
    *_CLAUSES,
    "LIMIT",
    "OFFSET",
    *("inner join", "LEFT JOIN", "FULL JOIN", "self join"),
    *("subquery", "derived table", *_SETS),
    *_PATTERNS,
)
"""All names, in the order in which they are shown."""


def operators_of(shape: Shape) -> set[str]:
    """Give the operators of a statement; each is one of `OPERATORS`."""
    found = {name for block in shape.blocks for name in _of_block(block)}
    return found.intersection(OPERATORS)


def _of_block(block: Block) -> Iterator[str]:
    text = " ".join(term.text for term in block.terms())
    yield from (name for name, pattern in _PATTERNS.items() if pattern.search(text))
    yield from (name for name, part in _CLAUSES.items() if getattr(block, part))
    yield from (term.text.split(" ")[0] for term in block.limit)
    yield from (operator.removesuffix(" ALL") for operator in block.arms[1::2])
    for name, argument in block.aggregates:
        is_distinct = name == "COUNT" and argument.text.startswith("DISTINCT ")
        known = name if name in _AGGREGATES else "other aggregate"
        yield "COUNT DISTINCT" if is_distinct else known
    for relation in block.relations:
        yield (
            f"{relation.join} join" if relation.join == "inner" else f"{relation.join.upper()} JOIN"
        )
        if "#" in relation.name:
            yield "self join"
        if MARK.match(relation.name):
            yield "derived table"
    if MARK.search(text):
        yield "subquery"
