"""Who may use the store: one owner, or any number of readers while nobody owns it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from dbagenteval.errors import StoreError, StoreLocked
from dbagenteval.store.layout import Layout

__all__ = ["StoreLock"]

_POLL_S = 0.02


class StoreLock:
    """The lock on a store; the system gives it back when the process ends in any way.

    Args:
        layout: The store.
        shared: True to read beside other readers, False to own it.
        wait_s: How long to wait for an owner that is just ending.

    Raises:
        StoreLocked: Another process has it.
        StoreError: The lock file can't be opened.
    """

    def __init__(self, layout: Layout, *, shared: bool, wait_s: float = 0.0) -> None:
        self._layout = layout
        try:
            self.descriptor = os.open(layout.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"store {layout.root}: can't be opened: {error.strerror}") from error
        deadline = time.monotonic() + wait_s
        while True:
            try:
                self._lock(fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            except StoreLocked:
                if time.monotonic() >= deadline:
                    self.release()
                    raise
                time.sleep(_POLL_S)
            else:
                break
        if not shared:
            with contextlib.suppress(OSError):  # on a disk for reading only
                layout.owner_file.unlink(missing_ok=True)  # of an owner that died

    def _lock(self, kind: int) -> None:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreLocked(
                f"store {self._layout.root}: in use by another process",
                hint="stop that process, or use another --store",
            ) from error

    def share(self) -> None:
        """Let other readers in."""
        self._lock(fcntl.LOCK_SH)

    def release(self) -> None:
        """Give the lock back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
