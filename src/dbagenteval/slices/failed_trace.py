"""The slice of data for a trace that failed: which failure it is to show is found out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.errors import SliceError
from dbagenteval.rules.query.sql import read_sql
from dbagenteval.slices.failing import (
    Failure,
    SameFailure,
    leaks_tenant,
    result_shown,
    rows_differ,
    sql_fails,
)
from dbagenteval.slices.planting import with_another_tenant
from dbagenteval.slices.redaction import Redact
from dbagenteval.slices.script import Rows
from dbagenteval.slices.slicing import DataSlice, Extract, read_extract, slice_extract
from dbagenteval.suite.reading import why_not_run
from dbagenteval.traces import Trace

__all__ = ["slice_failure"]


def slice_failure(
    trace: Trace,
    case: Case | None,
    database_url: str,
    *,
    tenant: tuple[str, Any] | None = None,
    stage: str = "",
    redact: Redact | None = None,
    keep_values: bool = False,
    max_rows: int = 20,
) -> DataSlice:
    """Find few rows that show why a trace failed.

    Args:
        trace: The trace; its last SQL is what is to blame.
        case: Its case, or one with the reference proposed for it; None without reference.
        database_url: A SQLAlchemy URL; the database is only read.
        tenant: Column and value of the tenant who asked.
        stage: Kind of the stage at fault, if that is known: `answer` says that the SQL is right,
            another that it is not. Unknown, what the right rows of a wrong answer need comes last.
        redact: As in `slice_data`.
        keep_values: As in `slice_data`.
        max_rows: As in `slice_data`.

    Returns:
        The slice; `shows` says what it shows. Its `statements` are the trace's last SQL and then
        the references of the case.

    Raises:
        SliceError: The trace has no SQL that only reads, or nothing could be shown.
        TargetError: The database can't be opened.
    """
    executed = trace.last_of("execute")
    statements = [_last_sql(trace), *(case.reference_sqls if case is not None else ())]
    extract = read_extract(database_url, statements)
    _check_reading(extract)
    failures: Iterable[_Shown] = _result(extract) if stage in ("", "answer") else ()
    if stage != "answer":
        failures = chain(_wrong_rows(extract, case, tenant), failures)
        if executed is None or executed.rows is None:
            # Where it gave rows, failing on a copy would be the copy's fault.
            failures = chain(_error(extract, case), failures)
    reasons = []
    for shows, failure, rows in failures:
        try:
            found = slice_extract(
                replace(extract, rows=rows),
                SameFailure(failure),
                redact=redact,
                keep_values=keep_values,
                max_rows=max_rows,
            )
        except SliceError as error:
            reasons.append(f"{shows}: {error}")
        else:
            return replace(found, shows=shows)
    raise SliceError("; ".join(reasons))


def _last_sql(trace: Trace) -> str:
    written = trace.last_of("generate")
    if written is None or not isinstance(written.output, str) or not written.output.strip():
        raise SliceError("the trace has no SQL to slice data for")
    seen = written.observed("output")
    if not seen.is_evidence:
        raise SliceError(f"the trace's SQL was not seen whole: {seen.why or seen.state}")
    return written.output


_Shown = tuple[str, Failure, Rows]
"""In words, how it is recognised, and the rows to start from."""


def _error(extract: Extract, case: Case | None) -> Iterator[_Shown]:
    yield "the SQL fails", sql_fails(extract.statements[0], case), extract.rows


def _wrong_rows(
    extract: Extract, case: Case | None, tenant: tuple[str, Any] | None
) -> Iterator[_Shown]:
    """Give what shows that the rows are not the right ones, on the data as it is first."""
    agent_sql = extract.statements[0]
    wrong: list[tuple[str, Failure]] = []
    if case is not None and case.reference_sqls:
        wrong.append(("the rows are not the reference's", rows_differ(agent_sql, case)))
    if tenant is not None:
        leak = leaks_tenant(agent_sql, *tenant, extract.schema, extract.dialect)
        wrong.append(("rows of other tenants change the result", leak))
    for shows, failure in wrong:
        yield shows, failure, extract.rows
    if tenant is not None:
        planted = with_another_tenant(extract.schema, extract.rows, *tenant)
        for shows, failure in wrong:
            yield f"{shows}, once another tenant has rows like the tenant's", failure, planted


def _result(extract: Extract) -> Iterator[_Shown]:
    for shows, exactly in (
        ("the result that the answer was made from", True),
        ("a result like the one that the answer was made from", False),
    ):
        yield shows, result_shown(extract.statements, exactly=exactly), extract.rows


def _check_reading(extract: Extract) -> None:
    for sql in extract.statements:
        # What does not parse is run all the same: how it fails is what the slice is to show.
        if not read_sql(sql, extract.dialect).statements:
            continue
        problem = why_not_run(sql, extract.dialect)
        if problem is not None:
            raise SliceError(f"the SQL is not run: {problem}")
