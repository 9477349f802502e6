"""One Trace and one Case become one Scorecard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import (
    Check,
    Executor,
    Faithful,
    Judge,
    Reference,
    Relevant,
    check_expected,
    check_no_error,
    check_reference,
    check_reference_answer,
    check_rows,
    check_sql_use,
    plain,
    record_of,
    run_references,
)
from dbagenteval.errors import described
from dbagenteval.scorecard import DRAFT, SKIP, CheckResult, Scorecard
from dbagenteval.traces import Trace, check_stages

__all__ = ["OnData", "evaluate", "rule_name", "try_evaluate"]

OnData = Callable[[Trace, Case], tuple[Trace, Executor]]
"""For a case with `data`: the trace with the rows that its SQL gives on that data, and what runs
SQL there; `slices.on_case_data` is one."""


def evaluate(
    trace: Trace,
    case: Case | None = None,
    rules: Iterable[Check] = (),
    judge: Judge | None = None,
    execute: Executor | None = None,
    on_data: OnData | None = None,
) -> Scorecard:
    """Check one trace against one case.

    Args:
        trace: What the agent did.
        case: What is right; None checks only what needs no expectation. A draft is judged by
            the rules alone and never passes.
        rules: Further checks, run in their order.
        judge: Adds the checks that a language model answers.
        execute: Runs the reference SQL; it is called once for each query, never for the
            agent's SQL.
        on_data: Is needed by a case with `data`: what the agent got from another database can't
            be compared with a reference on the case's own data.

    Returns:
        The scorecard, its checks in the order: `no_error`, `expected` and `recall`,
        `rows_match`, the reference, the rules, the judge.

    Raises:
        Exception: Whatever a rule, the judge or the executor raised first.
    """
    card, errors = _evaluate(trace, case, rules, judge, execute, on_data)
    if errors:
        raise errors[0][1]
    return card


def try_evaluate(
    trace: Trace,
    case: Case | None = None,
    rules: Iterable[Check] = (),
    judge: Judge | None = None,
    execute: Executor | None = None,
    on_data: OnData | None = None,
) -> Scorecard:
    """Check one trace as `evaluate` does, but let what can't run become the verdict ERROR.

    The card keeps the results of all other checks, and its `error` names what raised.
    """
    card, errors = _evaluate(trace, case, rules, judge, execute, on_data)
    if errors:
        told = dict.fromkeys(_described(*error) for error in errors)
        card.error = f"evaluation raised {'; '.join(told)}"
    return card


_Errors = list[tuple[str, BaseException]]


def _evaluate(
    trace: Trace,
    case: Case | None,
    rules: Iterable[Check],
    judge: Judge | None,
    execute: Executor | None,
    on_data: OnData | None,
) -> tuple[Scorecard, _Errors]:
    case = case or Case(_asked(trace))
    card = Scorecard(trace.question, case_id=case.id, tags=list(case.tags))
    errors: _Errors = []

    def attempt(name: str, check: Callable[[], Iterable[CheckResult]]) -> None:
        try:
            card.results.extend(_json_ready(result) for result in check())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 the user's code; it becomes the card's error
            errors.append((name, error))

    try:
        check_stages(trace)
        compared, execute = _compared(trace, case, execute, on_data)
    except Exception as error:  # noqa: BLE001 a malformed trace, or whatever the data raises
        return card, [("", error)]
    card.stage_order = [stage.name for stage in trace.stages]
    references: list[Reference] = []
    judge = None if case.is_draft else judge
    if case.is_draft:
        card.results.append(_awaiting_review(trace))
    else:
        for check in _own_checks(trace, compared, case, judge, execute, references):
            attempt("", check)
    for rule in rules:
        attempt(f"rule {rule_name(rule)!r}", partial(_one, _run_rule, rule, trace, case))
    for judged in (Faithful(judge), Relevant(judge)) if judge is not None else ():
        attempt("", partial(_one, judged.run, trace, case))
    card.meta = record_of(trace, references)
    return card, errors


def _compared(
    trace: Trace, case: Case, execute: Executor | None, on_data: OnData | None
) -> tuple[Trace, Executor | None]:
    """Give the trace whose rows are compared, and what runs the reference."""
    if case.data is None or case.is_draft:
        return trace, execute
    if on_data is None:
        raise ValueError("the case has `data` but no `on_data` function was given to run SQL on it")
    return on_data(trace, case)


def _own_checks(
    trace: Trace,
    compared: Trace,
    case: Case,
    judge: Judge | None,
    execute: Executor | None,
    references: list[Reference],
) -> Iterator[Callable[[], Iterable[CheckResult]]]:
    yield lambda: (check_no_error(stage, trace) for stage in trace.stages)
    for check in _expected_by(case):
        yield partial(_one, check, trace)
    if "rows" in case.expect:
        yield partial(_one, check_rows, compared, case=case)
    if case.reference_sql is not None:
        yield partial(_against_reference, compared, case, judge, execute, references)


def _one(check: Callable[..., CheckResult], *arguments: Any, **options: Any) -> list[CheckResult]:
    return [check(*arguments, **options)]


def _awaiting_review(trace: Trace) -> CheckResult:
    stage = trace.stages[-1].name if trace.stages else "answer"
    detail = "the case is a draft: nobody has accepted yet what it expects"
    return CheckResult(DRAFT, stage, SKIP, detail, reason=DRAFT)


def _expected_by(case: Case) -> Iterator[Callable[[Trace], CheckResult]]:
    for name, expected in case.expect.items():
        if name != "rows":
            yield partial(check_expected, name=name, expected=expected)
    if case.sql != "any":
        yield partial(check_sql_use, case=case)


def _asked(trace: Trace) -> str:
    question: object = trace.question
    return question if isinstance(question, str) and question.strip() else "(no question)"


def _json_ready(result: CheckResult) -> CheckResult:
    if result.evidence:
        result.evidence = plain(result.evidence)
    return result


def _against_reference(
    trace: Trace,
    case: Case,
    judge: Judge | None,
    execute: Executor | None,
    references: list[Reference],
) -> Iterable[CheckResult]:
    references += run_references(case, execute)
    yield from check_reference(trace, case, references)
    if judge is not None:
        rows = [reference.rows for reference in references]
        answer = check_reference_answer(trace, case, rows, judge)
        if answer is not None:
            yield answer


def _run_rule(rule: Check, trace: Trace, case: Case) -> CheckResult:
    result: Any = rule.run(trace, case)
    if not isinstance(result, CheckResult):
        raise TypeError(f"a rule must return a CheckResult, got {type(result).__name__}")
    names: tuple[object, ...] = (result.check, result.stage)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("a rule must name its check and the stage as text")
    return result


def rule_name(rule: Any) -> str:
    """Give the name of a rule, that of its class if it has none; rules may be of any class."""
    return getattr(rule, "name", "") or type(rule).__name__


def _described(name: str, error: BaseException) -> str:
    kind, _, text = described(error).partition(": ")
    return f"{kind} in {name}: {text}" if name else f"{kind}: {text}"
