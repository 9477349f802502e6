"""NumbersGrounded: every number of the answer stands in the result rows."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable
from decimal import Decimal, DecimalException

from dbagenteval.cases import Case
from dbagenteval.checks.check import Check
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["NumbersGrounded", "reference_numbers", "states_value", "ungrounded_numbers"]

_FIGURE = re.compile(
    r"(?P<number>(?<![\w.])\.\d+|\d{1,3}(?:,\d{2,3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?P<glued>k|mn|m|bn)(?!\w)|\s?(?P<word>thousand|million|billion|lakhs?|crores?)(?!\w))?"
    r"(?P<percent>\s?(?:%|percent(?!\w)))?",
    re.IGNORECASE,
)
_SCALES = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
    "lakh": 10**5,
    "lakhs": 10**5,
    "crore": 10**7,
    "crores": 10**7,
}
_LIST_MARKER = re.compile(r"^[ \t]*(\d+)[.)](?=\s)", re.MULTILINE)


class NumbersGrounded(Check):
    """Passes when every number in the answer text is also in the result rows.

    Args:
        stage: Name of the answer stage; None means the last stage of kind `answer`.
    """

    name = "numbers_grounded"

    def __init__(self, stage: str | None = None) -> None:
        self.stage = stage

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Look for each number of the answer in the rows; SKIP without an answer or rows."""
        del case
        found = [stage.name for stage in trace.stages if stage.kind == "answer"]
        stage = trace.last_of("answer") if self.stage is None else trace.stage(self.stage)
        if stage is None and found:
            detail = f"stage {self.stage!r} is not in the trace (found {found})"
            return self.result(self.stage or "answer", FAIL, detail)
        if stage is None or not isinstance(stage.output, str) or not stage.output.strip():
            return self.result(self.stage or "answer", SKIP, "no answer text")
        executed = trace.last_of("execute")
        if executed is None or executed.rows is None:
            detail = "no query result to ground the answer in"
            return self.result(stage.name, SKIP, detail)
        hidden = _why_no_evidence(executed)
        if hidden:
            return self.result(stage.name, SKIP, hidden)
        missing = ungrounded_numbers(stage.output, trace.question, executed.rows)
        if missing:
            return self.result(stage.name, FAIL, f"not in the result rows: {missing}")
        return self.result(stage.name, PASS)


def ungrounded_numbers(answer: str, question: str, rows: Rows) -> list[str]:
    """List the numbers of the answer that neither the rows, their count nor the question have."""
    values = sorted(
        {*_cell_values(rows), Decimal(len(rows)), *(v for _, v, _, _ in _figures(question))}
    )
    return [
        text
        for text, value, half, percent in _figures(answer)
        if not _has(values, value, half) and not (percent and _has(values, value / 100, half / 100))
    ]


def states_value(answer: str, value: object) -> bool:
    """Say whether the answer states a cell's value: a number as rounded there, or a text."""
    number = _as_number(value)
    if number is not None:
        return any(
            abs(number - v) <= half or (percent and abs(number * 100 - v) <= half)
            for _, v, half, percent in _figures(answer)
        )
    if value is None or isinstance(value, bool | int | float | Decimal):
        return False
    text = str(value).strip()
    return len(text) > 1 and text.casefold() in answer.casefold()


def reference_numbers(answer: str, question: str, rows: Rows) -> tuple[str, str]:
    """Compare an answer text with the reference result.

    Returns:
        `PASS` or `FAIL`, and the detail. It fails if the answer has a number that the reference
        does not have, or lacks its only value, or states none of its several values.
    """
    missing = ungrounded_numbers(answer, question, rows)
    if missing:
        return FAIL, f"not in the reference result: {missing}"
    values = [value for row in rows for value in row.values() if value is not None]
    if len(values) == 1 and not states_value(answer, values[0]):
        return FAIL, f"the answer does not state the reference value {values[0]!r}"
    if len(values) > 1 and not any(states_value(answer, value) for value in values):
        return FAIL, "the answer states no value from the reference result"
    return PASS, ""


def _why_no_evidence(stage: Stage) -> str:
    seen = stage.observed("rows")
    return "" if seen.is_evidence else f"rows {seen.state}: {seen.why}".rstrip(": ")


def _figures(text: str) -> Iterable[tuple[str, Decimal, Decimal, bool]]:
    markers = list(_LIST_MARKER.finditer(text))
    numbers = [int(marker[1]) for marker in markers if len(marker[1]) < 10]
    if len(markers) > 1 and numbers == list(range(1, len(markers) + 1)):
        text = _LIST_MARKER.sub("", text)
    for match in _FIGURE.finditer(text):
        digits = match["number"].replace(",", "")
        if len(digits) > 60:
            continue
        places = len(digits.partition(".")[2])
        scale = (
            _SCALES[(match["glued"] or match["word"] or "").lower()]
            if (match["glued"] or match["word"])
            else 1
        )
        half = Decimal(5).scaleb(-places - 1) * scale
        yield match["number"], Decimal(digits) * scale, half, match["percent"] is not None


def _as_number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        number = abs(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        return number if number.is_finite() and abs(number.adjusted()) < 100 else None
    except (DecimalException, ValueError):
        return None


def _cell_values(rows: Rows) -> Iterable[Decimal]:
    for row in rows:
        for cell in row.values():
            number = _as_number(cell)
            if number is not None:
                yield number
            elif cell is not None and not isinstance(cell, bool | int | float | Decimal):
                yield from (value for _, value, _, _ in _figures(str(cell)))


def _has(values: list[Decimal], value: Decimal, half: Decimal) -> bool:
    at = bisect_left(values, value - half)
    return at < len(values) and values[at] <= value + half
