"""What is kept of a trace that may become a case."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from functools import cached_property

from dbagenteval.checks import check_no_error
from dbagenteval.failures import blame, last_sql, structure
from dbagenteval.failures.questions import words_of
from dbagenteval.scorecard import Scorecard
from dbagenteval.suite.match import normalised
from dbagenteval.traces import Rows, Trace

__all__ = ["Candidate", "Failure", "candidate_of", "failure_of", "moment_text"]

_MAX_ROWS = 20
_MAX_ROWS_TOLD = 1_000
_MAX_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a trace failed by.

    Args:
        stage: The stage to blame, without a number.
        check: The check that failed.
        reason: Its reason code, empty if it has none.
        detail: Its detail.
    """

    stage: str
    check: str
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One question that an agent was asked, and what it made of it.

    Args:
        question: The question.
        sql: The last SQL that it wrote or ran, empty if none was seen.
        rows: The first rows of its result, None if they were not seen.
        row_count: How many rows the result has.
        rows_told: Further rows that question or answer speak of.
        answer: Its answer.
        is_without_sql: It answered, and plainly wrote no SQL.
        dialect: sqlglot's name of the SQL's dialect, or None.
        failure: What it failed by, None if nothing has judged it.
        trace_id: The trace.
        start_ns: When it began.
        service: The agent's name.
        version: The agent's version.
        asked_before: Earlier questions of the same session, the last one last.
    """

    question: str
    sql: str = ""
    rows: Rows | None = None
    row_count: int = 0
    rows_told: Rows = field(default_factory=list)
    answer: str = ""
    is_without_sql: bool = False
    dialect: str | None = None
    failure: Failure | None = None
    trace_id: str = ""
    start_ns: int = 0
    service: str = ""
    version: str = ""
    asked_before: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """The question without what people vary."""
        return normalised(self.question)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question; all numbers are one word."""
        return words_of(self.question)

    @property
    def time(self) -> str:
        """When it began, as a cases file holds it; empty if that is not known."""
        return moment_text(self.start_ns / 1e9) if self.start_ns else ""

    @cached_property
    def structure(self) -> str:
        """What the SQL does; empty without SQL."""
        return structure(self.sql, self.dialect) if self.sql else ""


def moment_text(unix_s: float) -> str:
    """Give a time to the second, in UTC, as `2026-01-31T12:00:00Z`."""
    moment = datetime.datetime.fromtimestamp(unix_s, tz=datetime.timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def candidate_of(
    trace: Trace, failure: Failure | None, asked_before: tuple[str, ...] = ()
) -> Candidate:
    """Keep of a trace what a case is made of."""
    result = trace.last_of("execute")
    rows = None if result is None or not result.observed("rows").is_evidence else result.rows
    answer = trace.last_of("answer")
    told = str(answer.output)[:_MAX_CHARS] if answer is not None and answer.output else ""
    meta = trace.meta
    return Candidate(
        question=trace.question,
        sql=last_sql(trace)[:_MAX_CHARS],
        rows=None if rows is None else rows[:_MAX_ROWS],
        row_count=len(rows or ()),
        rows_told=_rows_told((rows or [])[_MAX_ROWS:], f"{trace.question} {told}".casefold()),
        answer=told,
        is_without_sql=_is_without_sql(trace),
        dialect=meta.get("dialect"),
        failure=failure,
        trace_id=trace.trace_id,
        start_ns=meta.get("start_ns") or 0,
        service=meta.get("service") or "",
        version=meta.get("service_version") or "",
        asked_before=asked_before,
    )


def _rows_told(rows: Rows, text: str) -> Rows:
    """Give rows of which a word is in the text, so that its names can be told from other words."""
    found = []
    for row in rows:
        cells = (cell for cell in row.values() if isinstance(cell, str))
        words = (word for cell in cells for word in cell.casefold().split())
        if any(len(word) > 1 and word in text for word in words):
            found.append(row)
    return found[:_MAX_ROWS_TOLD]


def _is_without_sql(trace: Trace) -> bool:
    kinds = {stage.kind for stage in trace.stages}
    return kinds == {"answer"} and not trace.meta.get("not_observed")


def failure_of(trace: Trace, card: Scorecard) -> Failure | None:
    """Say what a trace failed by: a check of its card, else an error that was not made good.

    Without a case nothing asks whether an answer is right; that a query failed is seen all the
    same.
    """
    if card.failed is None:
        errors = [check_no_error(stage, trace) for stage in trace.stages]
        card = Scorecard(trace.question, errors, card.stage_order)
    failed = card.failed
    if failed is None:
        return None
    return Failure(
        stage=_stage_to_blame(trace, card) or failed.stage,
        check=failed.check,
        reason=failed.reason,
        detail=failed.detail,
    )


def _stage_to_blame(trace: Trace, card: Scorecard) -> str:
    known = card.meta.get("blame")
    if known:  # by the scoring, which has the reference
        return str(known["kind"])
    blamed = blame(card, trace, None)
    return "" if blamed is None else blamed.kind
