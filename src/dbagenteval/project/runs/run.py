"""Run answer tests: references first, then each test with each model, as often as asked."""

from __future__ import annotations

import datetime
import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dbagenteval.checks import Judge
from dbagenteval.project.agent.call import AgentError, Asked, ProjectAgent, call_within
from dbagenteval.project.agent.prices import cost_of
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.folder.model import Project
from dbagenteval.project.verdict.assertions import failed_assertions
from dbagenteval.project.verdict.references import Reference
from dbagenteval.project.verdict.verdict import AnswerVerdict, judge_answer

__all__ = ["AnswerResult", "Job", "RunSettings", "jobs_of", "run_tests"]

Job = tuple[str, str, int]
"""One attempt: model, name of the test, number from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How tests are run.

    Args:
        models: `provider:model` each; one empty name leaves the choice to the agent.
        k: Attempts for each test and model.
        threads: How many run at once.
        timeout_s: Seconds that the agent may take for a turn.
        retries: How often an agent that can't be reached is asked again.
        mode: `exact` or `dazense`.
        tolerance: For numbers, or None for the default.
        prices: USD for a million tokens, by model.
        extract: A model that reads rows out of text, or None.
        project: Whose policy the assertion `policy` means, or None.
        judge: Decides the assertion `rubric`; another model than the agent's, or None.
        provenance: Every test with a reference has the assertion `provenance`.
    """

    models: tuple[str, ...] = ("",)
    k: int = 1
    threads: int = 1
    timeout_s: float = 600.0
    retries: int = 0
    mode: str = "exact"
    tolerance: Mapping[str, float] | None = None
    prices: Mapping[str, Any] = field(default_factory=dict)
    extract: Callable[[str], str] | None = None
    project: Project | None = field(default=None, repr=False)
    judge: Judge | None = field(default=None, repr=False)
    provenance: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResult:
    """One attempt of one test with one model.

    Args:
        test: The test.
        model: `provider:model`, or empty.
        attempt: From 1.
        verdict: `pass`, `error` (the agent), `test_broken`, or as `AnswerVerdict`.
        answer: The verdict on the answer; None if there was none.
        reply: The reply, or None.
        reference: What the reference gave.
        message: One phrase for the table.
        reason: Stable code, empty for a pass.
        error: Why there is no verdict on an answer, or empty.
        problems: Assertions that do not hold.
        cost: USD, or None if unknown.
        cost_from: `config`, `agent`, `genai-prices` or empty.
        duration_ms: Of the agent, all turns.
        started: When the agent was asked.
    """

    test: AnswerTest
    model: str
    attempt: int
    verdict: str
    answer: AnswerVerdict | None = None
    reply: AgentReply | None = None
    reference: Reference = field(default_factory=Reference)
    message: str = ""
    reason: str = ""
    error: str = ""
    problems: tuple[str, ...] = ()
    cost: float | None = None
    cost_from: str = ""
    duration_ms: int | None = None
    started: datetime.datetime | None = None

    @property
    def passed(self) -> bool:
        """True if the verdict is `pass`."""
        return self.verdict == "pass"


def run_tests(
    tests: Sequence[AnswerTest],
    references: Mapping[str, Reference],
    agent: ProjectAgent,
    settings: RunSettings,
    on_result: Callable[[AnswerResult], None],
    stop: threading.Event | None = None,
    done: Collection[Job] = (),
) -> list[AnswerResult]:
    """Run every test with every model, `k` times each.

    Args:
        tests: In order.
        references: Test name to what its reference gave.
        agent: The agent under test.
        settings: How to run.
        on_result: Is called with each result as soon as it is there, one at a time.
        stop: Set it to start no further attempt.
        done: Attempts that need not be run.

    Returns:
        The results in the order model, test, attempt, whatever order they ended in.
    """
    by_name = {test.name: test for test in tests}
    jobs = [job for job in jobs_of(tests, settings) if job not in done]

    def run_one(index: int) -> AnswerResult:
        model, name, attempt = jobs[index]
        return _attempt(by_name[name], model, attempt, references[name], agent, settings)

    run = _Run(len(jobs), run_one, on_result, stop or threading.Event())
    workers = [
        threading.Thread(target=run.work, name=f"dbagenteval-test-{number}", daemon=True)
        for number in range(min(settings.threads, len(jobs)))
    ]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(0.5)
    finally:
        run.stop.set()
    if run.failures:  # such as a full disk: what is not on record did not pass
        raise run.failures[0]
    return [result for result in run.results if result is not None]


class _Run:
    """What the threads of one run share."""

    def __init__(
        self,
        count: int,
        run_one: Callable[[int], AnswerResult],
        on_result: Callable[[AnswerResult], None],
        stop: threading.Event,
    ) -> None:
        self.results: list[AnswerResult | None] = [None] * count
        self.failures: list[BaseException] = []
        self.stop = stop
        self._run_one = run_one
        self._on_result = on_result
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(count):
            self._waiting.put(index)

    def work(self) -> None:
        """Take one job after the other until there is none."""
        try:
            while not self.stop.is_set():
                index = self._waiting.get_nowait()
                result = self._run_one(index)
                with self._lock:
                    self.results[index] = result
                    self._on_result(result)
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001 raised in the caller's thread
            self.failures.append(error)
            self.stop.set()


