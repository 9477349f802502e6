"""Spans and log records become Traces: one for each question, its stages in order."""

from dbagenteval.traces.trace import (
    RESERVED_STAGE_NAMES,
    STAGE_KINDS,
    Observed,
    Rows,
    Stage,
    Trace,
    check_rows_shape,
)

__all__ = [
    "RESERVED_STAGE_NAMES",
    "STAGE_KINDS",
    "Observed",
    "Rows",
    "Stage",
    "Trace",
    "check_rows_shape",
]
