"""Large results: cancel the rows that are identical on both sides, in Arrow.

What is left goes through the same comparison as small results. Cancelling never decides more
than "these two rows are the same", so it can't change a verdict; where it does not apply, all
rows are compared cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbagenteval.compare.arrow_columns import (
    arrow_columns,
    harmonised,
    kinds_of_type,
    signature,
)
from dbagenteval.compare.names import affinity, contradicts, is_row_number, named_pairs
from dbagenteval.compare.options import RowOptions
from dbagenteval.compare.sides import Side, python_cells

__all__ = ["Reduction", "reduce_results"]

_SAMPLE = 2_000
_CODES_MAX = 2**62
_RESIDUE_MAX = 0.5
"""A larger part of the rows than this is compared as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """Two results without the rows that are identical on both sides.

    Args:
        expected: The expected rows that are left.
        actual: The actual rows that are left.
        pairs: Expected index to actual index of the columns.
        by_value: Expected indices that were paired by their values.
        is_in_order: All rows are identical at the same place.
        has_extra_columns: Some actual columns have no partner.
    """

    expected: Side
    actual: Side
    pairs: dict[int, int]
    by_value: frozenset[int]
    is_in_order: bool
    has_extra_columns: bool


def reduce_results(expected: Any, actual: Any, options: RowOptions) -> Reduction | None:
    """Cancel identical rows of two results.

    Returns:
        What is left, or None if the columns can't be paired or cells can't be held in Arrow.
    """
    ours, theirs = arrow_columns(expected), arrow_columns(actual)
    if ours is None or theirs is None:
        return None
    pairs = _paired(ours, theirs, options)
    if not pairs:
        return None
    columns = [harmonised(ours[1][i], theirs[1][j]) for i, j in pairs.items()]
    comparable = [pair for pair in columns if pair is not None]
    if len(comparable) < len(columns):
        return None
    comparable = [pair for pair in comparable if not pa.types.is_null(pair[0].type)]
    if not comparable:
        # Columns of nothing tell rows apart by their number only.
        return None
    is_in_order = all(left.equals(right) for left, right in comparable)
    left_rows: Sequence[int] = ()
    right_rows: Sequence[int] = ()
    if not is_in_order:
        left_rows, right_rows = _residue(comparable, is_ordered=options.ordered)
        if len(left_rows) + len(right_rows) > _RESIDUE_MAX * (len(expected) + len(actual)):
            return None
    return Reduction(
        expected=_rest(expected, ours, left_rows),
        actual=_rest(actual, theirs, right_rows),
        pairs=pairs,
        by_value=frozenset(i for i, j in pairs.items() if not _is_named(ours, theirs, i, j)),
        is_in_order=is_in_order,
        has_extra_columns=len(theirs[0]) > len(pairs),
    )


Columns = tuple[tuple[str, ...], list[Any]]


def _is_named(ours: Columns, theirs: Columns, i: int, j: int) -> bool:
    return ours[0][i].casefold() == theirs[0][j].casefold()


def _paired(ours: Columns, theirs: Columns, options: RowOptions) -> dict[int, int] | None:
    """Pair columns where names or values leave no doubt; None if there is doubt."""
    names, others = ours[0], theirs[0]
    if options.positional:
        return None
    pairs = named_pairs(names, others)
    unnamed = [i for i in range(len(names)) if i not in pairs]
    free = [j for j in range(len(others)) if j not in set(pairs.values())]
    if not unnamed:
        return pairs
    if options.columns == "by_name" or len(unnamed) > len(free):
        return None
    signatures: dict[tuple[Any, ...], list[int]] = {}
    for j in free:
        signatures.setdefault(signature(theirs[1][j]), []).append(j)
    for i in unnamed:
        fitting = signatures.get(signature(ours[1][i]), [])
        if len(fitting) != 1 or fitting[0] in pairs.values():
            return None
        pairs[i] = fitting[0]
        if _is_doubtful(i, fitting[0], free, names, others):
            return None
    return dict(sorted(pairs.items()))


def _is_doubtful(
    i: int, j: int, free: Sequence[int], names: Sequence[str], others: Sequence[str]
) -> bool:
    if contradicts(names[i], others[j]) or is_row_number(others[j]):
        return True
    likeness = affinity(names[i], others[j], names)
    return any(affinity(names[i], others[k], names) > likeness for k in free if k != j)


