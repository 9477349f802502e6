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
    check_stages,
)

if TYPE_CHECKING:
    from dbagenteval.traces.assembly import assemble
    from dbagenteval.traces.observability import FieldCoverage, ServiceCoverage, coverage

__all__ = [
    "RESERVED_STAGE_NAMES",
    "STAGE_KINDS",
    "FieldCoverage",
    "Observed",
    "Rows",
    "ServiceCoverage",
    "Stage",
    "Trace",
    "assemble",
    "check_rows_shape",
    "check_stages",
    "coverage",
]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: `import dbagenteval` needs Trace and Stage only.
    if name == "assemble":
        from dbagenteval.traces.assembly import assemble  # noqa: PLC0415

        return assemble
    if name in ("coverage", "FieldCoverage", "ServiceCoverage"):
        from dbagenteval.traces import observability  # noqa: PLC0415

        return getattr(observability, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