def jobs_of(tests: Sequence[AnswerTest], settings: RunSettings) -> list[Job]:
    """Give all attempts in the order of the results: model, test, attempt."""
    return [
        (model, test.name, attempt)
        for model in settings.models
        for test in tests
        for attempt in range(1, settings.k + 1)
    ]


def _attempt(
    test: AnswerTest,
    model: str,
    attempt: int,
    reference: Reference,
    agent: ProjectAgent,
    settings: RunSettings,
) -> AnswerResult:
    blank = AnswerResult(
        test=test, model=model, attempt=attempt, reference=reference, verdict="error"
    )
    if reference.problem:
        return replace(
            blank,
            verdict="test_broken",
            message="test broken",
            reason="test_broken",
            error=reference.problem,
        )
    begun = time.monotonic()
    blank = replace(blank, started=datetime.datetime.now(datetime.timezone.utc), message="error")
    try:
        prompt, reply = _converse(test, model, agent, settings)
    except Exception as error:  # noqa: BLE001 the boundary of one test: the rest must go on
        reason = error.reason if isinstance(error, AgentError) else "agent_error"
        text = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
        return replace(blank, reason=reason, error=text, duration_ms=_ms_since(begun))
    cost, cost_from = cost_of(reply, model, settings.prices)
    told = replace(blank, reply=reply, cost=cost, cost_from=cost_from, duration_ms=_ms_since(begun))
    if reply.error and not reply.text and reply.rows is None:
        return replace(told, reason="agent_error", error=reply.error)
    return _judged(told, prompt, reply, settings)


def _judged(
    told: AnswerResult, prompt: str, reply: AgentReply, settings: RunSettings
) -> AnswerResult:
    try:
        answer = judge_answer(
            told.test,
            prompt,
            reply,
            told.reference,
            mode=settings.mode,
            tolerance=settings.tolerance,
            extract=settings.extract,
        )
        problems = failed_assertions(
            _assertions(told.test, settings),
            reply,
            cost=told.cost,
            seconds=(told.duration_ms or 0) / 1000,
            prompt=prompt,
            project=settings.project,
            judge=settings.judge,
            reference=told.reference,
        )
    except Exception as error:  # noqa: BLE001 the boundary of one test: the rest must go on
        text = f"the answer can't be judged: {type(error).__name__}: {error}"
        return replace(told, reason="evaluator_error", error=text)
    verdict, message, reason = answer.verdict, answer.message, answer.reason
    if verdict == "pass" and problems:
        verdict, message, reason = "fail", problems[0], "assertion"
    return replace(
        told,
        answer=answer,
        verdict=verdict,
        message=message,
        reason=reason,
        problems=tuple(problems),
    )


def _assertions(test: AnswerTest, settings: RunSettings) -> tuple[Mapping[str, Any], ...]:
    """Give a test's assertions, with the one on provenance where the run asks for it of all."""
    has_own = any(item["type"] == "provenance" for item in test.assertions)
    if not settings.provenance or not test.sqls or has_own:
        return test.assertions
    return (*test.assertions, {"type": "provenance"})


def _converse(
    test: AnswerTest, model: str, agent: ProjectAgent, settings: RunSettings
) -> tuple[str, AgentReply]:
    """Ask all turns; give the last question with its reply, counting tokens and calls of all."""
    messages: list[dict[str, str]] = []
    replies: list[AgentReply] = []
    asked = Asked(prompt=test.prompt, model=model, test=test.name)
    for prompt in (test.prompt, *test.turns):
        asked = Asked(
            prompt=prompt,
            model=model,
            session_id=asked.session_id,
            messages=tuple(messages),
            test=test.name,
            timeout_s=test.timeout_s or settings.timeout_s,
        )
        reply = _ask(agent, asked, settings.retries)
        replies.append(reply)
        messages += [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": reply.text},
        ]
    return asked.prompt, _summed(replies)


def _ask(agent: ProjectAgent, asked: Asked, retries: int) -> AgentReply:
    for attempt in range(retries + 1):
        try:
            return call_within(agent, asked)
        except AgentError as error:
            if error.reason != "unreachable" or attempt == retries:
                raise
            time.sleep(min(0.2 * 2**attempt, 5.0))
    raise AssertionError("unreachable")  # pragma: no cover


def _summed(replies: Sequence[AgentReply]) -> AgentReply:
    last = replies[-1]
    if len(replies) == 1:
        return last
    kinds: dict[str, int] = {}
    for reply in replies:
        for kind, count in reply.token_kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
    tokens = [reply.tokens for reply in replies]
    costs = [reply.cost for reply in replies]
    scanned = [reply.bytes_scanned for reply in replies]
    return replace(
        last,
        tool_calls=tuple(call for reply in replies for call in reply.tool_calls),
        tokens=None if None in tokens else sum(item for item in tokens if item is not None),
        token_kinds=kinds,
        cost=None if None in costs else sum(item for item in costs if item is not None),
        bytes_scanned=None if None in scanned else sum(n for n in scanned if n is not None),
    )


def _ms_since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)
