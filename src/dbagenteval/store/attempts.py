"""Which part of the journal is being stored, noted in a file that outlives a crash."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Attempts"]

_PARTS = 16
_MAX_TRIES = 3


class Attempts:
    """Tries the part that crashed again in smaller parts, until one record crashes it alone.

    The file isn't synced: it outlives the process, not the machine, and need not.

    Args:
        file: Where the attempt under way is noted.
        most: How many records to take as a rule.
    """

    def __init__(self, file: Path, most: int) -> None:
        self._file = file
        self._most = self._few = most
        self._start = self._end = self._tries = 0
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(file.read_text(encoding="utf-8"))
            self._start, self._end = int(found["start"]), int(found["end"])
            self._few = max(1, int(found["records"]) // _PARTS)
            self._tries = int(found["tries"])

    def records_at(self, position: int) -> int:
        """Say how many records to take there."""
        return self._few if self._start <= position < self._end else self._most

    def is_fatal(self, start: int, end: int) -> bool:
        """Tell whether this part ended the process again and again."""
        return (start, end) == (self._start, self._end) and self._tries >= _MAX_TRIES

    @contextlib.contextmanager
    def under_way(self, start: int, end: int, records: int) -> Iterator[None]:
        """Note what is tried, until the block ends in any way but a crash."""
        is_again = (start, end) == (self._start, self._end)
        tries = self._tries + 1 if is_again else 1
        content = {"start": start, "end": end, "records": records, "tries": tries}
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
        try:
            yield
        finally:
            self._file.unlink(missing_ok=True)
