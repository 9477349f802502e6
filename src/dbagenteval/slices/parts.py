"""Parts of some data, and whether they still show a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbagenteval.errors import SliceError, first_line
from dbagenteval.executors import Executor
from dbagenteval.slices.redaction import Redact, Redaction, keepable
from dbagenteval.slices.sandbox import Sandbox
from dbagenteval.slices.schema import Row, Schema
from dbagenteval.slices.script import Rows as TableRows
from dbagenteval.slices.script import statements_of
from dbagenteval.slices.shrinking import shrink
from dbagenteval.traces import Rows

__all__ = ["Redacted", "Slicer", "StillFails"]

StillFails = Callable[[Executor], bool]
"""Says whether some data shows the failure, given what runs SQL on it. The first time it is
asked of all the data that was read."""

_Item = tuple[int, Row]
"""Position of a table in the schema, and one of its rows."""

_Columns = tuple[str, tuple[str, ...]]
"""A table's name and names of columns of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """Rows and statements with texts replaced, and the columns whose texts had to stay."""

    rows: dict[str, list[Row]]
    statements: tuple[str, ...]
    kept: tuple[str, ...]


class Slicer:
    """Takes rows away, and values out of them, while a failure is still there.

    Args:
        schema: The tables.
        dialect: Of the SQL that runs on them.
        still_fails: Recognises the failure.
    """

    def __init__(self, schema: Schema, dialect: str, still_fails: StillFails) -> None:
        self._schema = schema
        self._dialect = dialect
        self._still_fails = still_fails

    def shrink(self, rows: TableRows) -> tuple[dict[str, list[Row]], bool]:
        """Give the rows that are left, and whether none of them can go.

        Raises:
            SliceError: The rows given don't fail.
        """
        items = [(at, row) for at, table in enumerate(self._schema) for row in rows[table.name]]
        items = self._without_orphans(items)
        if not self._is_enough(items):
            raise SliceError("the failure does not show on a copy of the data")
        kept, is_minimal = shrink(items, self._is_enough, without_orphans=self._without_orphans)
        return self._by_table(kept), is_minimal

    def _is_enough(self, items: Sequence[_Item]) -> bool:
        return self._is_shown_by(self._by_table(items))

    def _is_shown_by(self, rows: TableRows, redaction: Redaction | None = None) -> bool:
        """Say whether the failure is there on a copy of rows, or of what redaction makes of them.

        Raises:
            SliceError: The database that holds the copy does not take the rows.
        """
        copied = rows if redaction is None else redaction.rows(rows)
        try:
            sandbox = Sandbox(statements_of(self._schema, copied), dialect=self._dialect)
        except Exception as error:
            raise SliceError(f"the rows can't be copied: {first_line(error)}") from error

        def execute(sql: str) -> Rows:
            if redaction is None:
                return sandbox.run(sql)
            return redaction.restored(sandbox.run(redaction.sql(sql)))

        try:
            return self._still_fails(execute)
        finally:
            sandbox.close()

    def redacted(
        self, rows: TableRows, statements: tuple[str, ...], redact: Redact | None
    ) -> Redacted:
        """Replace texts in the rows, and in the statements, as far as the failure stays.

        Raises:
            SliceError: The failure goes away with the values of people.
        """
        kept: list[str] = []
        redaction = self._redaction(rows, statements, redact, kept)
        if redaction is None:
            kept = keepable(self._schema)
            for name in list(kept):
                fewer = [each for each in kept if each != name]
                if self._redaction(rows, statements, redact, fewer) is not None:
                    kept = fewer
            redaction = self._redaction(rows, statements, redact, kept)
        if redaction is None:
            raise SliceError("the failure goes away when personal values are replaced")
        return Redacted(
            rows=redaction.rows(rows),
            statements=tuple(redaction.sql(each) for each in statements),
            kept=tuple(kept),
        )

    def _redaction(
        self,
        rows: TableRows,
        statements: Sequence[str],
        redact: Redact | None,
        kept: Sequence[str],
    ) -> Redaction | None:
        """Give the redaction that keeps these columns, if the failure is still there then."""
        redaction = Redaction(
            self._schema, rows, statements, dialect=self._dialect, redact=redact, kept=kept
        )
        return redaction if self._is_shown_by(rows, redaction) else None

    def _by_table(self, items: Sequence[_Item]) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {table.name: [] for table in self._schema}
        for at, row in items:
            rows[self._schema.tables[at].name].append(row)
        return rows

    def _without_orphans(self, items: list[_Item]) -> list[_Item]:
        """Take away rows that refer to rows that aren't there, and so on."""
        while True:
            there = self._referred_values(items)
            kept = [item for item in items if self._has_parents(item, there)]
            if len(kept) == len(items):
                return kept
            items = kept

    def _referred_values(self, items: Sequence[_Item]) -> dict[_Columns, set[Row]]:
        """Give the values that rows hold in the columns that foreign keys refer to."""
        rows = self._by_table(items)
        referred = {(key.table, key.referred) for each in self._schema for key in each.foreign_keys}
        found: dict[_Columns, set[Row]] = {}
        for table in self._schema:
            for name, columns in referred:
                if name == table.name:
                    at = table.at(columns)
                    found[name, columns] = {tuple(row[i] for i in at) for row in rows[name]}
        return found

    def _has_parents(self, item: _Item, there: Mapping[_Columns, set[Row]]) -> bool:
        table, row = self._schema.tables[item[0]], item[1]
        for key in table.foreign_keys:
            own = tuple(row[at] for at in table.at(key.columns))
            if None not in own and own not in there[key.table, key.referred]:
                return False
        return True
