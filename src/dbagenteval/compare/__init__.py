"""Are these rows the right rows? Cells, columns and whole results, with reasons."""

from dbagenteval.compare.published import DEFAULT_PRECISION, canonical, match_any, rows_match
from dbagenteval.compare.rowsets import RowComparison, RowOptions, compare_rows

__all__ = [
    "DEFAULT_PRECISION",
    "RowComparison",
    "RowOptions",
    "canonical",
    "compare_rows",
    "match_any",
    "rows_match",
]
