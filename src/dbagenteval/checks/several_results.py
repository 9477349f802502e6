"""A result that is spread over several executions of one turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbagenteval.cases import Case
from dbagenteval.checks.evidence import answer_text, why_hidden
from dbagenteval.checks.numbers import states_value, ungrounded_numbers
from dbagenteval.checks.result_rows import row_options
from dbagenteval.compare import compare_rows
from dbagenteval.scorecard import PASS, CheckResult
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["answered_across_executions"]


def answered_across_executions(
    trace: Trace, case: Case, references: Iterable[Rows]
) -> CheckResult | None:
    """Accept an agent that asked the database in parts and answered from all of them.

    Where the last execution alone is not the reference, the answer decides, strictly: it states
    every value of the reference, every figure in it stands in the reference or in what the agent's
    own executions returned, and the reference is either one value, or one row that the executions'
    single rows make up together under the same column names (in the same order where columns have
    no names), so that no value changes its meaning.

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
    own = [row for result in results for row in result.rows or ()]
    for reference in references:
        values = [value for row in reference for value in row.values() if value is not None]
        if not values or not all(states_value(text, value) for value in values):
            continue
        if ungrounded_numbers(text, case.question, [*reference, *own]):
            continue
        if len(values) > 1 and not _made_up_of(reference, results, case):
            continue
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


def _made_up_of(reference: Rows, results: Sequence[Stage], case: Case) -> bool:
    single = [stage.rows[0] for stage in results if stage.rows and len(stage.rows) == 1]
    if len(reference) != 1 or not single:
        return False
    if any(stage.meta.get("positional") for stage in results):
        # Without names only the order tells which value is which.
        names = list(reference[0])
        values = [value for row in single for value in row.values()]
        joined = dict(zip(names, values, strict=False))
        complete = len(values) == len(names)
    else:
        joined = {name: value for row in single for name, value in row.items()}
        wanted = {name.casefold() for name in reference[0]}
        complete = wanted <= {name.casefold() for name in joined} and len(joined) == sum(
            map(len, single)
        )
    return complete and compare_rows(reference, [joined], row_options(case)).equal
