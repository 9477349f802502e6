"""Gzip files as a stream that gives all that stands before a cut, which `gzip.GzipFile` doesn't."""

from __future__ import annotations

import zlib
from typing import Protocol

__all__ = ["GzipStream", "Readable"]

_CHUNK_BYTES = 256 << 10
_GZIP_WINDOW = 31


class Readable(Protocol):
    """What can be read on, and gives nothing at its end only."""

    def read(self, size: int, /) -> bytes:
        """Give up to so many bytes."""


class GzipStream:
    """The content of a gzip file of any number of members.

    Args:
        file: The compressed file, at its start.
    """

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._decoder = zlib.decompressobj(_GZIP_WINDOW)
        self._input = b""

    def read(self, size: int, /) -> bytes:
        """Give up to so many bytes, none at the end.

        Raises:
            EOFError: The file is cut here.
            zlib.error: It is damaged here.
        """
        while True:
            if self._decoder.eof and not self._next_member():
                return b""
            self._input = self._input or self._file.read(_CHUNK_BYTES)
            is_cut = not self._input
            content = self._decoder.decompress(self._input, size)
            ended = self._decoder.eof
            self._input = self._decoder.unused_data if ended else self._decoder.unconsumed_tail
            if content:
                return content
            if is_cut and not ended:
                raise EOFError("the gzip data is cut")

    def _next_member(self) -> bool:
        """Start the next member; False if only padding or nothing follows."""
        self._input = self._input.lstrip(b"\x00") or self._file.read(_CHUNK_BYTES).lstrip(b"\x00")
        if self._input:
            self._decoder = zlib.decompressobj(_GZIP_WINDOW)
        return bool(self._input)
