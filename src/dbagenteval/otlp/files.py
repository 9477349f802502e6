"""Export requests in files: as the Collector's file exporter writes them, or one document.

Formats, told apart by the content: JSON lines, one JSON document, protobuf requests each behind
its length (4 bytes, big endian); each plain, gzip or zstd.
Source: https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import pyarrow as pa

from dbagenteval.errors import ExportRefused, MalformedRequest
from dbagenteval.otlp.compression import decompress
from dbagenteval.otlp.decode import SIGNALS, Decoded, decode_document, decode_protobuf
from dbagenteval.otlp.gzip_stream import GzipStream, Readable
from dbagenteval.otlp.json_mapping import parse_json

__all__ = ["Fault", "Found", "read_requests"]

_MAX_REQUEST_BYTES = 512 << 20
_MAX_FIRST_LINE = 200
"""A longer first line is a damaged request, not the start of a document over many lines."""

_START_BYTES = 64 << 10
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ROOTS = {
    "resourceSpans": "traces",
    "resourceLogs": "logs",
    "resourceMetrics": "metrics",
    "resourceProfiles": "profiles",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One request of a file; `decoded` is None for a signal that isn't evaluated."""

    where: str
    decoded: Decoded | None


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of a file that can't be read."""

    where: str
    message: str


def read_requests(file: BinaryIO, name: str) -> Iterator[Found | Fault]:
    """Read the requests of one file, in order; a part that can't be read becomes a `Fault`.

    Args:
        file: Open for reading, at its start; may be a pipe.
        name: For messages.
    """
    stream = _UntilFault(_decompressed(_Rest(file)))
    rest = _Rest(stream)
    try:
        start = rest.read(_START_BYTES).removeprefix(_BYTE_ORDER_MARK)
        rest.push_back(start)
        if not start.strip():
            if stream.fault is None:
                yield Fault(name, "the file is empty")
        elif start.lstrip().startswith((b"{", b"[")) and not start.startswith(b"\x00"):
            yield from _read_json(rest, name)
        elif _looks_like_lengths(start):
            yield from _read_lengths(rest, name)
        elif _looks_like_text(start):  # a log line, or the rest of a line that was cut
            yield from _read_json(rest, name)
        else:
            yield from _decode_message(rest.read(_MAX_REQUEST_BYTES), name)
    except (OSError, ExportRefused) as error:
        yield Fault(name, f"can't be read further: {error}")
    if stream.fault is not None:
        yield Fault(name, f"can't be read further: {stream.fault}")


def _decompressed(file: _Rest) -> Readable:
    magic = file.read(4)
    file.push_back(magic)
    if magic.startswith(_GZIP_MAGIC):
        return GzipStream(file)
    if magic == _ZSTD_MAGIC:
        source = pa.PythonFile(io.BufferedReader(_RawRest(file)), "r")
        return cast("Readable", pa.CompressedInputStream(source, "zstd"))
    return file


class _UntilFault:
    """A stream that ends where it can't be read further, and keeps the reason."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.fault: Exception | None = None

    def read(self, size: int, /) -> bytes:
        if self.fault is None:
            try:
                return self._stream.read(size)
            except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
                self.fault = error
        return b""


class _Rest:
    """A stream whose start can be read and put back."""

    def __init__(self, stream: Readable) -> None:
        self._buffer = bytearray()
        self._stream = stream

    def push_back(self, start: bytes) -> None:
        """Let this be read again."""
        self._buffer[:0] = start

    def read(self, size: int, /) -> bytes:
        """Give so many bytes, fewer only at the end."""
        while len(self._buffer) < size:
            more = self._stream.read(max(size - len(self._buffer), 256 << 10))
            if not more:
                break
            self._buffer += more
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def line(self) -> bytes | None:
        """Give the next line without its end, None behind the last."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            more = self._stream.read(256 << 10)
            if not more:
                rest = bytes(self._buffer)
                self._buffer.clear()
                return rest or None
            self._buffer += more
            if len(self._buffer) > _MAX_REQUEST_BYTES:
                raise OSError(f"a line is longer than {_MAX_REQUEST_BYTES} bytes")
        taken = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return taken


