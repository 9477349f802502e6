"""Agents, rules and executors that raise, exit or hang: the run goes on."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from dbagenteval import Case, Check, CheckResult, Trace, run_suite

QUESTION = "How many orders?"
CASE = Case(QUESTION, id="count", expect={"rows": [{"n": 3}]}, tags=["easy"])


def good(question: str) -> Trace:
    """Answer rightly."""
    sql = "SELECT COUNT(*) AS n FROM orders"
    return Trace.simple(question, answer="3", sql=sql, rows=[{"n": 3}])


async def good_async(question: str) -> dict[str, Any]:
    """Answer rightly, after a wait, as a dict."""
    await asyncio.sleep(0)
    return good(question).to_dict()


def exits(question: str) -> str:
    """Try to end the process."""
    sys.exit(3)


async def exits_async(question: str) -> str:
    """Try to end the process from the loop."""
    sys.exit(3)


async def cancelled(question: str) -> str:
    """Give up as a cancelled client does."""
    raise asyncio.CancelledError


def broken(question: str) -> str:
    """Fail as code does."""
    raise KeyError("no such table")


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    ("agent", "error"),
    [
        (broken, "agent raised KeyError: 'no such table'"),
        (exits, "agent raised SystemExit: 3"),
        (exits_async, "agent raised SystemExit: 3"),
        (cancelled, "agent raised CancelledError: "),
        (
            lambda question: 3,
            "agent raised TypeError: the agent must return a Trace, a dict or the answer text, got int",
        ),
        (
            lambda question: None,
            "agent raised TypeError: the agent must return a Trace, a dict or the answer text, got NoneType",
        ),
        (lambda question: {"stages": []}, "agent raised ValueError: trace is missing 'question'"),
        (
            lambda question: {"question": "q", "stages": [{"kind": "x"}]},
            "agent raised ValueError: unknown stage kind 'x'; expected one of route, plan, retrieve, generate, execute, answer",
        ),
        (lambda: "x", "agent raised TypeError: "),
    ],
)
def test_an_agent_that_fails_is_an_error_and_the_run_goes_on(
    agent: Any, error: str, concurrency: int
) -> None:
    """Whatever it raises."""

    def sometimes(question: str) -> Any:
        return agent(question) if question == QUESTION else good(question)

    result = run_suite([CASE, Case("other")], sometimes, concurrency=concurrency)
    assert [card.verdict for card in result.cards] == ["ERROR", "PASS"]
    assert str(result.cards[0].error).startswith(error)
    assert result.cards[0].results == []
    assert (result.cards[0].case_id, result.cards[0].tags) == ("count", ["easy"])


def sleeps(question: str) -> str:
    """Hang as a request without a timeout does."""
    time.sleep(60)
    return "late"


def waits_on_a_lock(question: str) -> str:
    """Hang in a deadlock."""
    lock = threading.Lock()
    with lock, lock:
        return "never"


def swallows(question: str) -> str:
    """Hang in a retry loop of its own."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            time.sleep(60)
        except BaseException:  # noqa: BLE001
            return "late"
    return "late"


async def sleeps_async(question: str) -> str:
    """Hang as awaiting code does."""
    await asyncio.sleep(60)
    return "late"


async def blocks_the_loop(question: str) -> str:
    """Hang as async code does that forgot to await."""
    time.sleep(6)  # noqa: ASYNC251
    return "late"


async def refuses_to_be_cancelled(question: str) -> str:
    """Hang and go on hanging."""
    end = time.monotonic() + 4
    while time.monotonic() < end:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue
    return "late"


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize(
    "hang", [sleeps, swallows, waits_on_a_lock, sleeps_async, refuses_to_be_cancelled]
)
def test_an_agent_that_hangs_is_an_error_and_the_run_goes_on(hang: Any, concurrency: int) -> None:
    """The message says what limit was over; the cases after it are run."""

    def sometimes(question: str) -> Any:
        return hang(question) if question == QUESTION else good_async(question)

    started = time.monotonic()
    cases = [Case(QUESTION, timeout=0.2), *(Case(f"q{n}") for n in range(3))]
    result = run_suite(cases, sometimes, concurrency=concurrency)
    assert result.cards[0].error == "agent timed out after 0.2 s (set by `timeout`)"
    assert [card.verdict for card in result.cards[1:]] == ["PASS"] * 3
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("concurrency", [1, 2])
def test_an_agent_that_blocks_the_loop_does_not_fail_its_neighbours(concurrency: int) -> None:
    """Those that waited for the same loop are asked again on another one."""

    def sometimes(question: str) -> Any:
        return blocks_the_loop(question) if question == QUESTION else good_async(question)

    cases = [Case(QUESTION), *(Case(f"q{n}") for n in range(3))]
    result = run_suite(cases, sometimes, concurrency=concurrency, timeout=1.5)
    assert result.cards[0].error == "agent timed out after 1.5 s (set by `timeout`)"
    assert [card.verdict for card in result.cards[1:]] == ["PASS"] * 3


