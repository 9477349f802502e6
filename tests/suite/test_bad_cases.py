"""One bad case does not end the run: it becomes an ERROR, and so does whatever hangs."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

import pytest

from dbagenteval import Case, Check, CheckResult, Trace, run_suite
from dbagenteval.evaluation import try_evaluate
from dbagenteval.report import report_of
from dbagenteval.suite.calls import InlineCaller


def right(question: str) -> Trace:
    return Trace.simple(question, answer="42", sql="SELECT n FROM o", rows=[{"n": 42}])


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Timeout(BaseException):
    """As gevent and pytest have them."""


def raises_unreadable(question: str) -> Trace:
    raise Unreadable


def raises_base(question: str) -> Trace:
    raise Timeout("x")


def sets_tuples(question: str) -> Trace:
    trace = right(question)
    trace.stages[1].rows = [(42,)]  # type: ignore[list-item]
    return trace


def appends_text(question: str) -> Trace:
    trace = right(question)
    trace.stages.append("x")  # type: ignore[arg-type]
    return trace


def renames(question: str) -> Trace:
    trace = right(question)
    trace.stages[1].name = 3  # type: ignore[assignment]
    return trace


CASES = [Case("bad", reference_sql="S"), Case("good", reference_sql="S")]


def rows(sql: str) -> list[dict[str, Any]]:
    return [{"n": 42}]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (raises_unreadable, "agent raised Unreadable: (its message can't be read)"),
        (raises_base, "agent raised Timeout: x"),
        (sets_tuples, "agent raised ValueError: stage 'execute': rows must be a list of dicts"),
        (appends_text, "agent raised ValueError: a stage must be a Stage or a dict, got str"),
        (renames, "agent raised ValueError: stage 3: name must be text"),
    ],
)
def test_a_bad_case_is_an_error_and_the_run_goes_on(bad: Any, said: str, concurrency: int) -> None:
    """The report can be written."""

    def agent(question: str) -> Trace:
        return bad(question) if question == "bad" else right(question)

    result = run_suite(CASES, agent, execute=rows, concurrency=concurrency)
    assert [card.verdict for card in result.cards] == ["ERROR", "PASS"]
    assert str(result.cards[0].error).startswith(said)
    json.dumps(report_of(result))


def deep() -> Any:
    value: Any = 1
    for _ in range(3000):
        value = [value]
    return value


def endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("make", [deep, endless])
def test_cells_that_nest_without_end(make: Any) -> None:
    """In rows, in the session, in the evidence of a rule."""

    class Rule(Check):
        def run(self, trace: Trace, case: Case) -> CheckResult:
            return self.result("answer", "fail", evidence={"cell": make()})

    trace = Trace.simple("q", rows=[{"n": make()}], answer="x")
    trace.meta["session_id"] = make()
    case = Case("q", reference_sql="S", expect={"answer": "x", "rows": [{"n": 1}]})
    card = try_evaluate(trace, case, [Rule()], execute=rows)
    assert card.verdict in ("ERROR", "FAIL")
    assert "expected" in {result.check for result in card.results}
    json.dumps(card.to_dict())


def hang(*_: Any) -> Any:
    time.sleep(30)


class HangingRule(Check):
    name = "patient"

    def run(self, trace: Trace, case: Case) -> CheckResult:
        return hang()  # type: ignore[no-any-return]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"execute": hang}, "the reference SQL failed to run: TimeoutError: no result after 2 s"),
        (
            {"execute": rows, "rules": [HangingRule()]},
            "TimeoutError in rule 'patient': no result after 2 s",
        ),
        ({"execute": rows, "judge": hang}, "TimeoutError: the judge: no result after 2 s"),
    ],
)
def test_an_executor_rule_or_judge_that_hangs_is_an_error(
    parts: dict[str, Any], named: str, concurrency: int
) -> None:
    """It names which one, and what had passed stays."""
    started = time.monotonic()
    case = Case("q", reference_sql="S")
    card = run_suite([case], right, timeout=2, concurrency=concurrency, **parts).cards[0]
    assert time.monotonic() - started < 10
    assert card.verdict == "ERROR"
    assert named in str(card.error)
    assert card.meta["timed_out"]
    assert "no_error" in {result.check for result in card.results}


def swallows_everything(question: str) -> Trace:
    while True:
        try:  # noqa: SIM105
            time.sleep(3600)
        except:  # noqa: E722 as badly written agents do
            pass


@pytest.mark.parametrize("timeout", [0.1, 1e-9])
def test_a_loop_that_swallows_every_exception_is_left(timeout: float) -> None:
    """Alarms come until one hits it between two tries, and no trace function stays."""
    before, traced_before = signal.getsignal(signal.SIGALRM), sys.gettrace()
    started = time.monotonic()
    cards = run_suite([Case("q")], swallows_everything, timeout=timeout, concurrency=1).cards
    assert cards[0].verdict == "ERROR"
    assert "agent timed out" in str(cards[0].error)
    assert time.monotonic() - started < 20
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert sys.gettrace() is traced_before


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("timeout", [float("inf"), 1e10])
def test_a_limit_that_no_timer_can_hold_is_none(timeout: float, concurrency: int) -> None:
    """The case runs."""
    case = Case("q", reference_sql="S")
    result = run_suite([case], right, execute=rows, timeout=timeout, concurrency=concurrency)
    assert result.passed


def test_code_that_ends_in_time_keeps_its_result() -> None:
    """The caller gives it back."""
    assert InlineCaller().within(5, lambda: 3) == 3
