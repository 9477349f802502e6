"""Names as a database compares them: folding of unquoted and quoted identifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from dbagenteval.rules.query.dialects import base_name

__all__ = ["Folding", "GivenName", "folding"]

_PART = re.compile(r'"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([^."`\[\]]+)')

_UPPER = ("snowflake", "oracle", "db2", "exasol")
_QUOTED_KEEPS_CASE = ("", "postgres", "materialize", "risingwave", *_UPPER)
_CASE_SENSITIVE_TABLES = ("bigquery", "clickhouse")
_CASE_SENSITIVE_COLUMNS = ("clickhouse",)


@dataclass(frozen=True, slots=True)
class Folding:
    """How one dialect compares names.

    Args:
        upper: Unquoted names fold to upper case (else to lower).
        quoted_keeps_case: A quoted name is another name than its unquoted form in other case.
        tables_keep_case: Table names differ by case even when unquoted.
        columns_keep_case: Column names differ by case even when unquoted.
    """

    upper: bool
    quoted_keeps_case: bool
    tables_keep_case: bool
    columns_keep_case: bool

    def table(self, text: str, quoted: bool) -> str:
        """Fold the name of a table, schema, CTE or alias."""
        return text if self.tables_keep_case else self._fold(text, quoted)

    def column(self, text: str, quoted: bool) -> str:
        """Fold the name of a column."""
        return text if self.columns_keep_case else self._fold(text, quoted)

    def _fold(self, text: str, quoted: bool) -> str:
        if quoted and self.quoted_keeps_case:
            return text
        return text.upper() if self.upper else text.lower()

    def of_table(self, node: exp.Expr | None) -> str:
        """Fold an identifier node that names a table, CTE or alias; empty if there is none."""
        text, quoted = _text(node)
        return self.table(text, quoted)

    def of_column(self, node: exp.Expr | None) -> str:
        """Fold an identifier node that names a column; empty if there is none."""
        text, quoted = _text(node)
        return self.column(text, quoted)


def _text(node: exp.Expr | None) -> tuple[str, bool]:
    if node is None:
        return "", False
    if isinstance(node, exp.Identifier):
        return str(node.this), bool(node.args.get("quoted"))
    return node.name, False


def folding(dialect: str | None) -> Folding:
    """Give the folding of a dialect.

    Without a dialect the standard's strict reading holds: a quoted name in upper case is not the
    unquoted name. A `normalization_strategy` setting of `case_sensitive` is honoured.
    """
    name = base_name(dialect)
    sensitive = dialect is not None and "case_sensitive" in dialect.lower()
    return Folding(
        upper=name in _UPPER,
        quoted_keeps_case=name in _QUOTED_KEEPS_CASE,
        tables_keep_case=sensitive or name in _CASE_SENSITIVE_TABLES,
        columns_keep_case=sensitive or name in _CASE_SENSITIVE_COLUMNS,
    )


class GivenName:
    """A name as a person wrote it in a rule: parts by dots, each plain or quoted.

    A plain part stands for the unquoted name. With capitals among small letters it also stands for
    the quoted name of exactly that spelling, so that `StoreId` names PostgreSQL's `"StoreId"`.
    """

    __slots__ = ("parts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: tuple[tuple[str, bool], ...] = tuple(
            (
                (match.group(1) or match.group(2) or match.group(3) or "").replace('""', '"'),
                True,
            )
            if match.group(4) is None
            else (match.group(4).strip(), False)
            for match in _PART.finditer(text)
        )

    def __len__(self) -> int:
        return len(self.parts)

    def forms(self, fold: Folding, *, column: bool = False) -> set[tuple[str, ...]]:
        """Give the folded forms that this name admits, as tuples of parts."""
        one = [
            (fold.column if column and index == len(self.parts) - 1 else fold.table)
            for index in range(len(self.parts))
        ]
        plain = tuple(
            part(text, quoted) for part, (text, quoted) in zip(one, self.parts, strict=True)
        )
        exact = tuple(
            part(text, quoted or not (text.islower() or text.isupper()))
            for part, (text, quoted) in zip(one, self.parts, strict=True)
        )
        return {plain, exact}
