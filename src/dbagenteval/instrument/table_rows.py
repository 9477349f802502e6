"""Rows of results that a program takes as one Arrow table or data frame."""

from __future__ import annotations

from typing import Any

from dbagenteval.instrument.record import Record

__all__ = ["took_table"]


def took_table(record: Record, cursor: Any, args: Any, kwargs: Any, table: Any) -> None:  # noqa: ARG001 the signature of `Took`
    """Take the first rows of a table; a stream can't be read without using it up."""
    room = record.room
    if hasattr(table, "num_rows") and hasattr(table, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in table.slice(0, room).columns]
        rows, count = list(zip(*columns)), table.num_rows  # noqa: B905 columns of one length
    elif hasattr(table, "itertuples"):  # pandas
        rows = [
            tuple(map(_without_nan, row))
            for row in table.head(room).itertuples(index=False, name=None)
        ]
        count = len(table)
    elif hasattr(table, "rows") and hasattr(table, "height"):  # Polars
        rows, count = table.head(room).rows(), table.height
    else:
        record.give_up()
        return
    record.take(rows)
    record.skip(count - len(rows))
    record.finish(is_whole=True)


def _without_nan(cell: Any) -> Any:
    """Give NULL for what pandas puts in its place: NaN, NaT or NA, which equal nothing."""
    try:
        return cell if cell == cell else None  # noqa: PLR0124
    except (TypeError, ValueError):  # pandas.NA, arrays
        return None if type(cell).__name__ == "NAType" else cell
