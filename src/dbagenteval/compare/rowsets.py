"""Compare whole results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.compare.explanation import explain
from dbagenteval.compare.keys import PairKeys
from dbagenteval.compare.limits import agree_up_to_ties
from dbagenteval.compare.notes import BOTH_EMPTY, pass_notes
from dbagenteval.compare.options import RowComparison, RowOptions
from dbagenteval.compare.outcome import match_results
from dbagenteval.compare.sides import Side

__all__ = ["RowComparison", "RowOptions", "compare_rows"]


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
    ours, theirs = Side.of(expected), Side.of(actual)
    precision = options.precision if options.tolerance is None else None
    keys = PairKeys(ours, theirs, precision, options.text_numbers)
    trivial = _trivial(ours, theirs, options)
    if trivial is not None:
        return trivial if trivial.equal else explain(keys, None, trivial.reason, options)
    if ours.row_count != theirs.row_count:
        return explain(keys, None, "", options)
    outcome = match_results(keys, options)
    if not outcome.rows_agree or outcome.is_out_of_order:
        if options.ties == "accept" and unlimited is not None:
            ties = agree_up_to_ties(ours, theirs, Side.of(unlimited), options)
            if ties:
                return RowComparison(
                    equal=True, notes=(f"LIMIT cuts through ties on {', '.join(ties)}",)
                )
        return explain(keys, outcome, outcome.alignment.reason, options)
    if options.extra_columns == "fail" and len(theirs.names) > len(outcome.alignment.pairs):
        return explain(keys, outcome, "extra_columns", options)
    return RowComparison(equal=True, notes=pass_notes(keys, outcome, options))


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
