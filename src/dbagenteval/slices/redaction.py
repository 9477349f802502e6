"""Replace what rows say of people by texts that say nothing, the same for the same everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from dbagenteval.otlp.redaction import DETECTORS
from dbagenteval.rules.sql import read_sql
from dbagenteval.slices.schema import Column, Row, Schema, Table
from dbagenteval.traces import Rows

__all__ = ["Redact", "Redaction", "is_personal", "keepable"]

Redact = Callable[[str], str]
"""Gives a text without what must not be kept; the same for the same text."""

_PERSONAL_COLUMN = re.compile(
    r"(full|first|last|given|family|middle|maiden|user|login|nick|display|contact|customer|client"
    r"|person|employee|patient|member|owner|author|kunden|nutzer|mitarbeiter)_?name|surname"
    r"|vorname|nachname|e?_?mail|phone|telefon|mobile|handy|\bfax|address|adresse|street|stra(ß|ss)e"
    r"|zip|postal|postcode|plz|birth|geburt|iban|card_?n|kreditkart|\bssn|passport|password"
    r"|passwort|secret|token|\bip\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"customer|client|user|account|person|people|employee|staff|patient|member|contact|student"
    r"|driver|author|kunde|nutzer|mitarbeiter|personal|mitglied|schüler",
    re.IGNORECASE,
)
_NAME = re.compile(r"name|title|label", re.IGNORECASE)
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d)?([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_STRINGS = (
    TokenType.STRING,
    TokenType.NATIONAL_STRING,
    TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.UNICODE_STRING,
)
_LONGEST_AMOUNT = 999_999
_SHORT_NUMBER = re.compile(r"[-+]?\d{1,6}(\.\d{1,6})?")


def is_personal(table: Table, column: Column) -> bool:
    """Say by its name whether a column tells who somebody is or how to reach them."""
    if _PERSONAL_COLUMN.search(column.name.replace("_", " ")) or _PERSONAL_COLUMN.search(
        column.name
    ):
        return True
    return bool(_PEOPLE.search(table.name) and _NAME.fullmatch(column.name))


class Redaction:
    """Replacements for the texts of some rows, and of the statements that run on them.

    Replaced is every text but dates, short numbers, keys, and what the statements compare; of
    those, too, what stands in a column of personal data or what a detector finds. Numbers and
    dates stay. New texts sort as the old ones of their column did.

    Args:
        schema: The tables.
        rows: Their rows.
        statements: What runs on them.
        dialect: Of the statements.
        redact: Further replacements, asked first.
        kept: Columns, as `table.column`, whose texts stay unless they are personal.
    """

    def __init__(
        self,
        schema: Schema,
        rows: Mapping[str, Sequence[Row]],
        statements: Sequence[str],
        *,
        dialect: str,
        redact: Redact | None = None,
        kept: Iterable[str] = (),
    ) -> None:
        self._schema = schema
        self._dialect = dialect
        self._redact = redact
        self._kept = frozenset(kept)
        self._literals = {
            literal for statement in statements for literal in _literals(statement, dialect)
        }
        self._new: dict[Any, Any] = {}
        self._taken = {*self._literals}
        texts = self._personal_literals(statements)
        for table, at, column in _columns(schema):
            cells = [row[at] for row in rows[table.name]]
            values = {leaf for cell in cells for leaf in _leaves(cell, column)}
            personal = texts.pop(column.name.lower(), set())
            private = {value for value in values if self._is_private(value, table, column)}
            self._name(private | personal, column.name)
            self._number(cells, table, column)
        for name, personal in texts.items():
            self._name(personal, name)

    def rows(self, rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
        """Give the rows with their texts replaced."""
        return {
            table.name: [
                tuple(
                    self._cell(cell, table, column)
                    for cell, column in zip(row, table.columns, strict=True)
                )
                for row in rows[table.name]
            ]
            for table in self._schema
        }

    def sql(self, sql: str) -> str:
        """Give a statement with the texts in it replaced as those in the rows are."""
        parsed = read_sql(sql, self._dialect)
        text = parsed.text
        for token in reversed(parsed.tokens):
            new = None
            if token.token_type in _STRINGS and token.text in self._new:
                new = "'" + self._new[token.text].replace("'", "''") + "'"
            elif token.token_type == TokenType.NUMBER and token.text.isdecimal():
                new = self._new.get(int(token.text))
            if new is not None:
                text = f"{text[: token.start]}{new}{text[token.end + 1 :]}"
        return text

    def restored(self, rows: Rows) -> Rows:
        """Give a result on the new rows as it would be on the old ones."""
        old = {new: text for text, new in self._new.items() if isinstance(new, str)}
        return [
            {
                name: old.get(cell, cell) if isinstance(cell, str) else cell
                for name, cell in row.items()
            }
            for row in rows
        ]

    def _cell(self, cell: Any, table: Table, column: Column) -> Any:
        if column.kind == "json" and isinstance(cell, str):
            return json.dumps(_mapped(_parsed(cell), self._new), ensure_ascii=False)
        if isinstance(cell, str) or self._private_number(cell, table, column):
            return self._new.get(cell, cell)
        return b"" if isinstance(cell, (bytes, memoryview)) else cell

    def _is_private(self, value: str, table: Table, column: Column) -> bool:
        if _MOMENT.fullmatch(value) or not value.strip():
            return False
        if _is_found(value) or (self._redact is not None and self._redact(value) != value):
            return True
        personal = is_personal(table, column)
        if value in self._literals:
            # Whoever says what goes has said that this stays, in the question as well.
            return personal and self._redact is None
        if personal or is_key(table, column):
            return personal
        return not (_SHORT_NUMBER.fullmatch(value) or f"{table.name}.{column.name}" in self._kept)

    def _private_number(self, cell: Any, table: Table, column: Column) -> bool:
        if is_key(table, column) or not isinstance(cell, (int, float, Decimal)):
            return False
        is_long = abs(float(cell)) > _LONGEST_AMOUNT and float(cell).is_integer()
        return is_long and (is_personal(table, column) or _is_found(f"{cell:.0f}"))

    def _personal_literals(self, statements: Sequence[str]) -> dict[str, set[str]]:
        """Give the literals that must go though no row may hold them, by column."""
        found: dict[str, set[str]] = {}
        for name, literal in _compared(statements, self._dialect):
            given = self._redact is not None and self._redact(literal) != literal
            personal = self._redact is None and any(
                is_personal(table, column)
                for table, _, column in _columns(self._schema)
                if column.name.lower() == name
            )
            if given or personal or _is_found(literal):
                found.setdefault(name, set()).add(literal)
        return found

    def _name(self, texts: Iterable[str], label: str) -> None:
        new = sorted(text for text in texts if text not in self._new)
        width = len(str(len(new)))
        number = 0
        for text in new:
            given = self._redact(text) if self._redact is not None else text
            while given == text or given in self._taken:
                number += 1
                given = f"{label} {number:0{width}}"
            self._new[text] = given
            self._taken.add(given)

    def _number(self, cells: Iterable[Any], table: Table, column: Column) -> None:
        numbers = {cell for cell in cells if self._private_number(cell, table, column)}
        for number, cell in enumerate(sorted(numbers), start=1):
            self._new.setdefault(cell, number)


def keepable(schema: Schema) -> list[str]:
    """Give the columns, as `table.column`, whose texts may stay if nothing else shows a failure."""
    return [
        f"{table.name}.{column.name}"
        for table, _, column in _columns(schema)
        if column.kind in ("text", "json") and not is_personal(table, column)
    ]


def is_key(table: Table, column: Column) -> bool:
    """Say whether a column is part of a primary or foreign key."""
    names = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    return column.name in names


def _columns(schema: Schema) -> Iterator[tuple[Table, int, Column]]:
    for table in schema:
        for at, column in enumerate(table.columns):
            yield table, at, column


def _is_found(text: str) -> bool:
    return any(replace(text) != text for replace in DETECTORS.values())


def _literals(statement: str, dialect: str) -> Iterator[str]:
    for token in read_sql(statement, dialect).tokens:
        if token.token_type in _STRINGS:
            yield token.text


def _compared(statements: Sequence[str], dialect: str) -> Iterator[tuple[str, str]]:
    """Give the name of a column and the text that stands beside it in a condition."""
    for statement in statements:
        for literal in read_sql(statement, dialect).find(exp.Literal):
            if not isinstance(literal, exp.Literal) or not literal.is_string:
                continue
            beside = literal.find_ancestor(exp.Predicate)
            column = beside.find(exp.Column) if beside is not None else None
            yield (column.name.lower() if column is not None else ""), literal.this


def _leaves(cell: Any, column: Column) -> Iterator[str]:
    """Give the texts in a cell; one of JSON may hold several."""
    if isinstance(cell, str):
        todo = [_parsed(cell) if column.kind == "json" else cell]
        while todo:
            part = todo.pop()
            if isinstance(part, str):
                yield part
            elif isinstance(part, list):
                todo += part
            elif isinstance(part, dict):
                todo += part.values()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _mapped(part: Any, new: Mapping[Any, Any]) -> Any:
    if isinstance(part, list):
        return [_mapped(item, new) for item in part]
    if isinstance(part, dict):
        return {key: _mapped(item, new) for key, item in part.items()}
    return new.get(part, part) if isinstance(part, str) else part
