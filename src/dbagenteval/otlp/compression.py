"""Bodies as received become bodies as sent, never larger than a limit."""

from __future__ import annotations

import zlib

from dbagenteval.errors import MalformedRequest, RequestTooLarge, UnsupportedMediaType

__all__ = ["ENCODINGS", "decompress"]

ENCODINGS = ("gzip", "deflate", "zstd", "identity")
"""The content encodings that are read."""

_MAX_GZIP_MEMBERS = 1000
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


def decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """Undo a content encoding.

    Args:
        body: As received.
        encoding: Value of `Content-Encoding`; empty means identity.
        limit: How many bytes the result may have; decompression stops there.

    Raises:
        UnsupportedMediaType: Another encoding.
        RequestTooLarge: The result would be over the limit.
        MalformedRequest: The body is damaged.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        if len(body) > limit:
            raise _too_large(limit)
        return body
    if name in ("gzip", "x-gzip"):
        return _inflate(body, _GZIP_WINDOW, limit)
    if name == "deflate":
        return _inflate(body, zlib.MAX_WBITS, limit)
    if name == "zstd":
        return _unzstd(body, limit)
    raise UnsupportedMediaType(f"content encoding not supported; supported: {', '.join(ENCODINGS)}")


def _too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"the request is over the limit of {limit} bytes")


def _inflate(body: bytes, window: int, limit: int) -> bytes:
    parts: list[bytes] = []
    room = limit
    rest = body
    for _ in range(_MAX_GZIP_MEMBERS):
        stream = zlib.decompressobj(window)
        try:
            part = stream.decompress(rest, room + 1)
        except zlib.error as error:
            raise MalformedRequest("the compressed body is damaged") from error
        if len(part) > room:
            raise _too_large(limit)
        if not stream.eof:
            raise MalformedRequest("the compressed body is cut")
        parts.append(part)
        room -= len(part)
        rest = stream.unused_data
        if not rest:
            return b"".join(parts)
        if window != _GZIP_WINDOW:
            raise MalformedRequest("the compressed body has bytes behind its end")
    raise MalformedRequest(f"the compressed body has over {_MAX_GZIP_MEMBERS} members")


def _unzstd(body: bytes, limit: int) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 large, and few exporters send zstd

    try:
        with pa.CompressedInputStream(pa.BufferReader(body), "zstd") as stream:
            # `read` never frees what it had read when it meets the damage.
            content: bytes = stream.read_buffer(limit + 1).to_pybytes()
    except (OSError, pa.ArrowException) as error:
        raise MalformedRequest("the compressed body is damaged") from error
    if len(content) > limit:
        raise _too_large(limit)
    return content
