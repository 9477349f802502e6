"""What a query says of personal data: values it compares with, columns it gives."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dbagenteval.harvest.personal import personal_kind
from dbagenteval.rules.query.sql import Sql, read_sql

__all__ = ["SqlValues", "sql_values"]

_COMPARED = re.compile(
    r"""(?P<column>[\w$]+)["`\])]*\s*(?:=|<>|!=|(?:NOT\s+)?I?LIKE|(?:NOT\s+)?IN\s*\()\s*"""
    r"""(?P<values>(?:(?:[a-z]?'(?:[^']|'')*(?:'|\Z)|"[^"]*"(?!\s*\.))\s*,?\s*)+)""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'((?:[^']|'')*)(?:'|\Z)")
_QUOTED_EITHER_WAY = re.compile(r"(['\"])((?:''|(?!\1).)*)(?:\1|\Z)", re.DOTALL)
_LIKE_TEXT = re.compile(r"[\s@%]|^[^\W\d_a-z][^\W_]*$")
_OTHER_LITERALS = (
    exp.National,
    exp.RawString,
    exp.ByteString,
    exp.UnicodeString,
    exp.Heredoc,
)


@dataclass(slots=True)
class SqlValues:
    """The personal data of a query.

    Args:
        compared: Kind and value of what is compared with a personal column.
        texts: All other literals.
        columns: Kind of each column of a result that is made of personal columns.
        results: The same of the outermost query's columns by position: a captured result may
            have lost their names.
        tables: The tables that are read.
        has_star: All columns of some table are given.
    """

    compared: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    results: list[str | None] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    has_star: bool = False

    @property
    def gives_people(self) -> bool:
        """True if its result may hold names or addresses of people."""
        of_people = personal_kind("name", self.tables) is not None
        return any(self.columns.values()) or (self.has_star and of_people)

    def kinds_of(self, columns: Sequence[str]) -> list[str | None]:
        """Give the kind of personal data in each column of a result, None for other columns."""
        by_name = [self._kind_of(column) for column in columns]
        if len(self.results) != len(columns):
            return by_name
        return [kind or named for kind, named in zip(self.results, by_name, strict=True)]

    def _kind_of(self, column: str) -> str | None:
        known = self.columns.get(column.casefold())
        return known if known is not None else personal_kind(column, self.tables)


def sql_values(text: str, dialect: str | None = None) -> SqlValues:
    """Read the personal data of a query, by its text where it can't be parsed."""
    sql = read_sql(text, dialect)
    found = SqlValues()
    if sql.problem is not None or not sql.statements:
        _read_text(text, found)
        return found
    sources = {table.alias_or_name.casefold(): table.name for table in sql.find(exp.Table)}
    found.tables = set(sources.values())
    found.has_star = any(True for _ in sql.find(exp.Star))
    _read_results(sql, sources, found)
    for literal in sql.find(exp.Literal, *_OTHER_LITERALS):
        value = str(literal.this)
        kind = _listed_kind(literal) or _compared_kind(literal, sources, found)
        if kind is not None:
            found.compared.append((kind, value.strip("%")))
        elif literal.is_string or not isinstance(literal, exp.Literal):
            found.texts.append(value)
    for column in filter(_may_be_text, sql.find(exp.Column)):
        kind = _compared_kind(column, sources, found)
        if kind is not None:
            found.compared.append((kind, column.name.strip("%")))
    return found


def _read_text(text: str, found: SqlValues) -> None:
    found.texts = [value.replace("''", "'") for value in _QUOTED.findall(text)]
    for match in _COMPARED.finditer(text):
        kind = personal_kind(match["column"], ("people",))
        if kind is not None:
            quoted = _QUOTED_EITHER_WAY.findall(match["values"])
            values = (value.replace("''", "'") for _, value in quoted)
            found.compared += [(kind, value.strip("%")) for value in values]


def _read_results(sql: Sql, sources: dict[str, str], found: SqlValues) -> None:
    """Note what the columns of all queries are made of, those of inner queries first."""
    outermost = next(sql.statements[-1].find_all(exp.Select), None)
    for select in reversed(list(sql.find(exp.Select))):
        for projection in select.expressions:
            kinds = [_kind(column, sources, found) for column in _named(projection)]
            name = projection.alias_or_name or projection.sql()
            personal = next((kind for kind in kinds if kind is not None), None)
            if select is outermost:
                found.results.append(personal)
            if personal is not None:
                found.columns[name.casefold()] = personal
            elif isinstance(projection.unalias(), exp.Column):
                # Of a table that is known not to be of people.
                found.columns.setdefault(name.casefold(), "")


def _named(tree: exp.Expr) -> Iterator[exp.Column | exp.JSONPathKey]:
    """Give the columns in an expression, and the keys that it looks up in JSON."""
    return tree.find_all(exp.Column, exp.JSONPathKey)


def _kind(
    column: exp.Column | exp.JSONPathKey, sources: dict[str, str], found: SqlValues
) -> str | None:
    if isinstance(column, exp.JSONPathKey):
        return personal_kind(str(column.this), found.tables)
    own = sources.get(column.table.casefold())
    tables: Collection[str] = found.tables if own is None else (own,)
    return found.columns.get(column.name.casefold()) or personal_kind(column.name, tables)


def _compared_kind(literal: exp.Expr, sources: dict[str, str], found: SqlValues) -> str | None:
    condition = _condition(literal)
    columns = () if condition is None else _named(condition)
    return next((kind for column in columns if (kind := _kind(column, sources, found))), None)


def _may_be_text(column: exp.Expr) -> bool:
    """Say whether an identifier in double quotes may be meant as a text, as SQLite takes it."""
    name = column.this
    is_quoted = isinstance(name, exp.Identifier) and name.args.get("quoted")
    return bool(is_quoted) and not column.args.get("table") and bool(_LIKE_TEXT.search(column.name))


def _listed_kind(literal: exp.Expr) -> str | None:
    """Give the kind of the column that a literal in VALUES with named columns is of."""
    row = literal.parent
    values = row.parent if isinstance(row, exp.Tuple) else None
    alias = values.args.get("alias") if isinstance(values, exp.Values) else None
    at = literal.index
    if row is None or alias is None or at is None or at >= len(alias.columns):
        return None
    return personal_kind(alias.columns[at].name, ("people",))


def _condition(literal: exp.Expr) -> exp.Expr | None:
    """Give the condition that a literal is part of: a comparison, or a call such as a regex."""
    node = literal
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        if isinstance(node.parent, (exp.Connector, exp.Where, exp.Having, exp.Join)):
            return node
        node = node.parent
    return literal.find_ancestor(exp.Predicate)
