"""Run answer tests: each test with each model, as often as asked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from dbagenteval.project.agent.call import ProjectAgent
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.runs.attempt import AnswerResult, run_attempt
from dbagenteval.project.runs.settings import RunSettings
from dbagenteval.project.verdict.references import Reference

__all__ = ["Job", "jobs_of", "run_tests"]

Job = tuple[str, str, int]
"""One attempt: model, name of the test, number from 1."""


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
        return run_attempt(by_name[name], model, attempt, references[name], agent, settings)

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


def jobs_of(tests: Sequence[AnswerTest], settings: RunSettings) -> list[Job]:
    """Give all attempts in the order of the results: model, test, attempt."""
    return [
        (model, test.name, attempt)
        for model in settings.models
        for test in tests
        for attempt in range(1, settings.k + 1)
    ]


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
