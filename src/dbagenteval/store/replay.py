"""Reading the journal: records in order, torn tails cut, damaged records set aside."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from dbagenteval.store.layout import write_private
from dbagenteval.store.records import (
    HEADER,
    MAGIC,
    Record,
    decode_header,
    is_damaged_header,
    is_intact,
    segments,
)

__all__ = ["JournalReader", "cut_torn_tail"]

_log = logging.getLogger(__name__)


def cut_torn_tail(folder: Path, applied: int, *, set_aside: Path) -> int:
    """Cut what a crash left half written behind the last whole record.

    Only the last segment can have such a tail: it was never acknowledged. What isn't half written
    but damaged may have been, and is copied to the folder `set_aside`.

    Returns:
        The position at which the journal goes on.

    Raises:
        OSError: It can't be cut or copied.
    """
    known = segments(folder)
    if not known:
        return applied
    start, path = known[-1]
    size = path.stat().st_size
    end = size
    with path.open("rb") as file:
        data = _Segment(file.fileno(), size)
        offset = 0
        while offset < size:
            record = data.record_at(offset)
            if record is not None:
                offset += HEADER.size + len(record[1])
                continue
            following = data.next_record(offset)
            if following is None:
                end = offset
                break
            offset = following
        torn = data.read(end, size - end)
    if torn and not _is_half_written(torn):
        _put_aside(torn, start + end, set_aside)
    if end < size:
        _log.warning("journal.torn_tail_cut position=%d bytes=%d", start + end, size - end)
        os.truncate(path, end)
    return max(applied, start + end)


def _is_half_written(tail: bytes) -> bool:
    """Tell whether a tail is the start of a record, or room that was never written to."""
    header = tail[: HEADER.size]
    if len(tail.rstrip(b"\0")) < HEADER.size or not any(header):
        return True
    found = decode_header(header)
    if found is None or is_damaged_header(header):
        return False
    return HEADER.size + found[1] > len(tail)


def _put_aside(damaged: bytes, position: int, folder: Path) -> None:
    _log.error("journal.damaged position=%d bytes=%d", position, len(damaged))
    write_private(folder / f"journal-{position:020d}.bin", damaged)


class JournalReader:
    """Give records from a position on.

    Args:
        folder: Where the segments lie.
        position: Where to start.
        set_aside: Folder to which damaged parts are copied.
    """

    def __init__(self, folder: Path, *, position: int, set_aside: Path) -> None:
        self._folder = folder
        self._set_aside = set_aside
        self.position = position
        self.damaged_count = 0

    def read(self, limit: int, *, max_records: int, max_bytes: int) -> list[Record]:
        """Read the next records that lie wholly before the position `limit`.

        Damaged parts are copied to the set-aside folder, counted in `damaged_count` and passed.
        """
        found: list[Record] = []
        size = 0
        for record in self._records(limit):
            found.append(record)
            size += len(record.body)
            if len(found) >= max_records or size >= max_bytes:
                break
        return found

    def _records(self, limit: int) -> Iterator[Record]:
        known = segments(self._folder)
        ends = [*(start for start, _ in known[1:]), limit]
        for (start, path), end in zip(known, ends, strict=False):
            if start >= limit:
                return
            if end <= self.position:
                continue
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except FileNotFoundError:  # all of it was stored, and its owner removed it just now
                continue
            try:
                size = min(os.fstat(descriptor).st_size, min(end, limit) - start)
                if start + size <= self.position:
                    continue
                yield from self._records_of(_Segment(descriptor, size), start)
            finally:
                os.close(descriptor)
        self.position = max(self.position, limit)

    def _records_of(self, segment: _Segment, start: int) -> Iterator[Record]:
        self.position = max(self.position, start)
        while self.position - start < segment.size:
            offset = self.position - start
            found = segment.record_at(offset)
            if found is None:
                following = segment.next_record(offset) or segment.size
                self.damaged_count += 1
                damaged = segment.read(offset, following - offset)
                _put_aside(damaged, self.position, self._set_aside)
                self.position = start + following
                continue
            signal, body, received_ns = found
            self.position = start + offset + HEADER.size + len(body)
            yield Record(signal, body, received_ns, self.position)


class _Segment:
    """Random access to one segment."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, offset)

    def record_at(self, offset: int) -> tuple[str, bytes, int] | None:
        """Give signal, body and arrival of the record at the offset, None if it isn't whole."""
        header = decode_header(self.read(offset, HEADER.size))
        if header is None:
            return None
        signal, length, checksum, received_ns = header
        if offset + HEADER.size + length > self.size:
            return None
        body = self.read(offset + HEADER.size, length)
        if not is_intact(signal, body, received_ns, checksum):
            return None
        return signal, body, received_ns

    def next_record(self, offset: int) -> int | None:
        """Find the next whole record behind a damaged one."""
        data = self.read(offset, self.size - offset)
        found = data.find(MAGIC, 1)
        while found >= 0:
            if self.record_at(offset + found) is not None:
                return offset + found
            found = data.find(MAGIC, found + 1)
        return None
