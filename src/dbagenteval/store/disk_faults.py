"""Errors that pass: what failed is tried again, and no request is to blame."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

__all__ = ["disk_faults", "is_passing"]

# DuckDB tells of a full disk in a commit as a failed transaction, with the system's words.
_WORDS = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)))


def is_passing(error: BaseException) -> bool:
    """Tell whether storing fails for a reason outside of what is stored, so that it may pass.

    Memory is no such reason, unless it is the disk that has no room for what spills.
    """
    if isinstance(error, duckdb.Error) and any(words in str(error) for words in _WORDS):
        return True
    operational = isinstance(error, (duckdb.OperationalError, OSError))
    return operational and not isinstance(error, duckdb.OutOfMemoryException)


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
