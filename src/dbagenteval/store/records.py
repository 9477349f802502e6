"""The journal's files: records one behind the other, in segments.

A segment is a file named after the position of its first byte; a position counts bytes from the
first record ever, so it never goes back, whatever is removed.
Record: magic, signal, checksum of the header, length, checksum, time of arrival (24 bytes, little
endian), then the body. Records of earlier versions have zeros for the header's own checksum.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "HEADER",
    "MAGIC",
    "Record",
    "decode_header",
    "encode_header",
    "is_damaged_header",
    "is_intact",
    "segment_path",
    "segments",
]

MAGIC = b"DJR1"
HEADER = struct.Struct("<4sB3sIIQ")
_NO_CHECKSUM = bytes(3)
_SIGNAL_CODES = {"traces": 1, "logs": 2}
_SIGNALS = {code: signal for signal, code in _SIGNAL_CODES.items()}
_SUFFIX = ".journal"
_SEGMENT_NAME = re.compile("[0-9]{20}")


@dataclass(frozen=True, slots=True)
class Record:
    """One request in the journal; `end` is the position behind it."""

    signal: str
    body: bytes
    received_ns: int
    end: int


def encode_header(signal: str, body: bytes, received_ns: int) -> bytes:
    """Give the header of a record."""
    code = _SIGNAL_CODES[signal]
    checksum = _checksum(code, body, received_ns)
    of_header = _header_checksum(code, len(body), checksum, received_ns)
    return HEADER.pack(MAGIC, code, of_header, len(body), checksum, received_ns)


def decode_header(header: bytes) -> tuple[str, int, int, int] | None:
    """Give signal, length, checksum and arrival of a header, or None if it isn't one."""
    if len(header) < HEADER.size:
        return None
    magic, code, _, length, checksum, received_ns = HEADER.unpack_from(header)
    if magic != MAGIC or code not in _SIGNALS:
        return None
    return _SIGNALS[code], length, checksum, received_ns


def is_damaged_header(header: bytes) -> bool:
    """Tell whether a header isn't what was written; False for a record without its checksum."""
    magic, code, of_header, *fields = HEADER.unpack_from(header)
    if magic != MAGIC or code not in _SIGNALS:
        return True
    return of_header not in (_NO_CHECKSUM, _header_checksum(code, *fields))


def is_intact(signal: str, body: bytes, received_ns: int, checksum: int) -> bool:
    """Tell whether a record's content is what was written."""
    return _checksum(_SIGNAL_CODES[signal], body, received_ns) == checksum


def _checksum(code: int, body: bytes, received_ns: int) -> int:
    return zlib.crc32(body, zlib.crc32(struct.pack("<BIQ", code, len(body), received_ns)))


def _header_checksum(code: int, length: int, checksum: int, received_ns: int) -> bytes:
    """Give three bytes that are never `_NO_CHECKSUM`."""
    found = zlib.crc32(struct.pack("<BIIQ", code, length, checksum, received_ns)) & 0xFFFFFF
    return (found or 1).to_bytes(3, "little")


def segments(folder: Path) -> list[tuple[int, Path]]:
    """List the segments with their first positions, in order; other files are passed over."""
    named = ((path.name.removesuffix(_SUFFIX), path) for path in folder.glob(f"*{_SUFFIX}"))
    return sorted((int(name), path) for name, path in named if _SEGMENT_NAME.fullmatch(name))


def segment_path(folder: Path, start: int) -> Path:
    """Name the segment that starts at a position."""
    return folder / f"{start:020d}{_SUFFIX}"
