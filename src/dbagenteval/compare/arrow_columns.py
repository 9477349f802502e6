"""Columns in Arrow: made from Python cells, made comparable in pairs, and their signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["arrow_columns", "harmonised", "kinds_of_type", "signature"]

_TYPE_OF_CELLS: dict[type, Any] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    date: pa.date32(),
    bytes: pa.binary(),
}

_SLICE_CELLS = 8_192
_NO_NAME = object()
"""Stands for a column that a slice lacks."""


def arrow_columns(result: Any) -> tuple[tuple[str, ...], list[Any]] | None:
    """Give names and Arrow columns of a `pyarrow.Table` or a list of dicts.

    Returns:
        None if some column has cells that Arrow would not keep as they are.
    """
    if isinstance(result, pa.Table):
        columns = [_combined(column) for column in result.columns]
        plain = all(kinds_of_type(column.type) is not None for column in columns)
        return (tuple(result.column_names), columns) if plain else None
    return _from_rows(result)


def _from_rows(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, ...], list[Any]] | None:
    """Read dicts in slices that fit a processor's cache, all columns of a slice at once."""
    names: dict[str, None] = {}
    slices: list[dict[Any, Any]] = []
    size = max(512, _SLICE_CELLS // max(1, len(rows[0])))
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        arrays: dict[Any, Any] = {_NO_NAME: pa.nulls(len(part))}
        for name, cells in _cells(part).items():
            array = _from_cells(cells)
            if array is None:
                return None
            arrays[name] = array
            names[name] = None
        slices.append(arrays)
    columns = [_joined([part.get(name, part[_NO_NAME]) for part in slices]) for name in names]
    return None if any(column is None for column in columns) else (tuple(names), columns)


def _cells(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Give the cells of each column; a cell that a row lacks is None."""
    if set(map(len, rows)) == {len(rows[0])}:
        try:
            return {name: list(map(itemgetter(name), rows)) for name in rows[0]}
        except KeyError:  # as many columns, but others
            pass
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _joined(parts: list[Any]) -> Any:
    """Join the slices of a column; None if they have no common type."""
    joined = parts[0].type
    for part in parts:
        if part.type == joined:
            continue
        kinds = {kinds_of_type(part.type), kinds_of_type(joined)} - {frozenset()}
        targets = _common_types(joined, part.type)
        if len(kinds) > 1 or not targets:
            return None
        joined = targets[-1]
    try:
        return pa.concat_arrays([part.cast(joined) for part in parts])
    except pa.ArrowException:
        return None


def _combined(column: Any) -> Any:
    """Give a column of a table as one array, without a copy where it is one already."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _from_cells(cells: list[Any]) -> Any:
    types = set(map(type, cells)) - {type(None)}
    if not types:
        return pa.nulls(len(cells))
    arrow_type = _TYPE_OF_CELLS.get(next(iter(types))) if len(types) == 1 else None
    if types == {int, float}:
        arrow_type = pa.float64()
    if types == {datetime}:
        zoned = {cell.tzinfo is None for cell in cells if cell is not None}
        if len(zoned) == 1:
            arrow_type = pa.timestamp("us", None if zoned.pop() else "UTC")
    if arrow_type is None and types != {Decimal}:
        return None
    try:
        return pa.array(cells, arrow_type)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return None


def kinds_of_type(arrow_type: Any) -> frozenset[str] | None:
    """Name the kinds of cells in a column, as `cells.kinds_of`; None if not simple ones."""
    types = pa.types
    for kind, tests in (
        ("bool", (types.is_boolean,)),
        ("number", (types.is_integer, types.is_floating, types.is_decimal)),
        ("text", (types.is_string, types.is_large_string)),
        ("stamp", (types.is_date, types.is_timestamp)),
        ("clock", (types.is_time, types.is_duration)),
        ("bytes", (types.is_binary, types.is_large_binary)),
    ):
        if any(test(arrow_type) for test in tests):
            return frozenset((kind,))
    return frozenset() if types.is_null(arrow_type) else None


def harmonised(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Cast two columns to one type without changing a value; None if that can't be done."""
    if left.type == right.type:
        return left, right
    for target in _common_types(left.type, right.type):
        try:
            return left.cast(target), right.cast(target)
        except pa.ArrowException:
            continue
    return None


def _common_types(left: Any, right: Any) -> list[Any]:
    types = pa.types
    both = (left, right)
    if types.is_null(left) or types.is_null(right):
        return [right if types.is_null(left) else left]
    if all(types.is_integer(item) or types.is_boolean(item) for item in both):
        return [pa.int64()]
    if all(kinds_of_type(item) == frozenset(("number",)) for item in both):
        if all(types.is_floating(item) for item in both):
            return [pa.float64()]
        if any(types.is_floating(item) for item in both):
            return [pa.int64(), pa.float64()]
        scale = max(item.scale if types.is_decimal(item) else 0 for item in both)
        return [pa.int64(), pa.decimal128(38, scale), pa.decimal256(76, scale)]
    if all(types.is_string(item) or types.is_large_string(item) for item in both):
        return [pa.large_string()]
    if all(types.is_binary(item) or types.is_large_binary(item) for item in both):
        return [pa.large_binary()]
    if all(types.is_date(item) or types.is_timestamp(item) for item in both):
        zoned = {types.is_timestamp(item) and item.tz is not None for item in both}
        return [] if len(zoned) > 1 else [pa.timestamp("us", "UTC" if zoned.pop() else None)]
    return []


def signature(column: Any) -> tuple[Any, ...]:
    """Give facts that columns with the same bag of cells share, whatever their number type."""
    kinds = kinds_of_type(column.type)
    if kinds == frozenset(("clock",)):
        return (kinds, column.null_count)
    column = _narrowed(column)
    return (kinds, column.null_count, str(pc.min_max(column)), _total(column))


def _narrowed(column: Any) -> Any:
    """Turn numbers without decimals and times into integers, other decimals into floats."""
    types = pa.types
    if types.is_date(column.type) or types.is_timestamp(column.type):
        column = _cast(column, pa.timestamp("us"))
        return column.cast(pa.int64()) if types.is_timestamp(column.type) else column
    if types.is_decimal(column.type) or types.is_floating(column.type):
        column = _cast(column, pa.int64())
    return column.cast(pa.float64()) if types.is_decimal(column.type) else column


def _cast(column: Any, target: Any) -> Any:
    try:
        return column.cast(target)
    except pa.ArrowException:
        return column


def _total(column: Any) -> Any:
    """Add up a column in a way that does not depend on the order of rows."""
    types = pa.types
    if types.is_string(column.type) or types.is_large_string(column.type):
        return pc.sum(pc.binary_length(column)).as_py()
    if types.is_integer(column.type):
        return pc.sum(column).as_py()
    if types.is_floating(column.type):
        return pc.sum(column.cast(pa.float64()).drop_null().view(pa.int64())).as_py()
    return None
