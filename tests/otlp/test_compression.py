"""Compressed bodies, good and damaged."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from dbagenteval.errors import MalformedRequest, RequestTooLarge
from dbagenteval.otlp.compression import decompress

MIB = 1 << 20
CONTENT = bytes(range(256)) * 4096


def compressed(encoding: str, content: bytes = CONTENT) -> bytes:
    if encoding == "zstd":
        return bytes(pa.compress(content, codec="zstd", asbytes=True))
    return gzip.compress(content) if encoding == "gzip" else zlib.compress(content)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
def test_content_comes_back(encoding: str) -> None:
    """Up to the limit, and not a byte further."""
    body = compressed(encoding)
    assert decompress(body, encoding.upper(), MIB) == CONTENT
    with pytest.raises(RequestTooLarge):
        decompress(body, encoding, MIB - 1)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
def test_damaged_bodies_leave_no_memory_behind(encoding: str) -> None:
    """A client that sends them again and again can't fill the receiver's memory."""
    cut = compressed(encoding)[:-3]
    used = []
    for _ in range(3):
        for _ in range(50):
            with pytest.raises(MalformedRequest):
                decompress(cut, encoding, 64 * MIB)
        used.append(resident_bytes())
    assert used[2] - used[0] < 20 * MIB
