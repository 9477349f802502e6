"""Event loops for async agents: one that many cases share, in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable
from typing import Any

from dbagenteval.suite.agents import AgentFailed, outcome_of

__all__ = ["STUCK_AFTER_S", "LoopThread", "OnLoop", "close_loop"]

STUCK_AFTER_S = 1.0
"""How long a loop may be busy with one task before it counts as blocked."""


class OnLoop:
    """An awaitable that runs on a loop of another thread.

    Args:
        loop: The loop; it is running.
        awaitable: What the agent gave.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, awaitable: Awaitable[Any]) -> None:
        self.loop = loop
        self._task: asyncio.Task[Any] | None = None
        self._future = asyncio.run_coroutine_threadsafe(self._run(awaitable), loop)

    def result(self, timeout: float) -> Any:
        """Wait for the result, or an `AgentFailed` in its place.

        Raises:
            AgentFailed: It did not end in time.
        """
        try:
            return self._future.result(timeout)
        except concurrent.futures.TimeoutError:
            self._future.cancel()
            raise AgentFailed.timed_out(timeout) from None

    @property
    def is_running(self) -> bool:
        """True if it is this one that holds the loop."""
        return self._task is not None and asyncio.current_task(self.loop) is self._task

    async def _run(self, awaitable: Awaitable[Any]) -> Any:
        self._task = asyncio.current_task()
        return await outcome_of(awaitable)


class LoopThread:
    """An event loop in a daemon thread, started when first needed and replaced when stuck."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Give the running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="dbagenteval-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def is_stuck(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Say whether an agent blocks a loop; the next case then gets a new one."""
        answered = threading.Event()
        loop.call_soon_threadsafe(answered.set)
        if answered.wait(STUCK_AFTER_S):
            return False
        with self._lock:
            if self._loop is loop:
                self._loop = None
        return True

    def close(self) -> None:
        """Stop the loop; its thread ends once the loop is free."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(2 * STUCK_AFTER_S)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    close_loop(loop)


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop that has stopped; tasks that agents left on it are cancelled first."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=STUCK_AFTER_S))
    loop.run_until_complete(loop.shutdown_asyncgens())
    # Those that would not be cancelled are left behind; asyncio need not complain of each.
    loop.set_exception_handler(lambda _loop, _context: None)
    loop.close()
