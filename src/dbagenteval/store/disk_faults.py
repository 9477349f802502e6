"""Errors that are the disk's fault: what failed is tried again, and no request is to blame."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

__all__ = ["disk_faults", "is_disk_fault"]

# DuckDB tells of a full disk in a commit as a failed transaction, with the system's words.
_WORDS = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)))


def is_disk_fault(error: BaseException) -> bool:
    """Tell whether an error of the database comes from its disk."""
    return isinstance(error, (duckdb.IOException, OSError)) or (
        isinstance(error, duckdb.Error) and any(words in str(error) for words in _WORDS)
    )


@contextmanager
def disk_faults() -> Iterator[None]:
    """Make errors of the database of those that files beside it give.

    Raises:
        duckdb.IOException: A file can't be written or read.
    """
    try:
        yield
    except OSError as error:
        raise duckdb.IOException(error.strerror or str(error)) from error
