"""A statement that runs within another call of its driver counts once: the outermost tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["inside", "is_inside"]

is_inside: ContextVar[bool] = ContextVar("dbagenteval_is_inside", default=False)
"""True while a driver's method runs whose statement is told, or is the driver's own affair."""


@contextmanager
def inside() -> Iterator[None]:
    """Leave unrecorded what runs in the block."""
    token = is_inside.set(True)
    try:
        yield
    finally:
        is_inside.reset(token)
