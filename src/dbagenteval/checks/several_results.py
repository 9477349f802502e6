"""A result that is spread over several executions of one turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import answer_text, why_hidden
from dbagenteval.checks.numbers import NumbersGrounded, states_value, ungrounded_numbers
from dbagenteval.checks.result_rows import row_options
from dbagenteval.compare import canonical, compare_rows
from dbagenteval.scorecard import PASS, CheckResult
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["answered_across_executions"]


def answered_across_executions(
    trace: Trace, case: Case, references: Iterable[Rows]
) -> CheckResult | None:
    """Accept an agent that asked the database in parts and answered from all of them.

    Where the last execution alone is not the reference, two shapes are accepted, strictly, and
    only if the answer states every value of the reference and no figure of its own making:

    - the reference is one row, and the executions give one row each that make it up together,
      under the same column names (in the same order where columns have no names), none left over;
    - the reference is one number that no execution returned, worked out from what they returned.

    An agent that once had the right value and then went on to another does not pass by the first.

    Args:
        trace: The trace.
        case: Says how rows are compared.
        references: Rows of each reference query.

    Returns:
        A passed `reference_numbers`, or None: then the rows stay what they are, different.
    """
    results = _successful_results(trace)
    stage = trace.last_of("answer")
    text = answer_text(trace)
    if len(results) < 2 or stage is None or not text:
        return None
    if why_hidden(trace, stage, "output", "answer"):
        return None
    for reference in references:
        values = [value for row in reference for value in row.values() if value is not None]
        if not values or not all(states_value(text, value) for value in values):
            continue
        if len(values) == 1:
            accepted = _is_worked_out(trace, case, reference, values[0], results)
        else:
            accepted = _made_up_of(reference, results, case) and not _is_misnamed(text, reference)
            own = [row for result in results for row in result.rows or ()]
            accepted = accepted and not ungrounded_numbers(text, case.question, own)
        if accepted:
            detail = f"the answer states the reference from {len(results)} executions together"
            return CheckResult("reference_numbers", stage.name, PASS, detail)
    return None


def _successful_results(trace: Trace) -> list[Stage]:
    return [
        stage
        for stage in trace.stages
        if stage.kind == "execute"
        and stage.rows is not None
        and not stage.error
        and not why_hidden(trace, stage, "rows", "execute")
    ]


def _is_worked_out(
    trace: Trace, case: Case, reference: Rows, value: object, results: Sequence[Stage]
) -> bool:
    if isinstance(value, str):
        return False
    wanted = canonical(value, case.precision)
    cells = [cell for result in results for row in result.rows or () for cell in row.values()]
    if any(canonical(cell, case.precision) == wanted for cell in cells):
        return False
    grounded = NumbersGrounded(derived=True, pairing=True).run(trace, case)
    return grounded.status == PASS and len(reference) == 1


def _made_up_of(reference: Rows, results: Sequence[Stage], case: Case) -> bool:
    single = [stage.rows[0] for stage in results if stage.rows and len(stage.rows) == 1]
    if len(reference) != 1 or len(single) < len(results):
        return False
    names = list(reference[0])
    values = [value for row in single for value in row.values()]
    if len(values) != len(names):
        return False
    if any(stage.meta.get("positional") for stage in results):
        # Without names only the order tells which value is which.
        joined = dict(zip(names, values, strict=True))
    else:
        joined = {name: value for row in single for name, value in row.items()}
        if {name.casefold() for name in names} != {name.casefold() for name in joined}:
            return False
    return compare_rows(reference, [joined], row_options(case)).equal


def _is_misnamed(text: str, reference: Rows) -> bool:
    """Find a figure that stands right before a column's name but is not that column's value."""
    for name, value in reference[0].items():
        if isinstance(value, str) or not name.isidentifier():
            continue
        words = name.replace("_", " ").strip()
        for found in re.finditer(rf"(\d[\d.,]*%?)\s+{re.escape(words)}\b", text, re.IGNORECASE):
            if not states_value(found[1].rstrip(".,"), value):
                return True
    return False
