"""Suites against a live agent: what it may be, and whatever else it does."""

from __future__ import annotations

import asyncio
import contextvars
import re
import sqlite3
import threading
import time
from typing import Any

import pytest

from dbagenteval import (
    Case,
    NumbersGrounded,
    Trace,
    arun_suite,
    check_question,
    run_suite,
)

QUESTION = "How many orders?"
CASE = Case(QUESTION, id="count", expect={"rows": [{"n": 3}]}, tags=["easy"])


def good(question: str) -> Trace:
    """Answer rightly."""
    return Trace.simple(
        question, answer="3", sql="SELECT COUNT(*) AS n FROM orders", rows=[{"n": 3}]
    )


async def good_async(question: str) -> dict[str, Any]:
    """Answer rightly, after a wait, as a dict."""
    await asyncio.sleep(0)
    return good(question).to_dict()


class AsyncAgent:
    """An object with an async `__call__`."""

    async def __call__(self, question: str) -> Trace:
        return good(question)


def awaitable(question: str) -> Any:
    """A plain function that gives a coroutine."""
    return good_async(question)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("agent", [good, good_async, AsyncAgent(), awaitable])
def test_an_agent_may_be_plain_or_async(agent: Any, concurrency: int) -> None:
    """And give a Trace or a dict."""
    result = run_suite(
        [CASE, Case(QUESTION, id="b", tags=["easy"])], agent, concurrency=concurrency
    )
    assert [card.verdict for card in result.cards] == ["PASS", "PASS"]
    assert result.summary()["by_tag"] == {"easy": {"total": 2, "passed": 2}}
    assert result.passed


@pytest.mark.parametrize("agent", [good, good_async, AsyncAgent(), awaitable])
def test_the_same_from_async_code(agent: Any) -> None:
    """`arun_suite` in a running loop."""
    result = asyncio.run(arun_suite([CASE], agent))
    assert result.passed


def test_an_async_agent_runs_on_the_running_loop() -> None:
    """So that it may use clients that belong to that loop."""

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def agent(question: str) -> str:
            assert asyncio.get_running_loop() is loop
            return "hi"

        result = await arun_suite([Case("q")], agent)
        assert result.cards[0].error is None

    asyncio.run(main())


@pytest.mark.parametrize(
    "call",
    [
        lambda: run_suite([CASE], good),
        lambda: check_question(good, QUESTION, "S", execute=lambda sql: []),
    ],
)
def test_a_running_loop_is_told_what_to_await(call: Any) -> None:
    """In a notebook."""

    async def main() -> None:
        with pytest.raises(
            RuntimeError,
            match=r"run_suite\(\) cannot be called while an event loop is running .*`await arun_suite",
        ):
            call()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"timeout": 0}, "timeout must be above 0 seconds"),
        ({"retries": -1}, "retries must be at least 0"),
        ({"repeat": 0}, "repeat must be at least 1"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], message: str) -> None:
    """Before the agent is called."""
    with pytest.raises(ValueError, match=message):
        run_suite([CASE], lambda question: pytest.fail("called"), **settings)
    with pytest.raises(ValueError, match=message):
        asyncio.run(arun_suite([CASE], lambda question: pytest.fail("called"), **settings))


def test_no_cases_give_no_cards() -> None:
    """And that is no pass."""
    for concurrency in (1, 4):
        result = run_suite([], good, concurrency=concurrency)
        assert (result.cards, result.passed) == ([], False)


def test_cards_come_in_case_order_whatever_ends_first() -> None:
    """The slowest first."""

    def agent(question: str) -> str:
        time.sleep(0.05 if question == "0" else 0)
        return "x"

    seen: list[str] = []
    result = run_suite(
        [Case(str(n)) for n in range(8)], agent, on_card=lambda card: seen.append(card.question)
    )
    assert [card.question for card in result.cards] == [str(n) for n in range(8)]
    assert sorted(seen) == [str(n) for n in range(8)]
    assert seen[0] != "0"


