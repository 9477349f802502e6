"""The context of aiosqlite's callers, which its thread doesn't have by itself."""

from __future__ import annotations

import functools
from contextvars import copy_context
from typing import Any

from dbagenteval.instrument.row_settings import RowSettings

__all__ = ["instrument"]


def instrument(module: Any, settings: RowSettings) -> None:  # noqa: ARG001 as for drivers
    """Run what a connection does in the context of the call, so that spans have their parent."""
    connection = module.core.Connection
    original = connection._execute  # noqa: SLF001 all goes through it
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    async def execute(self: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        return await original(self, copy_context().run, function, *args, **kwargs)

    connection._execute = execute  # noqa: SLF001 see above