def _residue(
    columns: list[tuple[Any, Any]], *, is_ordered: bool
) -> tuple[Sequence[int], Sequence[int]]:
    """Give the rows of both sides that do not cancel."""
    if not columns:
        return [], []
    if is_ordered and len(columns[0][0]) == len(columns[0][1]):
        rows = _where(_differing(columns, None))
        return rows, rows
    for left, right in sorted(columns, key=lambda pair: not pa.types.is_integer(pair[0].type)):
        sample = left[:_SAMPLE]
        if pc.count_distinct(sample).as_py() < len(sample):
            continue
        places = pc.index_in(right, value_set=left, skip_nulls=True)
        hits = _hits(places.drop_null(), len(left))
        if hits.count(1) == len(places) - places.null_count:
            return _residue_by_key(columns, places, hits)
    return _residue_by_code(columns)


def _differing(columns: list[tuple[Any, Any]], places: Any) -> Any:
    """Mark the actual rows that differ from their expected row (by place, or the same place)."""
    differs = None
    for left, right in columns:
        ours = left if places is None else left.take(places)
        if ours.equals(right):
            continue
        same = pc.fill_null(pc.equal(ours, right), False)
        if ours.null_count and right.null_count:
            same = pc.or_(same, pc.and_(ours.is_null(), right.is_null()))
        found = pc.invert(same)
        differs = found if differs is None else pc.or_(differs, found)
    return differs if differs is not None else pa.repeat(pa.scalar(False), len(columns[0][1]))


def _where(mask: Any) -> list[int]:
    return pc.indices_nonzero(mask).to_pylist()  # type: ignore[no-any-return]


def _hits(places: Any, count: int) -> bytearray:
    """Mark the expected rows that some actual row has as its place."""
    hits = bytearray(count)
    buffer = memoryview(places.buffers()[1]).cast("i")
    for place in buffer[places.offset : places.offset + len(places)]:
        hits[place] = 1
    return hits


def _residue_by_key(
    columns: list[tuple[Any, Any]], places: Any, hits: bytearray
) -> tuple[list[int], list[int]]:
    """Cancel rows by a column without repeats: each actual row has its one place."""
    differs = _differing(columns, places)
    if places.null_count:
        differs = pc.or_(differs, places.is_null())
    right = _where(differs)
    left = [
        place for place in places.take(pa.array(right, pa.int64())).to_pylist() if place is not None
    ]
    left += [place for place, hit in enumerate(hits) if not hit] if 0 in hits else []
    return sorted(left), right


def _residue_by_code(columns: list[tuple[Any, Any]]) -> tuple[list[int], list[int]]:
    """Cancel rows by one number for each distinct row, built column by column."""
    counts = len(columns[0][0]), len(columns[0][1])
    codes, size = None, 1
    for left, right in columns:
        encoded = pa.concat_arrays([left, right]).dictionary_encode(null_encoding="encode")
        places = encoded.indices.cast(pa.int64())
        width = max(1, len(encoded.dictionary))
        if codes is None:
            codes, size = places, width
            continue
        if size * width >= _CODES_MAX:
            dense = codes.dictionary_encode()
            codes, size = dense.indices.cast(pa.int64()), len(dense.dictionary)
        codes = pc.add(pc.multiply(codes, pa.scalar(width, pa.int64())), places)
        size *= width
    signs = pa.concat_arrays(
        [
            pa.repeat(pa.scalar(sign, pa.int32()), rows)
            for sign, rows in zip((1, -1), counts, strict=True)
        ]
    )
    sums = pa.table({"code": codes, "sign": signs}).group_by("code").aggregate([("sign", "sum")])
    open_codes = sums.filter(pc.not_equal(sums["sign_sum"], 0))["code"].combine_chunks()
    if not len(open_codes):
        return [], []
    mask = pc.is_in(codes, value_set=open_codes)
    return _where(mask[: counts[0]]), _where(mask[counts[0] :])


def _rest(result: Any, columns: Columns, rows: Sequence[int]) -> Side:
    names, arrays = columns
    if isinstance(result, pa.Table):
        places = pa.array(rows, pa.int64())
        cells = [python_cells(array.take(places)) for array in arrays]
    else:
        cells = [[result[row].get(name) for row in rows] for name in names]
    side = Side(names, cells, len(rows))
    side.kinds = [kinds_of_type(array.type) or frozenset() for array in arrays]
    side.total_rows = len(arrays[0]) if arrays else 0
    return side
