"""Memory that is not needed any more goes back to the system."""

from __future__ import annotations

import ctypes
import gc

__all__ = ["give_back_freed"]


def give_back_freed() -> None:
    """Collect what grpc leaves behind, and let the C library give back what it keeps.

    A call that was refused is a cycle of objects and holds its body. Bodies come in many small
    pieces, of which glibc would keep gigabytes after a burst; other libraries give back unasked.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
