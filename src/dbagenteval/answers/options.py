"""Names of the options that checks of an answer take."""

from __future__ import annotations

__all__ = ["OPERATIONS", "SOURCES"]

SOURCES = ("rows", "row_count", "question", "text", "dates", "sql")
"""What may ground a figure: numeric cells, how many rows there are, numbers of the question,
digits inside text cells, parts of date cells, and (for dates and years only) the SQL."""

OPERATIONS = ("sum", "difference", "share", "ratio", "average", "median", "count", "change")
"""What `derived=True` accepts; the smallest and the largest value are cells anyway."""