def test_a_limit_of_the_case_goes_before_that_of_the_suite() -> None:
    """In both directions."""

    def agent(question: str) -> str:
        time.sleep(0.3)
        return "x"

    cases = [Case("short", timeout=0.05), Case("long", timeout=5)]
    result = run_suite(cases, agent, timeout=0.1, concurrency=2)
    assert [card.verdict for card in result.cards] == ["ERROR", "PASS"]
    assert result.cards[0].error == "agent timed out after 0.05 s (set by `timeout`)"


def test_a_thread_that_never_ends_does_not_keep_the_process_alive() -> None:
    """The command ends although the agent still sleeps."""
    program = (
        "import time\n"
        "from dbagenteval import Case, run_suite\n"
        "result = run_suite([Case('a'), Case('b')], lambda q: time.sleep(3600), timeout=0.1, concurrency=2)\n"
        "print([card.error for card in result.cards])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == f"{['agent timed out after 0.1 s (set by `timeout`)'] * 2}\n"
    assert done.returncode == 0


def test_ctrl_c_ends_the_run() -> None:
    """In the thread of the caller, with one case at a time."""

    def agent(question: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite([CASE], agent, concurrency=1)


class Raises(Check):
    """A rule with a bug."""

    name = "short_answer"

    def run(self, trace: Trace, case: Case) -> CheckResult:
        raise KeyError("x")


class ReturnsNothing(Check):
    """A rule that forgot to return."""

    def run(self, trace: Trace, case: Case) -> CheckResult:
        return None  # type: ignore[return-value]


class Passes(Check):
    """A rule that works."""

    name = "works"

    def run(self, trace: Trace, case: Case) -> CheckResult:
        return self.result("answer", "pass")


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (Raises(), "evaluation raised KeyError in rule 'short_answer': 'x'"),
        (
            ReturnsNothing(),
            "evaluation raised TypeError in rule 'ReturnsNothing': a rule must return a CheckResult, got NoneType",
        ),
    ],
)
def test_a_broken_rule_is_an_error_that_names_it_and_keeps_the_rest(
    rule: Check, error: str
) -> None:
    """The other results are still there to study."""
    (card,) = run_suite([CASE], good, rules=[rule, Passes()]).cards
    assert (card.verdict, card.error) == ("ERROR", error)
    assert [result.check for result in card.results] == ["no_error"] * 3 + ["rows_match", "works"]


def test_a_broken_reference_judge_and_rule_are_all_named() -> None:
    """In one error."""

    def execute(sql: str) -> list[dict[str, Any]]:
        raise KeyError("no such table")

    case = Case(QUESTION, reference_sql="SELECT 1")
    (card,) = run_suite(
        [case], good, rules=[Raises()], judge=lambda prompt: "?", execute=execute
    ).cards
    assert card.error == (
        "evaluation raised RuntimeError: the reference SQL failed to run: KeyError: 'no such table'; "
        "KeyError in rule 'short_answer': 'x'; "
        "ValueError: judge reply has no JSON object with a boolean 'pass': '?'"
    )
    (card,) = run_suite([case], good).cards
    assert (
        card.error
        == "evaluation raised ValueError: the case has `reference_sql` but no `execute` function was given to run it"
    )


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_rule_or_executor_that_exits_does_not_end_the_run(concurrency: int) -> None:
    """Nor does it silence the other cases."""
    case = Case(QUESTION, reference_sql="SELECT 1")
    result = run_suite([case, Case("other")], good, execute=exits, concurrency=concurrency)  # type: ignore[arg-type]
    assert [card.verdict for card in result.cards] == ["ERROR", "PASS"]
    assert result.cards[0].error == "evaluation raised SystemExit: 3"


@pytest.mark.parametrize("concurrency", [1, 2])
def test_what_the_callback_raises_comes_out(concurrency: int) -> None:
    """It is the caller's own code, not a case."""

    def on_card(card: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_suite([CASE, Case("other")], good, on_card=on_card, concurrency=concurrency)


def test_a_limit_holds_in_another_thread_than_the_main_one() -> None:
    """Where no signal can interrupt the agent."""
    errors: list[str | None] = []

    def run() -> None:
        cards = run_suite([Case("q")], sleeps, concurrency=1, timeout=0.2).cards
        errors.append(cards[0].error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert errors == ["agent timed out after 0.2 s (set by `timeout`)"]


def test_an_alarm_of_the_callers_own_is_left_alone() -> None:
    """The agent then runs in a thread, since its time is limited all the same."""
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        cards = run_suite([Case("q")], sleeps, concurrency=1, timeout=0.2).cards
        assert cards[0].verdict == "ERROR"
        signal.raise_signal(signal.SIGALRM)
        assert rang == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)
