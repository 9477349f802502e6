"""Bodies that don't tell their size before they are read: so many at a time as fit into memory."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from dbagenteval.errors import Overloaded
from dbagenteval.receiver.config import Limits

__all__ = ["BodyReads"]

_COPIES = 2
"""A body is in memory twice for a moment: in the pieces that came, and as a whole."""

_PATIENCE_S = 5.0
_TOO_MANY = "too many large requests are being read"


class BodyReads:
    """Read bodies within the limit of bytes under way, each as if it were the largest.

    A small body takes its place for a moment only. Who waits for a place in vain is told to try
    again, and so is the body that has been arriving for longest then: clients that hang or are slow
    keep the others out no longer than that.

    Args:
        limits: Sizes, and how long a body may take.
    """

    def __init__(self, limits: Limits) -> None:
        count = max(1, limits.max_inflight_bytes // (_COPIES * limits.max_request_bytes))
        self._places = asyncio.Semaphore(count)
        self._timeout_s = limits.body_timeout_s
        self._started: dict[asyncio.Task[bytes], float] = {}
        self._displaced: set[asyncio.Task[bytes]] = set()

    async def read(self, body: Coroutine[Any, Any, bytes]) -> bytes:
        """Wait for a place, then for the body.

        Raises:
            Overloaded: No place became free, or it took long while others waited.
            asyncio.TimeoutError: It took too long.
        """
        try:
            await self._take_place()
        except BaseException:
            body.close()
            raise
        reading = asyncio.ensure_future(body)
        self._started[reading] = asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(reading, self._timeout_s)
        except asyncio.CancelledError:
            if reading in self._displaced:
                raise Overloaded(_TOO_MANY) from None
            raise
        finally:
            del self._started[reading]
            self._displaced.discard(reading)
            self._places.release()

    async def _take_place(self) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            await asyncio.wait_for(self._places.acquire(), _PATIENCE_S)
        except asyncio.TimeoutError:
            self._displace_oldest()
            raise Overloaded(_TOO_MANY) from None

    def _displace_oldest(self) -> None:
        """Give up the body that has been arriving for longest, if that is long."""
        now = asyncio.get_running_loop().time()
        for reading, started in self._started.items():  # in order of their start
            if now - started < _PATIENCE_S:
                return
            if reading not in self._displaced:
                self._displaced.add(reading)
                reading.cancel()
                return
