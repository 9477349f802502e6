"""A file of drafts is replaced only while it holds what the change was made from."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.harvest.casefile import CaseFile

__all__ = ["replaced"]


def replaced(before: CaseFile, after: CaseFile, data: Mapping[Path, str] | None = None) -> bool:
    """Write a changed file, unless another process has changed it since it was read.

    Args:
        before: The file as it was read.
        after: The file as it shall be.
        data: Scripts that its cases name, by their path; written with it, and before it.

    Returns:
        False if the file holds something else by now: nothing was written then.

    Raises:
        UserError: A file can't be written.
    """
    from dbagenteval.report import save

    with _alone_in(Path(os.path.realpath(before.path)).parent):
        if _bytes_of(before.path) != before.text.encode("utf-8"):
            return False
        for path, script in (data or {}).items():
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise UserError(f"cannot write {path}: {error.strerror}") from error
            save(path, script)
        save(after.path, after.text)
    return True


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait for others that write here; the file itself can't be locked, since it is replaced."""
    with contextlib.ExitStack() as stack:
        # Without locks, or without the right to look into the folder, it is compared and no more.
        with contextlib.suppress(OSError):
            number = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, number)
            fcntl.flock(number, fcntl.LOCK_EX)
        yield


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
