"""Spans and log records become Traces: one for each question, its stages in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbagenteval.traces.trace import (
    RESERVED_STAGE_NAMES,
    STAGE_KINDS,
    Observed,
    Rows,
    Stage,
    Trace,
    check_rows_shape,
)

if TYPE_CHECKING:
    from dbagenteval.traces.assembly import assemble

__all__ = [
    "RESERVED_STAGE_NAMES",
    "STAGE_KINDS",
    "Observed",
    "Rows",
    "Stage",
    "Trace",
    "assemble",
    "check_rows_shape",
]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: `import dbagenteval` needs Trace and Stage only.
    if name == "assemble":
        from dbagenteval.traces.assembly import assemble  # noqa: PLC0415

        return assemble
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
