"""Checks of single stages: did they end well, and give what the case expects?"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from dbagenteval.checks.evidence import NOT_OBSERVED, one_line, why_hidden
from dbagenteval.compare import canonical
from dbagenteval.errors import quoted
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Stage, Trace

__all__ = ["check_expected", "check_no_error"]

_RETRIED_KINDS = ("generate", "execute")
_PRECISION = 2


def check_no_error(stage: Stage, trace: Trace | None = None) -> CheckResult:
    """Check that a stage ended without an error.

    Args:
        stage: The stage.
        trace: Its trace. A failed attempt at writing or running SQL that a later stage of the
            same kind made good does not fail the trace; the result says what happened.
    """
    error = _error_of(stage)
    if error is None:
        return CheckResult("no_error", stage.name, PASS)
    later = None if trace is None else _made_good_by(stage, trace)
    if later is None:
        return CheckResult("no_error", stage.name, FAIL, one_line(error))
    detail = one_line(f"failed attempt, made good by {later.name!r}: {error}")
    return CheckResult("no_error", stage.name, PASS, detail, reason="made_good")


def _error_of(stage: Stage) -> str | None:
    if stage.error:
        return stage.error
    # str() of an exception is often empty, so an execution with an empty error text and no rows
    # did fail.
    if stage.error is not None and stage.kind == "execute" and stage.rows is None:
        return "failed with an empty error text"
    return None


def _made_good_by(stage: Stage, trace: Trace) -> Stage | None:
    if stage.kind not in _RETRIED_KINDS:
        return None
    position = next(index for index, each in enumerate(trace.stages) if each is stage)
    later = [each for each in trace.stages[position + 1 :] if each.kind == stage.kind]
    return later[-1] if later and _error_of(later[-1]) is None else None


def check_expected(trace: Trace, name: str, expected: Any) -> CheckResult:
    """Check one stage against its expected value.

    A retrieve stage must have found all expected names (`recall`). Any other stage must have
    given the expected value (`expected`), or one of them if a list is expected. Texts are
    compared without regard to case and outer space, a number with a text or number by value.

    Args:
        trace: The trace.
        name: Name of the stage.
        expected: The value from the case.
    """
    stage = trace.stage(name)
    if stage is None:
        return CheckResult("expected", name, FAIL, "stage missing from trace")
    check = "recall" if stage.kind == "retrieve" else "expected"
    hidden = why_hidden(trace, stage, "output", stage.kind)
    if hidden:
        return CheckResult(check, name, SKIP, hidden, reason=NOT_OBSERVED)
    return _recall(stage, expected) if check == "recall" else _equality(stage, expected)


def _equality(stage: Stage, expected: Any) -> CheckResult:
    accepted = expected if isinstance(expected, list) else [expected]
    if _agree(stage.output, expected) or any(_agree(stage.output, one) for one in accepted):
        return CheckResult("expected", stage.name, PASS, one_line(stage.output))
    wanted = " or ".join(quoted(one) for one in accepted) or "[]"
    detail = f"got {quoted(stage.output)}, expected {wanted}"
    return CheckResult("expected", stage.name, FAIL, detail)


def _agree(given: Any, expected: Any) -> bool:
    if isinstance(given, str) and isinstance(expected, str):
        return given.strip().casefold() == expected.strip().casefold()
    if _is_scalar(given) and _is_scalar(expected):
        return canonical(given, _PRECISION) == canonical(expected, _PRECISION)
    return bool(given == expected)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, Decimal)) and not isinstance(value, bool)


def _recall(stage: Stage, expected: Any) -> CheckResult:
    wanted = _distinct(_names(expected))
    found = _distinct(_found_names(stage.output))
    missing = [name for key, name in wanted.items() if key not in found]
    if missing:
        score = 1 - len(missing) / len(wanted)
        return CheckResult("recall", stage.name, FAIL, f"not retrieved: {missing}", score)
    detail = f"{len(wanted)} expected of {len(found)} retrieved"
    return CheckResult("recall", stage.name, PASS, detail, 1.0)


def _distinct(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.strip().casefold(), name)
    return found


def _names(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    return [
        str(item["name"]) if isinstance(item, dict) and "name" in item else str(item)
        for item in value
    ]


def _found_names(output: Any) -> list[str]:
    """Read what a retrieve stage gave; one text may hold several names, as models write them."""
    if not isinstance(output, str):
        return _names(output)
    parts = [part for part in output.replace("\n", ",").split(",") if part.strip()]
    return parts if len(parts) > 1 else [output]
