"""Keep the agent from ending the process: its `os._exit(0)` would look like a run that passed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["guard_early_exit", "leave", "set_exit_code"]

_leave: Callable[[int], NoReturn] = os._exit
_final: list[int] = []


def guard_early_exit() -> None:
    """Let `os._exit` in this process raise SystemExit, until there is an exit code.

    An agent that calls it then makes its case an ERROR. Once the run has its result, as in a
    handler of `atexit`, the process ends with the code of the run, whatever the agent gives.
    Other processes that were forked from this one end as they ask. What ends the process without
    Python's knowledge, in a library written in C, can't be kept from it.
    """
    own = os.getpid()

    def guarded(status: Any = 0) -> NoReturn:
        if os.getpid() != own:
            _leave(status)
        if _final:
            _leave(_final[0] or status)
        raise SystemExit(f"os._exit({status})")

    os._exit = guarded


def set_exit_code(code: int) -> None:
    """Say how the process ends from now on."""
    _final[:] = [code]


def leave(code: int) -> NoReturn:
    """End the process at once."""
    _leave(code)
