"""Are these rows the right rows? Cells, columns and whole results, with reasons."""

from dbagenteval.compare.rowsets import RowComparison, RowOptions, compare_rows

__all__ = ["RowComparison", "RowOptions", "compare_rows"]
