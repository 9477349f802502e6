"""Replace what rows say of people by texts that say nothing, the same for the same everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from dbagenteval.slices.literals import (
    compared_texts,
    core_of,
    is_like,
    texts_in,
    with_new_literals,
)
from dbagenteval.slices.personal import is_found, is_personal
from dbagenteval.slices.schema import Column, Row, Schema, Table
from dbagenteval.traces import Rows

__all__ = ["Redact", "Redaction", "keepable"]

Redact = Callable[[str], str]
"""Gives a text without what must not be kept; the same for the same text."""

_MOMENT = re.compile(
    r"\d{4}-\d\d(-\d\d)?([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|-?infinity"
)
_LONGEST_AMOUNT = 999_999
_SHORT_NUMBER = re.compile(r"[-+]?\d{1,6}(\.\d{1,6})?")


class Redaction:
    """Replacements for the texts of some rows, and of the statements that run on them.

    Replaced is every text but dates, short numbers, and what the statements compare; of those,
    too, what stands in a column of personal data or what a detector finds. Numbers and dates stay,
    but for long numbers of people that are no keys. New texts sort as the old ones of their column
    did, and a pattern of LIKE finds the same ones.

    Args:
        schema: The tables.
        rows: Their rows.
        statements: What runs on them.
        dialect: Of the statements.
        redact: Further replacements, asked first; it alone decides which literals go.
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
        self._literals = {each for sql in statements for each in texts_in(sql, dialect)}
        self._new: dict[Any, Any] = {}
        self._taken = self._literals | {
            leaf
            for table, at, column in _columns(schema)
            for row in rows[table.name]
            for leaf in _leaves(row[at], column)
        }
        self._patterns: dict[str, str] = {}
        compared = [each for sql in statements for each in compared_texts(sql, dialect)]
        private = [each for each in compared if self._is_private_literal(*each[:2])]
        for name, pattern, is_pattern in private:
            if is_pattern and self._redact is None and core_of(pattern) not in ("", pattern):
                self._name_pattern(pattern, name)
        for table, at, column in _columns(schema):
            cells = [row[at] for row in rows[table.name]]
            texts = {leaf for cell in cells for leaf in _leaves(cell, column)}
            self._name(
                [each for each in texts if self._is_private(each, table, column)], column.name
            )
            self._number(cells, table, column)
        for name, literal, _ in private:
            self._name_literal(literal, name)

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
        return with_new_literals(sql, self._dialect, self._new)

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
        if is_found(value) or (self._redact is not None and self._redact(value) != value):
            return True
        personal = is_personal(table, column)
        if value in self._literals:
            # Whoever says what goes has said that this stays, in the question as well.
            return personal and self._redact is None
        is_kept = _SHORT_NUMBER.fullmatch(value) or f"{table.name}.{column.name}" in self._kept
        return personal or not is_kept

    def _private_number(self, cell: Any, table: Table, column: Column) -> bool:
        if _is_key(table, column) or not isinstance(cell, (int, float, Decimal)):
            return False
        is_long = abs(float(cell)) > _LONGEST_AMOUNT and float(cell).is_integer()
        return is_long and (is_personal(table, column) or is_found(f"{cell:.0f}"))

    def _is_private_literal(self, name: str, text: str) -> bool:
        if self._redact is not None:
            return self._redact(text) != text or is_found(text)
        return is_found(text) or any(
            is_personal(table, column)
            for table, _, column in _columns(self._schema)
            if column.name.lower() == name
        )

    def _name(self, texts: Iterable[str], label: str) -> None:
        """Choose new texts for the texts of a column, in their order."""
        new = sorted(text for text in texts if text not in self._new)
        width = len(str(len(new)))
        number = 0
        for text in new:
            given = self._redact(text) if self._redact is not None else text
            while given == text or given in self._taken:
                number += 1
                given = self._found_alike(text, f"{label} {number:0{width}}")
            self._new[text] = given
            self._taken.add(given)

    def _name_literal(self, text: str, label: str) -> None:
        """Choose the new text of a literal: that of the value it is, whatever its case."""
        alike = [new for old, new in self._new.items() if str(old).lower() == text.lower()]
        if text not in self._new and alike:
            self._new[text] = alike[0].upper() if text.isupper() else alike[0]
        self._name([text], label or "text")

    def _name_pattern(self, pattern: str, label: str) -> None:
        """Choose a new text for what a pattern looks for, before any text that it may find."""
        core = core_of(pattern)
        self._name([core], f"{label} like")
        self._new.setdefault(pattern, pattern.replace(core, self._new[core]))
        self._patterns[pattern] = self._new[core]

    def _found_alike(self, text: str, new: str) -> str:
        """Put into a new text what patterns look for that find the old one, where they look."""
        for pattern, inside in self._patterns.items():
            if is_like(text, pattern):
                before = f"{new} " if pattern.startswith("%") else ""
                after = f" {new}" if pattern.endswith("%") else ""
                new = f"{before}{inside}{after}"
        return new

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


def _is_key(table: Table, column: Column) -> bool:
    names = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    return column.name in names


def _columns(schema: Schema) -> Iterator[tuple[Table, int, Column]]:
    for table in schema:
        for at, column in enumerate(table.columns):
            yield table, at, column


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
