"""The work of a run: which cases wait, and what is done for each of them."""

from __future__ import annotations

import contextvars
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import Check, Executor, Judge
from dbagenteval.evaluation import OnData, try_evaluate
from dbagenteval.scorecard import Scorecard, SuiteResult
from dbagenteval.suite.agents import AgentFailed, Ask, Conversation, trace_of
from dbagenteval.suite.blaming import add_blame
from dbagenteval.suite.bounds import Bounds
from dbagenteval.suite.calls import Caller
from dbagenteval.suite.repeats import merge_repeats

__all__ = ["OnCard", "Run", "Settings"]

_SHORTEST_S, _LONGEST_S = 0.001, 1e8
"""What timers can take; more than three years is for ever."""

OnCard = Callable[[Scorecard], None]
"""Is called with each scorecard as soon as there is one, one at a time, from any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is the same for all cases; see `run_suite`."""

    ask: Ask
    rules: Sequence[Check]
    judge: Judge | None
    execute: Executor | None
    on_data: OnData | None
    timeout: float
    retries: int
    repeat: int


class Run:
    """The cases that wait, and the cards that are made, shared by the workers."""

    def __init__(
        self,
        cases: Iterable[Case],
        settings: Settings,
        concurrency: int,
        *,
        fail_fast: bool,
        on_card: OnCard | None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self._cases = list(cases)
        self._settings = settings
        self._concurrency = concurrency
        self._fail_fast = fail_fast
        self._on_card = on_card
        self._waiting = deque(enumerate(self._cases))
        self._cards: list[list[Scorecard]] = [[] for _ in self._cases]
        self._lock = threading.Lock()
        self._workers = 0
        self._failures: list[BaseException] = []

    def start(self, caller: Callable[[], Caller], finished: Callable[[], None]) -> None:
        """Start the workers; the last one to end calls `finished`."""
        self._workers = min(self._concurrency, len(self._cases))
        if not self._workers:
            finished()
        for _ in range(self._workers):
            context = contextvars.copy_context()
            threading.Thread(
                target=context.run,
                args=(self._work_beside, caller, finished),
                name="dbagenteval-case",
                daemon=True,
            ).start()

    def stop(self) -> None:
        """Start no further case."""
        self._waiting.clear()

    def work(self, caller: Caller) -> None:
        """Run waiting cases until there is none."""
        while True:
            try:
                index, case = self._waiting.popleft()
            except IndexError:
                return
            cards = _run_case(case, self._settings, caller)
            with self._lock:
                self._cards[index] = cards
                if self._fail_fast and any(
                    card.verdict != "PASS" and not card.is_draft for card in cards
                ):
                    self._waiting.clear()
                if self._on_card is not None:
                    for card in cards:
                        self._on_card(card)

    def result(self) -> SuiteResult:
        """Give the cards in case order; a case that was not run is a SKIP that says so."""
        if self._failures:
            raise self._failures[0]
        cards = []
        for case, made in zip(self._cases, self._cards, strict=True):
            cards += made or [_not_run(turn) for turn in case.each_turn()]
        return SuiteResult(cards)

    def _work_beside(self, make: Callable[[], Caller], finished: Callable[[], None]) -> None:
        caller = make()
        try:
            self.work(caller)
        except BaseException as error:  # noqa: BLE001 raised again where the run was started
            self._failures.append(error)
            self._waiting.clear()
        finally:
            caller.close()
            with self._lock:
                self._workers -= 1
                is_last = not self._workers
            if is_last:
                finished()


def _not_run(case: Case) -> Scorecard:
    card = _card_of(case)
    card.meta = {"not_run": True}
    return card


def _card_of(case: Case, error: str | None = None) -> Scorecard:
    return Scorecard(case.question, case_id=case.id, tags=list(case.tags), error=error)


def _run_case(case: Case, settings: Settings, caller: Caller) -> list[Scorecard]:
    """Run all turns of a case, as often as asked."""
    runs = [_run_once(case, settings, caller) for _ in range(settings.repeat)]
    return runs[0] if len(runs) == 1 else [merge_repeats(list(cards)) for cards in zip(*runs)]  # noqa: B905 of one length


def _run_once(case: Case, settings: Settings, caller: Caller) -> list[Scorecard]:
    conversation = Conversation(uuid.uuid4().hex)
    cards: list[Scorecard] = []
    broken: str | None = None
    for turn in case.each_turn():
        if broken is not None:
            cards.append(_card_of(turn, f"not asked: {broken} could not run"))
            continue
        card = _run_turn(turn, settings, caller, conversation)
        if card.error and not card.results:
            broken = f"turn {turn.id!r}"
        cards.append(card)
    return cards


def _run_turn(
    case: Case, settings: Settings, caller: Caller, conversation: Conversation
) -> Scorecard:
    started = time.perf_counter()
    timeout = min(max(case.timeout or settings.timeout, _SHORTEST_S), _LONGEST_S)
    failures: list[str] = []
    timed_out = False
    while True:
        try:
            answer = caller.call(settings.ask, case.question, conversation, timeout)
            trace = trace_of(answer, case)
            break
        except AgentFailed as failure:
            failures.append(str(failure))
            timed_out = timed_out or failure.is_timeout
            if failure.may_retry and len(failures) <= settings.retries:
                continue
            card = _card_of(case, str(failure))
            card.meta = _facts(started, failures[:-1], timed_out=timed_out)
            return card
    facts = _facts(started, failures, timed_out=timed_out)
    conversation.add(case.question, trace)
    bounds = Bounds(caller, min(max(settings.timeout, _SHORTEST_S), _LONGEST_S))
    card = try_evaluate(
        trace,
        case,
        [bounds.rule(rule) for rule in settings.rules],
        settings.judge and bounds.judge(settings.judge),
        settings.execute and bounds.executor(settings.execute),
        settings.on_data,
    )
    card.meta.update(facts)
    add_blame(card, trace, case)
    if bounds.timed_out:
        card.meta["timed_out"] = True
    if "agent_question" in trace.meta:
        card.meta["agent_question"] = trace.meta["agent_question"]
    return card


def _facts(started: float, failures: list[str], *, timed_out: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {"seconds": round(time.perf_counter() - started, 3)}
    if timed_out:
        facts["timed_out"] = True
    if failures:
        facts["retried_after"] = failures
    return facts
