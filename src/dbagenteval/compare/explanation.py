"""Explain a difference: reason code, one line, evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from dbagenteval.compare.cells import kind_of
from dbagenteval.compare.difference import Difference
from dbagenteval.compare.guesses import guess
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.matching import Matching
from dbagenteval.compare.names import affinity, named_pairs
from dbagenteval.compare.options import RowComparison, RowOptions
from dbagenteval.compare.outcome import Outcome, match_over

__all__ = ["explain"]

_ROWS_SHOWN = 5
_ROWS_COMPARED = 200
_TEXT_SHOWN = 200


def explain(
    keys: PairKeys, outcome: Outcome | None, reason: str, options: RowOptions
) -> RowComparison:
    """Say why two results differ.

    Args:
        keys: The keys of both results.
        outcome: How far they correspond, or None if that was not looked at.
        reason: Code of the reason if it is known already, else empty.
        options: How they were compared.
    """
    complete = outcome is not None and not outcome.alignment.reason
    pairs = outcome.alignment.pairs if outcome and complete else _likely_pairs(keys, options)
    matching = outcome.matching if outcome and complete else None
    if matching is None:
        matching = match_over(keys, pairs, options) if pairs else _nothing(keys)
    difference = Difference(keys, pairs, matching, _neighbours(keys, pairs, matching))
    if not reason or reason == "different_values":
        is_out_of_order = outcome is not None and outcome.is_out_of_order
        reason = "row_order" if is_out_of_order else _reason(difference)
    return RowComparison(
        equal=False,
        reason=reason,
        detail=_detail(difference, outcome, reason),
        guess=guess(difference, reason),
        evidence=_evidence(difference, outcome),
    )


def _nothing(keys: PairKeys) -> Matching:
    return Matching([], list(range(keys.expected.row_count)), list(range(keys.actual.row_count)))


def _likely_pairs(keys: PairKeys, options: RowOptions) -> dict[int, int]:
    """Pair columns as well as can be: by name, then by common values and words, then by place."""
    names, others = keys.expected.names, keys.actual.names
    pairs = {} if options.positional else named_pairs(names, others)
    if options.columns == "by_name" and not options.positional:
        return pairs
    scored = []
    for i in range(len(names)):
        for j in range(len(others)):
            if i not in pairs and j not in pairs.values():
                likeness = _overlap(keys, i, j) + affinity(names[i], others[j], names)
                kinds_meet = bool(keys.expected.kinds[i] & keys.actual.kinds[j])
                scored.append((-likeness - kinds_meet / 4, abs(i - j), i, j))
    for _, _, i, j in sorted(scored):
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def _overlap(keys: PairKeys, i: int, j: int) -> float:
    if len(keys.expected.names) * len(keys.actual.names) > 2_000:
        return 0.0
    context = keys.context(i, j)
    ours = Counter(keys.left(i, context)[:2_000])
    theirs = Counter(keys.right(j, context)[:2_000])
    return (ours & theirs).total() / max(1, ours.total()) if ours else 0.0


def _neighbours(
    keys: PairKeys, pairs: dict[int, int], matching: Matching
) -> list[tuple[int, int, tuple[tuple[int, int], ...]]]:
    """Pair each missing row with the extra row that shares most cells with it.

    Returns:
        Expected row, actual row, and the column pairs that differ.
    """
    columns = list(pairs.items())
    if not columns:
        return []
    missing, extra = matching.missing[:_ROWS_COMPARED], matching.extra[:_ROWS_COMPARED]
    left = {row: _cells(keys, columns, row, is_left=True) for row in missing}
    right = {row: _cells(keys, columns, row, is_left=False) for row in extra}
    scored = []
    for one, ours in left.items():
        for other, theirs in right.items():
            same = sum(a == b for a, b in zip(ours, theirs, strict=True))
            scored.append((-same, abs(one - other), one, other))
    scored.sort()
    found, taken_left, taken_right = [], set(), set()
    for _, _, one, other in scored:
        if one not in taken_left and other not in taken_right:
            taken_left.add(one)
            taken_right.add(other)
            differing = tuple(
                pair for pair, a, b in zip(columns, left[one], right[other], strict=True) if a != b
            )
            found.append((one, other, differing))
    return sorted(found)


def _cells(
    keys: PairKeys, columns: Sequence[tuple[int, int]], row: int, *, is_left: bool
) -> list[Hashable]:
    return [
        (keys.left(i, keys.context(i, j)) if is_left else keys.right(j, keys.context(i, j)))[row]
        for i, j in columns
    ]


def _reason(difference: Difference) -> str:
    matching = difference.matching
    ours, theirs = difference.keys.expected.row_count, difference.keys.actual.row_count
    if ours != theirs:
        if not matching.missing and matching.extra:
            return "duplicate_rows" if difference.only_repeats() else "extra_rows"
        if not matching.extra and matching.missing:
            return "missing_rows"
        return "row_count"
    if not matching.missing and not matching.extra:
        return "different_values"
    if difference.same_distinct_rows():
        return "duplicate_rows"
    if difference.is_scrambled():
        return "row_pairing"
    return difference.cell_reason() or "different_values"


def _detail(difference: Difference, outcome: Outcome | None, reason: str) -> str:
    keys, matching = difference.keys, difference.matching
    if reason == "row_order":
        return "the rows are right but in another order"
    if reason == "both_empty":
        return "both results are empty, and the case does not allow that"
    if reason == "extra_columns":
        used = set(difference.pairs.values())
        more = [name for j, name in enumerate(keys.actual.names) if j not in used]
        return f"column(s) beyond the expected ones: {_listed(more)}"
    parts = []
    if outcome and outcome.alignment.column:
        parts.append(f"no column for {outcome.alignment.column}")
    if matching.missing:
        parts.append(f"{len(matching.missing)} row(s) missing")
    if matching.extra:
        parts.append(f"{len(matching.extra)} row(s) extra")
    for one, other, differing in difference.neighbours[:1]:
        for i, j in differing[:1]:
            ours, theirs = keys.expected.columns[i][one], keys.actual.columns[j][other]
            parts.append(f"{keys.expected.names[i]}: {_repr(theirs)}, expected {_repr(ours)}")
    if reason == "names_contradict":
        said = [
            f"{keys.actual.names[j]} for {keys.expected.names[i]}"
            for i, j in difference.pairs.items()
        ]
        parts.append(f"the names pair {_listed(said)}")
    return ", ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_ROWS_SHOWN]) + (", …" if len(names) > _ROWS_SHOWN else "")


def _evidence(difference: Difference, outcome: Outcome | None) -> dict[str, Any]:
    keys, matching = difference.keys, difference.matching
    names, others = keys.expected.names, keys.actual.names
    evidence: dict[str, Any] = {
        "expected_rows": keys.expected.total_rows,
        "actual_rows": keys.actual.total_rows,
        "columns": {names[i]: others[j] for i, j in difference.pairs.items()},
        "missing_count": len(matching.missing),
        "extra_count": len(matching.extra),
        "missing": _counted(keys.expected, matching.missing),
        "extra": _counted(keys.actual, matching.extra),
        "differences": [
            _cell(difference, one, other, i, j)
            for one, other, differing in difference.neighbours[:_ROWS_SHOWN]
            for i, j in differing[:_ROWS_SHOWN]
        ][: 2 * _ROWS_SHOWN],
    }
    without = [name for i, name in enumerate(names) if i not in difference.pairs]
    if outcome and outcome.alignment.column and outcome.alignment.column not in without:
        without.append(outcome.alignment.column)
    if without:
        evidence["columns_without_partner"] = without[:20]
    return evidence


def _counted(side: Any, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Give the first distinct rows with how often each occurs."""
    counts: dict[str, dict[str, Any]] = {}
    for row in rows[:10_000]:
        shown = {name: json_ready(value) for name, value in side.row(row).items()}
        known = counts.get(repr(shown))
        if known:
            known["count"] += 1
        elif len(counts) < _ROWS_SHOWN:
            counts[repr(shown)] = {"row": shown, "count": 1}
    return list(counts.values())


def _cell(difference: Difference, one: int, other: int, i: int, j: int) -> dict[str, Any]:
    keys = difference.keys
    same = {
        keys.expected.names[k]: json_ready(keys.expected.columns[k][one])
        for k in list(difference.pairs)[:8]
        if k != i
    }
    return {
        "row": same,
        "column": keys.expected.names[i],
        "actual_column": keys.actual.names[j],
        "expected": json_ready(keys.expected.columns[i][one]),
        "actual": json_ready(keys.actual.columns[j][other]),
    }


def json_ready(value: Any) -> Any:
    """Give a cell as JSON can hold it: what it can't is text, long text is cut."""
    kind = kind_of(value)
    if kind in ("null", "bool"):
        return value
    if kind == "number":
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
    if isinstance(value, str):
        return _cut(value.encode("utf-8", "backslashreplace").decode("utf-8"))
    return _repr(value) if kind in ("json", "bytes", "other") else _cut(_text(value))


def _text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an integer with more digits than Python prints
        return hex(value)


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:
        text = hex(value) if isinstance(value, int) else "a value too large to print"
    except RecursionError:
        text = "a value nested too deeply to print"
    return _cut(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_SHOWN else text[: _TEXT_SHOWN - 1] + "…"
