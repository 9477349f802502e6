"""The agent's result against the result of the reference SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import (
    NOT_OBSERVED,
    answer_text,
    last_result,
    shown_rows,
    why_hidden,
)
from dbagenteval.checks.numbers import reference_numbers
from dbagenteval.checks.result_rows import difference, row_options, with_notes
from dbagenteval.checks.several_results import answered_across_executions
from dbagenteval.checks.sql_text import (
    doubled_columns,
    order_columns,
    reads_a_source,
    without_limit,
)
from dbagenteval.compare import compare_rows
from dbagenteval.errors import described
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Rows, Stage, Trace, check_rows_shape

__all__ = ["Executor", "Reference", "check_reference", "run_references"]

Executor = Callable[[str], Rows]
"""Runs SQL on the user's database and returns the rows as a list of dicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference query and what it returned now.

    Args:
        sql: The query.
        rows: Its rows.
        unlimited: Its rows without the outermost LIMIT, where the case accepts ties.
    """

    sql: str
    rows: Rows
    unlimited: Rows | None = None


def run_references(case: Case, execute: Executor | None) -> list[Reference]:
    """Run the reference queries of a case.

    Returns:
        One for each query, in the order of the case; empty if it has none.

    Raises:
        ValueError: There is no executor, or it returned something else than a list of dicts.
        RuntimeError: A query failed; the message names the cause.
    """
    sqls = case.reference_sqls
    if not sqls:
        return []
    if execute is None:
        raise ValueError(
            "the case has `reference_sql` but no `execute` function was given to run it"
        )
    return [_run(sql, case, execute) for sql in sqls]


def _run(sql: str, case: Case, execute: Executor) -> Reference:
    rows = _rows_of(sql, execute)
    _check_columns(sql, rows)
    unlimited = None
    if case.ties == "accept":
        whole = without_limit(sql)
        unlimited = rows if whole is None else _rows_of(whole, execute)
    return Reference(sql=sql, rows=rows, unlimited=unlimited)


def _rows_of(sql: str, execute: Executor) -> Rows:
    try:
        rows: Any = execute(sql)
    except Exception as error:
        raise RuntimeError(f"the reference SQL failed to run: {described(error)}") from error
    try:
        check_rows_shape(rows, "reference")
    except ValueError as error:
        got = "; got None: does the function return its rows?" if rows is None else ""
        raise ValueError(
            f"the `execute` function must return a list of dicts: {error}{got}"
        ) from error
    return rows  # type: ignore[no-any-return]


def _check_columns(sql: str, rows: Rows) -> None:
    """Notice columns that a dict could not hold: comparing the rest would hide a difference."""
    if not rows:
        return
    count, doubled = doubled_columns(sql)
    kept = len(rows[0]) if len(rows[0]) >= count else len({name for row in rows for name in row})
    if doubled and kept < count:
        raise ValueError(
            f"the reference SQL gives {count} columns but the rows have {kept}: "
            f"name each column once (doubled: {', '.join(doubled)})"
        )


def check_reference(trace: Trace, case: Case, references: list[Reference]) -> list[CheckResult]:
    """Compare what the agent gave with the reference: its rows, else its answer text.

    Args:
        trace: The trace.
        case: Says how rows are compared.
        references: At least one; the agent must agree with one of them.

    Returns:
        `reference_rows`, or `reference_numbers` where the trace has only an answer; where rows
        were hidden from us, a skipped `reference_rows` and then the answer's check.
    """
    stage = last_result(trace)
    hidden = why_hidden(trace, stage, "rows", "execute")
    if stage is not None and stage.rows is not None and not hidden:
        result = _compare_rows(trace, stage, case, references)
        if result.status == FAIL:
            answered = answered_across_executions(
                trace, case, [reference.rows for reference in references]
            )
            if answered is not None:
                detail = "the result is spread over several executions; the answer is compared"
                return [CheckResult("reference_rows", stage.name, SKIP, detail), answered]
        return [result]
    if stage is not None and stage.error is not None and not hidden:
        detail = "stage raised, no rows to compare"
        return [CheckResult("reference_rows", stage.name, SKIP, detail)]
    skipped = []
    if hidden:
        name = stage.name if stage is not None else "execute"
        skipped.append(CheckResult("reference_rows", name, SKIP, hidden, reason=NOT_OBSERVED))
    answer = _compare_answer(trace, case, references)
    if answer is not None:
        return [*skipped, answer]
    if skipped:
        return skipped
    detail = "the trace has neither result rows nor an answer to compare with the reference"
    return [CheckResult("reference_rows", "execute", FAIL, detail)]


def _compare_rows(
    trace: Trace, stage: Stage, case: Case, references: list[Reference]
) -> CheckResult:
    rows = stage.rows or []
    first = None
    for number, reference in enumerate(references, start=1):
        names = list(reference.rows[0]) if reference.rows else []
        options = row_options(case, order=order_columns(reference.sql, names), stage=stage)
        found = compare_rows(reference.rows, rows, options, unlimited=reference.unlimited)
        if found.equal:
            which = f", matched reference {number} of {len(references)}"
            detail = f"{len(rows)} row(s){which if len(references) > 1 else ''}"
            detail = with_notes(detail, found) + _constant_sql_note(trace, reference)
            return CheckResult("reference_rows", stage.name, PASS, detail)
        first = first or found
    gives = "the reference query gives"
    if len(references) > 1:
        gives = f"none of {len(references)} reference queries agrees; the first gives"
    detail = f"got {shown_rows(rows)}; {gives} {shown_rows(references[0].rows)}"
    return difference("reference_rows", stage.name, detail, first)


def _constant_sql_note(trace: Trace, reference: Reference) -> str:
    written = trace.last_of("generate")
    sql = written.output if written is not None else None
    if not isinstance(sql, str) or reads_a_source(sql) or not reads_a_source(reference.sql):
        return ""
    return "; warning: the agent's SQL reads no table, so its rows say nothing about the data"


def _compare_answer(trace: Trace, case: Case, references: list[Reference]) -> CheckResult | None:
    stage = trace.last_of("answer")
    hidden = why_hidden(trace, stage, "output", "answer")
    if hidden:
        name = stage.name if stage is not None else "answer"
        return CheckResult("reference_numbers", name, SKIP, hidden, reason=NOT_OBSERVED)
    text = answer_text(trace)
    if stage is None or not text:
        return None
    first: tuple[str, str] | None = None
    for number, reference in enumerate(references, start=1):
        status, detail = reference_numbers(text, case.question, reference.rows)
        if status == PASS:
            if len(references) > 1:
                which = f"matched reference {number} of {len(references)}"
                detail = f"{detail}; {which}" if detail else which
            return CheckResult("reference_numbers", stage.name, PASS, detail)
        first = first or (status, detail)
    status, detail = first or (SKIP, "no reference")
    return CheckResult("reference_numbers", stage.name, status, detail)
