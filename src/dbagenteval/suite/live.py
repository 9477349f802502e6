"""Ask a live agent every question of a suite, and score what it did."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable

from dbagenteval.cases import Case
from dbagenteval.checks import Check, Executor, Judge
from dbagenteval.evaluation import OnData
from dbagenteval.scorecard import Scorecard, SuiteResult
from dbagenteval.suite.agents import Agent, Ask
from dbagenteval.suite.calls import InlineCaller, ThreadCaller, can_alarm
from dbagenteval.suite.loops import LoopThread
from dbagenteval.suite.runs import OnCard, Run, Settings

__all__ = ["DEFAULT_TIMEOUT_S", "OnCard", "arun_suite", "check_question", "run_suite"]

DEFAULT_TIMEOUT_S = 600.0
"""How long an agent may take where nobody says otherwise; one that hangs must not hang the run."""


def run_suite(  # noqa: PLR0913 one argument a setting
    cases: Iterable[Case],
    agent: Agent,
    *,
    rules: Iterable[Check] = (),
    judge: Judge | None = None,
    execute: Executor | None = None,
    concurrency: int = 4,
    timeout: float | None = None,
    retries: int = 0,
    repeat: int = 1,
    fail_fast: bool = False,
    on_card: OnCard | None = None,
    on_data: OnData | None = None,
) -> SuiteResult:
    """Ask the agent every question and score what it did.

    With `concurrency=1` agent, executor, rules and judge run in the calling thread, so that they
    may share one database connection with it.

    Args:
        cases: The cases; a conversation gives one scorecard for each of its turns.
        agent: Takes the question, gives a Trace, a dict or the answer text; may be async.
        rules: Further checks.
        judge: Adds the checks that a language model answers.
        execute: Runs the reference SQL.
        concurrency: How many cases run at the same time.
        timeout: Seconds that the agent may take for one question; None means 600. A case's own
            `timeout` goes before it.
        retries: How often an agent that raised or timed out is asked again.
        repeat: How often each case is run; it passes if every run does.
        fail_fast: Start no further case after one that did not pass.
        on_card: Is called with each scorecard as it is made.
        on_data: Runs the SQL of cases with `data`; see `evaluate`.

    Returns:
        Scorecards in case order. An agent, judge, rule or reference SQL that fails makes its
        case an ERROR.

    Raises:
        ValueError: `concurrency`, `timeout`, `retries` or `repeat` is out of range.
        RuntimeError: An event loop is running; use `await arun_suite(...)`.
    """
    _refuse_running_loop()
    settings = _settings(agent, rules, judge, execute, on_data, timeout, retries, repeat)
    run = Run(cases, settings, concurrency, fail_fast=fail_fast, on_card=on_card)
    if concurrency == 1 and (timeout is None or can_alarm()):
        caller = InlineCaller()
        try:
            run.work(caller)
        finally:
            caller.close()
        return run.result()
    loop = LoopThread()
    finished = threading.Event()
    run.start(lambda: ThreadCaller(loop.loop, loop.is_stuck), finished.set)
    try:
        finished.wait()
    finally:
        run.stop()
        loop.close()
    return run.result()


async def arun_suite(  # noqa: PLR0913 one argument a setting
    cases: Iterable[Case],
    agent: Agent,
    *,
    rules: Iterable[Check] = (),
    judge: Judge | None = None,
    execute: Executor | None = None,
    concurrency: int = 4,
    timeout: float | None = None,
    retries: int = 0,
    repeat: int = 1,
    fail_fast: bool = False,
    on_card: OnCard | None = None,
    on_data: OnData | None = None,
) -> SuiteResult:
    """Do what `run_suite` does, from async code: an async agent runs on the running loop."""
    settings = _settings(agent, rules, judge, execute, on_data, timeout, retries, repeat)
    run = Run(cases, settings, concurrency, fail_fast=fail_fast, on_card=on_card)
    loop = asyncio.get_running_loop()
    finished = asyncio.Event()

    def tell() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(finished.set)

    run.start(lambda: ThreadCaller(lambda: loop), tell)
    try:
        await finished.wait()
    finally:
        run.stop()
    return run.result()


def check_question(
    agent: Agent,
    question: str,
    reference_sql: str | list[str],
    *,
    execute: Executor,
    rules: Iterable[Check] = (),
    judge: Judge | None = None,
) -> Scorecard:
    """Ask the agent one question and score what it did.

    Args:
        agent: The agent.
        question: The question.
        reference_sql: A correct query, or several of which one must agree.
        execute: Runs it.
        rules: Further checks.
        judge: Adds the checks that a language model answers.

    Returns:
        The scorecard; its verdict is ERROR if the agent, a rule, the judge or the reference SQL
        failed.

    Raises:
        ValueError: The question or the reference SQL is empty.
        RuntimeError: An event loop is running; use `await arun_suite(...)`.
    """
    case = Case(question, reference_sql=reference_sql)
    result = run_suite([case], agent, rules=rules, judge=judge, execute=execute, concurrency=1)
    return result.cards[0]


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "run_suite() cannot be called while an event loop is running (in a notebook or async "
        "code); use `await arun_suite(...)` instead"
    )


def _settings(
    agent: Agent,
    rules: Iterable[Check],
    judge: Judge | None,
    execute: Executor | None,
    on_data: OnData | None,
    timeout: float | None,
    retries: int,
    repeat: int,
) -> Settings:
    if timeout is not None and not timeout > 0:
        raise ValueError("timeout must be above 0 seconds")
    if retries < 0:
        raise ValueError("retries must be at least 0")
    if repeat < 1:
        raise ValueError("repeat must be at least 1")
    return Settings(
        ask=Ask(agent),
        rules=list(rules),
        judge=judge,
        execute=execute,
        on_data=on_data,
        timeout=DEFAULT_TIMEOUT_S if timeout is None else timeout,
        retries=retries,
        repeat=repeat,
    )
