"""The SQL that an agent wrote, and the reference that it is closest to."""

from __future__ import annotations

from dbagenteval.cases import Case
from dbagenteval.failures.edit import SqlEdit, sql_edit
from dbagenteval.traces import Stage, Trace

__all__ = ["closest_edit", "dialect_of", "is_sql", "last_sql"]


def is_sql(stage: Stage) -> bool:
    """Say whether a stage shows SQL that was written."""
    return stage.kind == "generate" and isinstance(stage.output, str) and bool(stage.output.strip())


def last_sql(trace: Trace) -> str:
    """Give the last SQL that was written in a trace, empty if none was seen."""
    return next((str(stage.output) for stage in reversed(trace.stages) if is_sql(stage)), "")


def dialect_of(trace: Trace, case: Case | None) -> str | None:
    """Give the dialect of the agent's SQL, by the name that the case or the spans have for it."""
    return (case.dialect if case else None) or trace.meta.get("dialect")


def closest_edit(sql: str, case: Case | None, dialect: str | None) -> SqlEdit | None:
    """Give the edit from the reference that SQL differs least from; None without SQL or reference.

    One that does the same is closer than any other, one that can't be analysed further.
    """
    references = case.reference_sqls if case is not None and sql else ()
    return min(
        (sql_edit(sql, reference, dialect) for reference in references),
        key=lambda edit: (
            edit.kinds != ("same",),
            edit.kinds == ("unreadable",),
            len(edit.kinds),
        ),
        default=None,
    )