@pytest.mark.parametrize("concurrency", [3, 24])
def test_as_many_cases_run_at_once_as_asked(concurrency: int) -> None:
    """Every one of them waits for all others, in the agent and in the executor."""
    meeting = threading.Barrier(concurrency, timeout=10)

    def agent(question: str) -> Trace:
        meeting.wait()
        return good(question)

    def execute(sql: str) -> list[dict[str, Any]]:
        meeting.wait()
        return [{"n": 3}]

    cases = [Case(f"q{n}", reference_sql="S") for n in range(concurrency)]
    assert run_suite(cases, agent, execute=execute, concurrency=concurrency).passed


def test_async_agents_run_at_once_too() -> None:
    """On one loop."""
    waiting: list[asyncio.Future[None]] = []

    async def agent(question: str) -> str:
        mine = asyncio.get_running_loop().create_future()
        waiting.append(mine)
        if len(waiting) == 6:
            for each in waiting:
                each.set_result(None)
        await mine
        return "x"

    assert run_suite([Case(f"q{n}") for n in range(6)], agent, concurrency=6, timeout=10).passed


class Counted:
    """An agent that fails a number of times before it answers."""

    def __init__(self, failures: int, error: BaseException) -> None:
        self.failures = failures
        self.error = error
        self.calls = 0

    def __call__(self, question: str) -> Trace:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return good(question)


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_failed_call_is_tried_again_when_asked(concurrency: int) -> None:
    """It is one sample of the case, and the report tells what went before."""
    agent = Counted(2, ConnectionError("reset"))
    (card,) = run_suite([CASE], agent, retries=2, concurrency=concurrency).cards
    assert (card.verdict, agent.calls) == ("PASS", 3)
    assert card.meta["retried_after"] == ["agent raised ConnectionError: reset"] * 2
    (card,) = run_suite(
        [CASE], Counted(2, ConnectionError("reset")), retries=1, concurrency=concurrency
    ).cards
    assert (card.verdict, card.error) == ("ERROR", "agent raised ConnectionError: reset")
    assert card.meta["retried_after"] == ["agent raised ConnectionError: reset"]


def test_a_hanging_call_is_tried_again_but_an_exit_is_not() -> None:
    """sys.exit is no glitch."""
    calls: list[str] = []

    def slow_once(question: str) -> Trace:
        calls.append(question)
        time.sleep(30 if len(calls) == 1 else 0)
        return good(question)

    assert run_suite([CASE], slow_once, retries=1, timeout=1, concurrency=2).passed
    agent = Counted(1, SystemExit(1))
    assert run_suite([CASE], agent, retries=3).cards[0].verdict == "ERROR"
    assert agent.calls == 1


class Alternating:
    """An agent that is right every second time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, question: str) -> Trace:
        self.calls += 1
        return Trace.simple(question, rows=[{"n": 3 if self.calls % 2 else 4}])


def test_a_case_that_passes_only_sometimes_does_not_pass() -> None:
    """The rate is told; neither one lucky run nor the last one counts."""
    agent = Alternating()
    (card,) = run_suite([CASE], agent, repeat=5).cards
    assert (card.verdict, agent.calls) == ("FAIL", 5)
    assert card.meta["repeat"] == {
        "runs": 5,
        "passed": 3,
        "verdicts": ["PASS", "FAIL", "PASS", "FAIL", "PASS"],
    }
    assert card.failed.check == "rows_match"
    (card,) = run_suite([CASE], good, repeat=3).cards
    assert (card.verdict, card.meta["repeat"]["passed"]) == ("PASS", 3)


@pytest.mark.parametrize("concurrency", [1, 2])
def test_after_a_case_that_did_not_pass_no_further_one_is_started(concurrency: int) -> None:
    """With `fail_fast`; those that were not run are in the totals and say so."""
    asked: list[str] = []

    def agent(question: str) -> str:
        asked.append(question)
        raise ValueError(question)

    result = run_suite(
        [Case(f"q{n}") for n in range(10)], agent, fail_fast=True, concurrency=concurrency
    )
    assert 1 <= len(asked) <= concurrency
    assert len(result.cards) == 10
    not_run = [card for card in result.cards if card.meta.get("not_run")]
    assert len(not_run) == 10 - len(asked)
    assert {card.verdict for card in not_run} == {"SKIP"}
    assert not result.passed


def test_one_database_connection_may_be_shared_when_one_case_runs_at_a_time() -> None:
    """SQLite refuses another thread than the one that opened the connection."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row

    def run_sql(sql: str) -> list[dict[str, Any]]:
        return [dict(row) for row in db.execute(sql)]

    def agent(question: str) -> Trace:
        return Trace.simple(question, sql="SELECT 3 AS n", rows=run_sql("SELECT 3 AS n"))

    cases = [Case(QUESTION, reference_sql="SELECT 3 AS n")]
    assert run_suite(cases, agent, execute=run_sql, concurrency=1).passed
    assert check_question(agent, QUESTION, "SELECT 3", execute=run_sql).verdict == "PASS"
    assert not run_suite(cases, agent, execute=run_sql, concurrency=2).passed
    db.close()


