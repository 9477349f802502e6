"""Keep the output of the command apart from what an agent prints, closes or replaces."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO, Any, TextIO

__all__ = ["shielded_stdout"]


_STDOUT, _STDERR = 1, 2


class _ToStderr:
    """Stands for stdout while foreign code runs: writes go to stderr, nothing can close it.

    It follows `sys.stderr`, which leads around a progress bar while there is one.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(ValueError):  # somebody closed stderr
            sys.stderr.write(text)
        return len(text)

    def close(self) -> None:
        """Stay open."""


@contextlib.contextmanager
def shielded_stdout() -> Iterator[IO[str]]:
    """Give the real stdout, while `sys.stdout` and file descriptor 1 lead to stderr.

    Results then stand alone on stdout whatever an agent or a program it starts prints, and they
    still come out if it closes or replaces `sys.stdout`.
    """
    before = sys.stdout
    before.flush()
    out = _second_handle(before)
    is_process_stdout = out is not before and before.fileno() == _STDOUT
    if is_process_stdout:
        _lead(_STDOUT, _STDERR)
    sys.stdout = _ToStderr()
    try:
        yield out
    finally:
        sys.stdout = before
        try:
            _finish(out, before)
        finally:
            if is_process_stdout:
                _lead(_STDOUT, out.fileno())
            if out is not before:
                out.close()


def _lead(number: int, target: int) -> None:
    with contextlib.suppress(OSError):  # stderr may be closed
        os.dup2(target, number)


def _finish(out: IO[str], before: TextIO) -> None:
    try:
        out.flush()
    except OSError:
        if out is not before:  # else closing it would fail once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        raise


def _second_handle(stream: TextIO) -> IO[str]:
    try:
        number = os.dup(stream.fileno())
    except (OSError, ValueError):  # a stream in memory, as under a test
        return stream
    return os.fdopen(number, "w", encoding=stream.encoding, errors="replace")
