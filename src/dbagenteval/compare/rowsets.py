"""Compare whole results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.compare.explanation import explain
from dbagenteval.compare.identical import are_identical
from dbagenteval.compare.limits import agree_up_to_ties
from dbagenteval.compare.notes import BOTH_EMPTY, pass_notes
from dbagenteval.compare.numbers import Tolerance
from dbagenteval.compare.options import RowComparison, RowOptions
from dbagenteval.compare.outcome import match_rest, match_results, pair_keys
from dbagenteval.compare.sides import Side

__all__ = ["RowComparison", "RowOptions", "compare_rows"]

_LARGE_CELLS = 100_000
"""Cells of one result from which Arrow is faster, its import included."""


def compare_rows(
    expected: Sequence[Mapping[str, Any]],
    actual: Sequence[Mapping[str, Any]],
    options: RowOptions | None = None,
    *,
    unlimited: Sequence[Mapping[str, Any]] | None = None,
) -> RowComparison:
    """Compare the agent's rows with the correct ones.

    Args:
        expected: The correct rows; also a `pyarrow.Table`.
        actual: The agent's rows; also a `pyarrow.Table`.
        options: How to compare.
        unlimited: The reference's rows without its LIMIT, needed for `ties="accept"`.

    Returns:
        Whether they agree, and why or why not.

    Raises:
        ValueError: The tolerance has an unknown name or is no number of at least 0.
    """
    options = options or RowOptions()
    if options.tolerance is not None:
        Tolerance.from_mapping(options.tolerance)
    elif are_identical(expected, actual, options):
        return RowComparison(equal=True)
    if _is_large(expected, actual):
        found = _compare_large(expected, actual, options)
        if found is not None:
            return found
    return _compare(Side.of(expected), Side.of(actual), options, unlimited)


def _is_large(expected: Any, actual: Any) -> bool:
    """Tell results that are worth the import of Arrow, or are in Arrow already."""
    counts = len(expected), len(actual)
    if not all(counts):
        return False
    if hasattr(expected, "num_rows") or hasattr(actual, "num_rows"):
        return True
    return max(counts) * len(expected[0]) >= _LARGE_CELLS


def _compare_large(expected: Any, actual: Any, options: RowOptions) -> RowComparison | None:
    """Compare what is left after identical rows cancel; None if that does not decide."""
    from dbagenteval.compare.large import reduce_results  # noqa: PLC0415 - heavy

    rest = reduce_results(expected, actual, options)
    if rest is None or (options.extra_columns == "fail" and rest.has_extra_columns):
        return None
    keys = pair_keys(rest.expected, rest.actual, options)
    outcome = match_rest(keys, rest.pairs, rest.by_value, options)
    if outcome.rows_agree:
        notes = pass_notes(keys, outcome, options, is_in_order=rest.is_in_order)
        return RowComparison(equal=True, notes=notes)
    is_plain = not options.ordered and options.tolerance is None
    is_final = is_plain or len(expected) != len(actual)
    return explain(keys, outcome, "", options) if is_final and not rest.by_value else None


def _compare(
    ours: Side,
    theirs: Side,
    options: RowOptions,
    unlimited: Sequence[Mapping[str, Any]] | None,
) -> RowComparison:
    keys = pair_keys(ours, theirs, options)
    trivial = _trivial(ours, theirs, options)
    if trivial is not None:
        return trivial if trivial.equal else explain(keys, None, trivial.reason, options)
    if ours.row_count != theirs.row_count:
        return explain(keys, None, "", options)
    outcome = match_results(keys, options)
    if not outcome.rows_agree or outcome.is_out_of_order:
        ties = _ties(ours, theirs, unlimited, options)
        if ties:
            return RowComparison(
                equal=True, notes=(f"LIMIT cuts through ties on {', '.join(ties)}",)
            )
        return explain(keys, outcome, outcome.alignment.reason, options)
    if options.extra_columns == "fail" and len(theirs.names) > len(outcome.alignment.pairs):
        return explain(keys, outcome, "extra_columns", options)
    return RowComparison(equal=True, notes=pass_notes(keys, outcome, options))


def _ties(
    ours: Side,
    theirs: Side,
    unlimited: Sequence[Mapping[str, Any]] | None,
    options: RowOptions,
) -> tuple[str, ...]:
    if options.ties != "accept" or unlimited is None:
        return ()
    return agree_up_to_ties(ours, theirs, Side.of(unlimited), options)


def _trivial(ours: Side, theirs: Side, options: RowOptions) -> RowComparison | None:
    """Decide where there is nothing to compare; None if there is."""
    if not ours.row_count and not theirs.row_count:
        if options.empty == "fail":
            return RowComparison(equal=False, reason="both_empty")
        return RowComparison(equal=True, notes=(BOTH_EMPTY,))
    if not ours.row_count:
        return RowComparison(equal=False, reason="reference_empty")
    if not theirs.row_count:
        return RowComparison(equal=False, reason="no_rows")
    if not ours.names and theirs.names:
        return RowComparison(equal=False, reason="no_columns")
    if not ours.names and ours.row_count == theirs.row_count:
        return RowComparison(equal=True, notes=("no columns to compare",))
    return None
