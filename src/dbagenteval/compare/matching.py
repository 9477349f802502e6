"""Pair up the rows of two results: first by equal keys, then by closeness."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeGuard

__all__ = ["Matching", "match_rows"]

Row = tuple[Hashable, ...]

_GRID_MAX = 400
"""Buckets up to this many rows a side are matched exhaustively."""
_NEAR_MAX = 400_000
"""Pairs of rows looked at in a larger bucket."""
_NUMBER_MAX = 1e300


@dataclass(frozen=True, slots=True)
class Matching:
    """Which rows of two results go together.

    Args:
        pairs: Index of an expected row and of the actual row that equals it.
        missing: Indices of expected rows without a partner.
        extra: Indices of actual rows without a partner.
    """

    pairs: list[tuple[int, int]]
    missing: list[int]
    extra: list[int]


def match_rows(
    left: Sequence[Row],
    right: Sequence[Row],
    fuzzy: Sequence[int],
    close: Callable[[int, int], bool],
    reach: Callable[[float], float],
    *,
    is_wide: bool,
) -> Matching:
    """Pair each expected row with one actual row, as many as possible.

    Args:
        left: Keys of the expected rows.
        right: Keys of the actual rows.
        fuzzy: Positions of the columns in which close cells agree.
        close: Tells whether an expected and an actual row (by index) agree.
        reach: Says how far from a number a close one may be, at most.
        is_wide: Closeness reaches far enough for a row to have several possible partners.
    """
    places: dict[Row, list[int]] = {}
    for index in range(len(right) - 1, -1, -1):
        places.setdefault(right[index], []).append(index)
    pairs: list[tuple[int, int]] = []
    missing: list[int] = []
    for index, row in enumerate(left):
        partners = places.get(row)
        if partners:
            pairs.append((index, partners.pop()))
        else:
            missing.append(index)
    extra = sorted(index for partners in places.values() for index in partners)
    if not fuzzy or not missing or not extra:
        return Matching(pairs, missing, extra)
    return _match_close(
        left, right, Matching(pairs, missing, extra), fuzzy, close, reach, is_wide=is_wide
    )


def _match_close(
    left: Sequence[Row],
    right: Sequence[Row],
    exact: Matching,
    fuzzy: Sequence[int],
    close: Callable[[int, int], bool],
    reach: Callable[[float], float],
    *,
    is_wide: bool,
) -> Matching:
    def rigid(row: Row) -> Row:
        return tuple(None if place in fuzzy else cell for place, cell in enumerate(row))

    buckets: dict[Row, tuple[list[int], list[int]]] = {}
    for index in exact.missing:
        buckets.setdefault(rigid(left[index]), ([], []))[0].append(index)
    for index in exact.extra:
        buckets.setdefault(rigid(right[index]), ([], []))[1].append(index)
    pairs = []
    for one, other in exact.pairs:
        # An exact pair may have to make room for two close ones.
        bucket = buckets.get(rigid(left[one])) if is_wide else None
        if bucket and len(bucket[0]) < _GRID_MAX:
            bucket[0].append(one)
            bucket[1].append(other)
        else:
            pairs.append((one, other))
    missing: list[int] = []
    extra: list[int] = []
    for ours, theirs in buckets.values():
        found = _match_bucket(ours, theirs, left, right, fuzzy, close, reach)
        pairs.extend(found.items())
        taken = set(found.values())
        missing.extend(index for index in ours if index not in found)
        extra.extend(index for index in theirs if index not in taken)
    return Matching(sorted(pairs), sorted(missing), sorted(extra))


def _match_bucket(
    ours: list[int],
    theirs: list[int],
    left: Sequence[Row],
    right: Sequence[Row],
    fuzzy: Sequence[int],
    close: Callable[[int, int], bool],
    reach: Callable[[float], float],
) -> dict[int, int]:
    ours = sorted(ours, key=lambda index: [_sortable(left[index][place]) for place in fuzzy])
    theirs = sorted(theirs, key=lambda index: [_sortable(right[index][place]) for place in fuzzy])
    if len(ours) == len(theirs) and all(map(close, ours, theirs)):
        return dict(zip(ours, theirs, strict=True))
    if max(len(ours), len(theirs)) <= _GRID_MAX:
        return _augment({one: [other for other in theirs if close(one, other)] for one in ours})
    return _augment(_within_reach(ours, theirs, left, right, fuzzy, close, reach))


def _within_reach(
    ours: list[int],
    theirs: list[int],
    left: Sequence[Row],
    right: Sequence[Row],
    fuzzy: Sequence[int],
    close: Callable[[int, int], bool],
    reach: Callable[[float], float],
) -> dict[int, list[int]]:
    """Give the close rows of each row, looking only where its most telling number allows it."""
    telling = max(fuzzy, key=lambda place: len({left[row][place] for row in ours}))
    numbered = sorted(
        (float(cell), row) for row in theirs if _is_number(cell := right[row][telling])
    )
    values = [value for value, _ in numbered]
    # With one such column, pairing in sorted order has shown already that some rows stay over.
    most = 8 if len(fuzzy) == 1 else max(8, _NEAR_MAX // len(ours))
    found: dict[int, list[int]] = {}
    for one in ours:
        cell = left[one][telling]
        if not _is_number(cell):
            found[one] = [row for row in theirs[:most] if close(one, row)]
            continue
        value = float(cell)
        start = bisect_left(values, value - reach(value))
        end = bisect_right(values, value + reach(value))
        if end - start > most:
            start = max(start, bisect_left(values, value) - most // 2)
        near = [row for _, row in numbered[start : min(end, start + most)]]
        found[one] = [row for row in near if close(one, row)]
    return found


def _is_number(cell: Any) -> TypeGuard[float | Decimal]:
    return isinstance(cell, (int, float, Decimal)) and -_NUMBER_MAX < cell < _NUMBER_MAX


def _sortable(cell: Hashable) -> tuple[int, Any]:
    if isinstance(cell, (int, float, Decimal)):
        return (1, cell)
    return (0, 0) if cell is None else (2, hash(cell))


def _augment(partners: dict[int, list[int]]) -> dict[int, int]:
    """Give a largest pairing in which each row has one of its possible partners."""
    owner: dict[int, int] = {}
    chosen: dict[int, int] = {}
    for start in partners:
        reached_from: dict[int, int] = {}
        queue = deque([start])
        end = None
        while queue and end is None:
            one = queue.popleft()
            for other in partners[one]:
                if other in reached_from:
                    continue
                reached_from[other] = one
                if other not in owner:
                    end = other
                    break
                queue.append(owner[other])
        while end is not None:
            one = reached_from[end]
            previous = chosen.get(one)
            owner[end] = one
            chosen[one] = end
            end = None if one == start else previous
    return chosen
