"""Wait for an agent no longer than allowed, in this thread or beside it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from types import CodeType, FrameType
from typing import Any, Protocol

from dbagenteval.suite.agents import AgentFailed, Ask, Conversation, outcome_of
from dbagenteval.suite.loops import STUCK_AFTER_S, OnLoop, close_loop

__all__ = ["Caller", "InlineCaller", "ThreadCaller", "TimeIsOver", "can_alarm"]

_REPEAT_ALARM_S = 1.0
_FAST_ALARM_S = 0.01
_PATIENCE = 3


class Caller(Protocol):
    """Calls the agent; one caller serves one case at a time."""

    def call(self, ask: Ask, question: str, conversation: Conversation, timeout: float) -> Any:
        """Give the agent's result.

        Raises:
            AgentFailed: It raised, or did not end within `timeout` seconds.
        """

    def within(self, timeout: float, run: Callable[[], Any]) -> Any:
        """Give the result of other foreign code: the executor, a rule, the judge.

        Raises:
            TimeoutError: It did not end within `timeout` seconds.
            BaseException: What it raised.
        """

    def close(self) -> None:
        """Let go of threads and loops."""


class TimeIsOver(TimeoutError):
    """Foreign code did not end in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no result after {seconds:g} s (set by `timeout`)")


class _Alarm(BaseException):
    """The time of the agent is over; no `except Exception` of its code shall catch it."""


def can_alarm() -> bool:
    """Say whether a call in this thread can be interrupted by a signal that nobody else uses."""
    if not hasattr(signal, "setitimer"):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    return (
        signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )


class InlineCaller:
    """Calls the agent in the thread of the caller, so that it may share connections with it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._can_alarm = can_alarm()

    def call(self, ask: Ask, question: str, conversation: Conversation, timeout: float) -> Any:
        """Give the agent's result; a timeout interrupts it by a signal where that is possible."""

        def run() -> Any:
            result = ask(question, conversation)
            return self._awaited(result, timeout) if inspect.isawaitable(result) else result

        try:
            result = self.within(timeout, run)
        except (AgentFailed, KeyboardInterrupt):
            raise
        except TimeIsOver:
            raise AgentFailed.timed_out(timeout) from None
        except BaseException as error:
            raise AgentFailed.raised(error) from error
        if isinstance(result, AgentFailed):
            raise result
        return result

    def within(self, timeout: float, run: Callable[[], Any]) -> Any:
        """Give the result of code, interrupted by a signal where that is possible."""
        return _within(timeout, run) if self._can_alarm else run()

    def close(self) -> None:
        """Close the loop of an async agent."""
        if self._loop is not None:
            close_loop(self._loop)

    def _awaited(self, awaitable: Awaitable[Any], timeout: float) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(_first_of(awaitable, timeout))


async def _first_of(awaitable: Awaitable[Any], timeout: float) -> Any:
    task = asyncio.ensure_future(outcome_of(awaitable))
    done, _ = await asyncio.wait({task}, timeout=timeout)
    if done:
        return task.result()
    task.cancel()
    await asyncio.wait({task}, timeout=STUCK_AFTER_S)
    return AgentFailed.timed_out(timeout)


def _within(timeout: float, run: Callable[[], Any]) -> Any:
    armed, rings = True, 0

    def on_alarm(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 as handlers are
        nonlocal rings
        if not armed or frame is None or frame.f_code in own_code:
            return
        rings += 1
        if rings >= _PATIENCE:
            _raise_after(rings - _PATIENCE, frame, until=own_code)
        raise _Alarm

    own_code = (_within.__code__, on_alarm.__code__)

    before, traced_before = signal.signal(signal.SIGALRM, on_alarm), sys.gettrace()
    # It repeats, for code that swallows even this exception.
    signal.setitimer(signal.ITIMER_REAL, timeout, _REPEAT_ALARM_S)
    try:
        try:
            result = run()
        finally:
            armed = False
    except BaseException:
        if not rings:
            raise
        raise TimeIsOver(timeout) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if rings >= _PATIENCE:
            sys.settrace(traced_before)
    if rings:  # it swallowed the alarm and came back late
        raise TimeIsOver(timeout)
    return result


def _raise_after(lines: int, frame: FrameType, until: tuple[CodeType, ...]) -> None:
    """Raise once more when the code has gone on for a number of lines.

    A loop that swallows every exception is left only by one that comes between two tries. Each
    alarm goes one line further than the one before, so one of them comes there.
    """
    signal.setitimer(signal.ITIMER_REAL, _FAST_ALARM_S, _FAST_ALARM_S)
    passed = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal passed
        if event == "line":
            passed += 1
            if passed > lines:
                raise _Alarm
        return trace

    sys.settrace(trace)
    outer: FrameType | None = frame
    while outer is not None and outer.f_code not in until:
        outer.f_trace = trace
        outer = outer.f_back


class ThreadCaller:
    """Calls the agent in a thread of its own and leaves that thread behind if it hangs.

    Threads are daemons: one that never ends does not keep the process alive.

    Args:
        loop: Gives the running loop for async agents.
        is_stuck: Says whether an agent blocks a loop; the next `loop()` is then another one.
    """

    def __init__(
        self,
        loop: Callable[[], asyncio.AbstractEventLoop],
        is_stuck: Callable[[asyncio.AbstractEventLoop], bool] | None = None,
    ) -> None:
        self._loop = loop
        self._is_stuck = is_stuck
        self._helper: _Helper | None = None

    def call(self, ask: Ask, question: str, conversation: Conversation, timeout: float) -> Any:
        """Give the agent's result, or leave it behind when its time is over.

        An async agent whose loop was blocked by another case is asked once more, on a new loop.
        """
        result = self._called(ask, question, conversation, timeout)
        if inspect.isawaitable(result):
            waiting = OnLoop(self._loop(), result)
            try:
                result = waiting.result(timeout)
            except AgentFailed:
                if self._is_stuck is None or not self._is_stuck(waiting.loop) or waiting.is_running:
                    raise
                again = self._called(ask, question, conversation, timeout)
                result = OnLoop(self._loop(), again).result(timeout)
        if isinstance(result, AgentFailed):
            raise result
        return result

    def close(self) -> None:
        """End the idle thread."""
        if self._helper is not None:
            self._helper.end()

    def _called(self, ask: Ask, question: str, conversation: Conversation, timeout: float) -> Any:
        if ask.is_async:
            try:
                return ask(question, conversation)
            except Exception as error:
                raise AgentFailed.raised(error) from error
        try:
            return self.within(timeout, lambda: ask(question, conversation))
        except TimeIsOver:
            raise AgentFailed.timed_out(timeout) from None
        except BaseException as error:
            raise AgentFailed.raised(error) from error

    def within(self, timeout: float, run: Callable[[], Any]) -> Any:
        """Give the result of code that runs beside, or leave it behind."""
        helper = self._helper = self._helper or _Helper()
        context = contextvars.copy_context()
        helper.jobs.put(lambda: context.run(run))
        try:
            result, error = helper.results.get(timeout=timeout)
        except queue.Empty:
            self._helper = None
            helper.jobs.put(None)
            raise TimeIsOver(timeout) from None
        if error is not None:
            raise error
        return result


class _Helper:
    """A daemon thread that runs one job after the other."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="dbagenteval-agent", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the thread, which has no job."""
        self.jobs.put(None)
        self._thread.join(STUCK_AFTER_S)

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            try:
                self.results.put((job(), None))
            except BaseException as error:  # noqa: BLE001 the agent's, whatever it is
                self.results.put((None, error))