class _RawRest(io.RawIOBase):
    """A rest as a file of Python."""

    def __init__(self, rest: _Rest) -> None:
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        content = self._rest.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def _read_json(rest: _Rest, name: str) -> Iterator[Found | Fault]:
    number = 1
    line = rest.line()
    while line is not None and not line.strip():
        line = rest.line()
        number += 1
    if line is not None and _may_start_document(line):
        content = line + b"\n" + rest.read(_MAX_REQUEST_BYTES)
        if _is_json(content):
            yield from _decode_text(content, name)
            return
        rest.push_back(content)
        line = rest.line()
    while line is not None:
        if line.strip():
            yield from _decode_text(line, f"{name}:{number}")
        line = rest.line()
        number += 1


def _may_start_document(line: bytes) -> bool:
    """Tell whether this may be the first line of a document over many lines."""
    text = line.strip()
    return text.startswith((b"{", b"[")) and len(text) <= _MAX_FIRST_LINE and not _is_json(text)


def _is_json(content: bytes) -> bool:
    try:
        parse_json(content)
    except MalformedRequest:
        return False
    return True


def _decode_text(text: bytes, where: str) -> Iterator[Found | Fault]:
    try:
        document = parse_json(text)
    except MalformedRequest as error:
        yield Fault(where, str(error))
        return
    for part in document if isinstance(document, list) else [document]:
        yield from _decode_part(part, where)


def _decode_part(document: Any, where: str) -> Iterator[Found | Fault]:
    roots = [root for root in _ROOTS if isinstance(document, dict) and root in document]
    if not roots:
        yield Fault(where, "not OTLP: no resourceSpans or resourceLogs")
    for root in roots:
        signal = _ROOTS[root]
        if signal not in SIGNALS:
            yield Found(where, None)
            continue
        try:
            yield Found(where, decode_document(signal, {root: document[root]}))
        except MalformedRequest as error:
            yield Fault(where, f"{error.field}: {error}" if error.field else str(error))


def _looks_like_lengths(start: bytes) -> bool:
    """Tell lengths from a bare message, whose first byte is the tag of field 1."""
    if start.startswith(b"\n"):
        return False
    length = int.from_bytes(start[:4], "big")
    return 0 < length <= _MAX_REQUEST_BYTES and (
        start[4:5] in (b"\n", b"{") or start[4:8] == _ZSTD_MAGIC
    )


def _looks_like_text(start: bytes) -> bool:
    """Tell text from a bare message, which holds zeros and other control characters."""
    return start[:1] != b"\n" and not _CONTROL.search(start)


def _read_lengths(rest: _Rest, name: str) -> Iterator[Found | Fault]:
    number = 0
    while header := rest.read(4):
        number += 1
        where = f"{name}: message {number}"
        length = int.from_bytes(header, "big")
        if len(header) < 4 or length > _MAX_REQUEST_BYTES:
            yield Fault(where, "no length stands here; the rest of the file is not read")
            return
        body = rest.read(length)
        if len(body) < length:
            yield Fault(where, f"cut after {len(body)} of {length} bytes")
            return
        yield from _decode_message(body, where)


def _decode_message(body: bytes, where: str) -> Iterator[Found | Fault]:
    if body.startswith(_ZSTD_MAGIC):  # the file exporter compresses each message by itself
        body = decompress(body, "zstd", _MAX_REQUEST_BYTES)
    if body.startswith(b"{"):
        yield from _decode_text(body, where)
        return
    found = []
    for signal in SIGNALS:
        try:
            found.append(decode_protobuf(signal, body))
        except MalformedRequest:
            continue
    if found:
        yield Found(where, max(found, key=lambda decoded: decoded.accepted))
    else:
        yield Fault(where, "not OTLP: neither a traces nor a logs request")
