"""The journal: requests are on disk here before they are acknowledged."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from dbagenteval.errors import Overloaded
from dbagenteval.store.layout import sync_folder
from dbagenteval.store.records import encode_header, segment_path, segments

__all__ = ["Journal"]

_log = logging.getLogger(__name__)

_SEGMENT_BYTES = 64 << 20
_SPENT_BYTES = 4 << 20
_RESERVE_BYTES = 256 << 20
_IOV_MAX = 512
_DISK_FULL_RETRY_S = 5.0
_WRITE_ERRORS = {
    errno.ENOSPC: "no space left on disk",
    errno.EDQUOT: "no space left on disk",
    errno.ENOENT: "the store's directory was removed",
}


class Journal:
    """Append requests; what arrives during one fsync goes out together in the next.

    Args:
        folder: Where the segments lie.
        end: The position at which to go on; a new segment starts there.
        max_pending_bytes: What may wait in memory for the disk.
        max_backlog_bytes: What may lie in the journal before the writer has stored it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        end: int,
        max_pending_bytes: int = 256 << 20,
        max_backlog_bytes: int = 2 << 30,
    ) -> None:
        self._folder = folder
        self._max_pending_bytes = max_pending_bytes
        self._max_backlog_bytes = max_backlog_bytes
        self._changed = threading.Condition()
        self._pending: list[tuple[bytes, bytes, Future[int]]] = []
        self._pending_bytes = 0
        self._closing = False
        self._write_error: str | None = None
        self._write_failed_at = 0.0
        self._apply_problem: str | None = None
        self._descriptor = -1
        self._segment_start = end
        self.durable = end
        self.applied = end
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def append(self, signal: str, body: bytes) -> Future[int]:
        """Add a request.

        Returns:
            Done once the request is safe on disk, with the position behind it. Its exception is
            `Overloaded` if the disk is full.

        Raises:
            Overloaded: Too much waits to be written or stored.
        """
        received_ns = time.time_ns()
        header = encode_header(signal, body, received_ns)
        future: Future[int] = Future()
        future.set_running_or_notify_cancel()  # a client that goes away can't cancel it
        with self._changed:
            if self._closing:
                raise Overloaded("shutting down")
            if self._pending_bytes + len(body) > self._max_pending_bytes and self._pending:
                raise Overloaded("too many requests wait for the disk")
            if self.durable - self.applied > self._max_backlog_bytes:
                raise Overloaded("too many requests wait to be stored")
            self._pending.append((header, body, future))
            self._pending_bytes += len(body)
            self._changed.notify_all()
        return future

    def wait_beyond(self, position: int, timeout_s: float | None) -> bool:
        """Wait until more than `position` is durable, or the journal closes."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self.durable > position or self._closing, timeout_s
            )

    def problem(self) -> str | None:
        """Say why requests are refused at present, None if they are taken."""
        # An old error tells little, and whoever asks before sending would never send again.
        is_old = time.monotonic() > self._write_failed_at + _DISK_FULL_RETRY_S
        write_error = None if is_old else self._write_error
        if write_error or self._apply_problem:
            return write_error or self._apply_problem
        if self.durable - self.applied > self._max_backlog_bytes:
            return "too many requests wait to be stored"
        return None

    @property
    def apply_problem(self) -> str | None:
        """Why what is in the journal can't be stored at present, None if it can."""
        return self._apply_problem

    @property
    def is_closing(self) -> bool:
        """True once `close` was called."""
        return self._closing

    def mark_applied(self, position: int) -> None:
        """Note that everything before `position` is stored, and remove segments before it."""
        with self._changed:
            self.applied = position
            self._apply_problem = None
            current = self._segment_start
            self._changed.notify_all()
        known = segments(self._folder)
        for (start, path), (next_start, _) in itertools.pairwise(known):
            if next_start <= position and start < current:
                _remove(path)

    def mark_failed(self, problem: str) -> None:
        """Note that storing fails at present."""
        self._apply_problem = problem

    def wait_applied(self, position: int, timeout_s: float | None = None) -> bool:
        """Wait until everything before `position` is stored."""
        with self._changed:
            return self._changed.wait_for(lambda: self.applied >= position, timeout_s)

    def close(self) -> None:
        """Write what is pending and stop; further requests are refused."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: bool(self._pending) or self._closing or self._is_spent()
                )
                batch, self._pending = self._pending, []
            if not batch:
                if self._closing:
                    return
                self._drop_segment()
                continue
            try:
                self._write(batch)
            except OSError as error:
                self._undo()
                _log.error("journal.write_failed errno=%s", errno.errorcode.get(error.errno or 0))
                self._write_failed_at = time.monotonic()
                self._write_error = _WRITE_ERRORS.get(error.errno or 0, "disk error")
                failure = Overloaded(self._write_error, retry_after_s=_DISK_FULL_RETRY_S)
                self._settle(batch, failure)
            else:
                self._write_error = None
                self._settle(batch, None)

    def _is_spent(self) -> bool:
        """Tell whether all of a large current segment is stored, so that its room can be freed."""
        size = self.durable - self._segment_start
        return self._descriptor >= 0 and size >= _SPENT_BYTES and self.applied >= self.durable

    def _drop_segment(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1
        _remove(segment_path(self._folder, self._segment_start))

    def _write(self, batch: list[tuple[bytes, bytes, Future[int]]]) -> None:
        if self._descriptor < 0:
            self._open_segment()
        parts: list[bytes] = []
        for header, body, _ in batch:
            parts += (header, body)
        backlog = self.durable - self.applied
        _check_room(self._descriptor, sum(map(len, parts)) + backlog)
        for index in range(0, len(parts), _IOV_MAX):
            _write_all(self._descriptor, parts[index : index + _IOV_MAX])
        os.fdatasync(self._descriptor)
        if not os.fstat(self._descriptor).st_nlink:
            os.close(self._descriptor)
            self._descriptor = -1
            raise FileNotFoundError(errno.ENOENT, "the segment was removed")

    def _open_segment(self) -> None:
        self._segment_start = self.durable
        path = segment_path(self._folder, self._segment_start)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        sync_folder(self._folder)

    def _undo(self) -> None:
        """Cut what a failed write left behind, so that the next record follows a whole one."""
        if self._descriptor < 0:
            return
        try:
            os.ftruncate(self._descriptor, self.durable - self._segment_start)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            os.close(self._descriptor)
            self._descriptor = -1

    def _settle(
        self, batch: list[tuple[bytes, bytes, Future[int]]], failure: Overloaded | None
    ) -> None:
        position = self.durable
        ends = []
        for header, body, _ in batch:
            position += len(header) + len(body)
            ends.append(position)
        with self._changed:
            self._pending_bytes -= sum(len(body) for _, body, _ in batch)
            if failure is None:
                self.durable = position
            self._changed.notify_all()
        for (_, _, future), end in zip(batch, ends, strict=True):
            if failure is None:
                future.set_result(end)
            else:
                future.set_exception(failure)
        if failure is None and self.durable - self._segment_start >= _SEGMENT_BYTES:
            os.close(self._descriptor)
            self._descriptor = -1


def _remove(segment: Path) -> None:
    """Remove a segment; where that can't be done it stays, all of it stored, and does no harm."""
    try:
        segment.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("journal.not_removed errno=%s", errno.errorcode.get(error.errno or 0))


def _check_room(descriptor: int, size: int) -> None:
    """Leave some room on the disk beyond `size` bytes: for the journal and once more the database.

    Raises:
        OSError: There is too little.
    """
    disk = os.fstatvfs(descriptor)
    reserve = min(_RESERVE_BYTES, disk.f_blocks * disk.f_frsize // 10)
    if disk.f_bavail * disk.f_frsize - size < reserve:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_all(descriptor: int, parts: list[bytes]) -> None:
    """Write all parts; a short write is continued."""
    total = sum(map(len, parts))
    written = os.writev(descriptor, parts)
    if written < total:
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            rest = rest[os.write(descriptor, rest) :]
