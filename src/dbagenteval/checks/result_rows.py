"""The agent's rows against correct rows, and the check `rows_match`."""

from __future__ import annotations

from collections.abc import Sequence

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import NOT_OBSERVED, last_result, shown_rows, why_hidden
from dbagenteval.compare import RowComparison, RowOptions, compare_rows
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Stage, Trace

__all__ = ["check_rows", "difference", "row_options", "with_notes"]


def row_options(case: Case, *, order: Sequence[str] = (), stage: Stage | None = None) -> RowOptions:
    """Give the comparison options that a case asks for.

    Args:
        case: The case.
        order: What the outermost ORDER BY of the reference query orders by.
        stage: Holds the agent's rows; its `meta["positional"]` says that they have no names.
    """
    ordered = bool(order) if case.ordered == "auto" else bool(case.ordered)
    return RowOptions(
        ordered=ordered,
        precision=case.precision,
        tolerance=case.tolerance,
        columns=case.columns,
        extra_columns=case.extra_columns,
        empty=case.empty,
        ties=case.ties,
        reference_is_ordered=bool(order),
        order_columns=tuple(order),
        text_numbers=case.text_numbers,
        trim_char_padding=case.trim_char_padding,
        positional=stage is not None and bool(stage.meta.get("positional")),
    )


def with_notes(detail: str, comparison: RowComparison) -> str:
    """Add to the detail of a pass what it rests on."""
    return "; ".join([detail, *comparison.notes])


def check_rows(trace: Trace, case: Case) -> CheckResult:
    """Check that the agent's rows are the expected rows, or one of the accepted answers."""
    accepted = case.accepted_answers or []
    stage = last_result(trace)
    hidden = why_hidden(trace, stage, "rows", "execute")
    name = stage.name if stage is not None else "execute"
    if hidden:
        return CheckResult("rows_match", name, SKIP, hidden, reason=NOT_OBSERVED)
    if stage is None:
        return CheckResult("rows_match", name, FAIL, "no execute stage in trace")
    if stage.rows is None:
        if stage.error is not None:
            return CheckResult("rows_match", name, SKIP, "stage raised, no rows to compare")
        return CheckResult("rows_match", name, FAIL, "the execute stage recorded no rows")
    options = row_options(case, stage=stage)
    first: RowComparison | None = None
    for number, rows in enumerate(accepted, start=1):
        comparison = compare_rows(rows, stage.rows, options)
        if comparison.equal:
            which = f", matched accepted answer {number} of {len(accepted)}"
            detail = f"{len(stage.rows)} row(s){which if len(accepted) > 1 else ''}"
            return CheckResult("rows_match", name, PASS, with_notes(detail, comparison))
        first = first or comparison
    detail = f"got {shown_rows(stage.rows)}; expected {shown_rows(accepted[0])}"
    return difference("rows_match", name, detail, first)


def difference(check: str, stage: str, detail: str, found: RowComparison | None) -> CheckResult:
    """Make the failed result of a row comparison, with what the comparison found behind it."""
    if found is None:
        return CheckResult(check, stage, FAIL, detail)
    evidence = dict(found.evidence)
    if found.detail:
        evidence["difference"] = found.detail
    if found.guess:
        evidence["guess"] = found.guess
    return CheckResult(check, stage, FAIL, detail, reason=found.reason, evidence=evidence)