def test_the_question_of_the_case_counts_not_the_agents_wording() -> None:
    """An agent that adds history to the question neither renames the case nor grounds its figures."""
    trace = Trace.simple(
        "Previously: 99 orders. How many orders?", answer="There are 99.", rows=[{"n": 3}]
    )
    (card,) = run_suite([CASE], lambda question: trace).cards
    assert card.question == QUESTION
    assert card.meta["agent_question"] == "Previously: 99 orders. How many orders?"
    assert trace.question == "Previously: 99 orders. How many orders?"
    assert trace.meta == {}


def test_figures_of_a_rewritten_question_ground_nothing() -> None:
    """The agent can't vouch for its numbers by putting them into the question."""
    trace = Trace.simple(
        "Previously: 99 orders. How many orders?",
        sql="SELECT COUNT(*) AS n FROM orders",
        rows=[{"n": 40}],
        answer="There are 99 orders.",
    )
    (card,) = run_suite([Case(QUESTION)], lambda question: trace, rules=[NumbersGrounded()]).cards
    assert (card.verdict, card.failed.check) == ("FAIL", "numbers_grounded")


def test_context_variables_reach_the_agent() -> None:
    """Such as a tracer's current span."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    for concurrency in (1, 2):
        (card,) = run_suite(
            [Case("q")], lambda question: variable.get(), concurrency=concurrency
        ).cards
        assert card.meta["answer"] == "set"


def test_cards_tell_what_happened() -> None:
    """SQL, rows, answer and how long the agent took."""
    (card,) = run_suite([CASE], good).cards
    assert card.meta["sql"] == ["SELECT COUNT(*) AS n FROM orders"]
    assert card.meta["rows"] == {"count": 1, "first": [{"n": 3}]}
    assert card.meta["answer"] == "3"
    assert 0 <= card.meta["seconds"] < 10


def test_check_question_gives_an_error_card_for_a_broken_agent_or_executor() -> None:
    """It raises for neither."""

    def execute(sql: str) -> list[dict[str, Any]]:
        raise KeyError("t")

    def broken(question: str) -> str:
        raise KeyError("no such table")

    card = check_question(broken, QUESTION, "SELECT 1", execute=execute)
    assert card.error == "agent raised KeyError: 'no such table'"
    card = check_question(good, QUESTION, "SELECT 1", execute=execute)
    assert re.match(
        "evaluation raised RuntimeError: the reference SQL failed to run: KeyError", str(card.error)
    )
    card = check_question(
        good, QUESTION, ["SELECT 2", "SELECT 3"], execute=lambda sql: [{"n": int(sql[-1])}]
    )
    assert card.verdict == "PASS"
    assert "matched reference 2 of 2" in card.results[-1].detail


def test_a_callable_that_tells_nothing_about_itself() -> None:
    """Such as some that are written in C."""
    (card,) = run_suite([Case("q")], max).cards
    assert card.meta["answer"] == "q"
