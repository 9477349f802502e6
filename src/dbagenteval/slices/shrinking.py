"""Delta debugging: the few of many things that are enough for something to still happen.

Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (TSE 2002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["shrink"]

_T = TypeVar("_T")


def shrink(
    things: Sequence[_T],
    is_enough: Callable[[list[_T]], bool],
    *,
    without_orphans: Callable[[list[_T]], list[_T]] = list,
    seconds: float = 60.0,
) -> tuple[list[_T], bool]:
    """Remove things while what is left is enough.

    Args:
        things: Enough all together.
        is_enough: Asked of what might be left.
        without_orphans: Takes from things those that can't be there without others that aren't.
        seconds: After which the best so far is given.

    Returns:
        The rest, in order, and whether it is minimal: no further thing can be removed, with
        those that would be orphans then.
    """
    until = time.monotonic() + seconds
    kept = without_orphans(list(things))
    chunks = 2
    while kept:
        size = -(-len(kept) // chunks)
        for start in range(0, len(kept), size):
            if time.monotonic() > until:
                return kept, False
            fewer = without_orphans(kept[:start] + kept[start + size :])
            if is_enough(fewer):
                kept, chunks = fewer, max(chunks - 1, 2)
                break
        else:
            if size == 1:
                return kept, True
            chunks = min(2 * chunks, len(kept))
    return kept, True
