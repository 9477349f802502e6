"""Scorecards kept beside the traces: one file a scoring run, written whole or not at all.

They are plain files and no tables, so that a scoring keeps its cards while another process owns
the database. A file holds a line of JSON about the run, then one for each card.
"""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from dbagenteval.errors import StoreError

__all__ = ["ScorecardRun", "kept_bytes", "kept_cards", "prune_kept"]

_FOLDER = "scorecards"
_SUFFIX = ".jsonl.gz"
_DIRECTORY_MODE, _FILE_MODE = 0o700, 0o600
_TIME = "%Y%m%dT%H%M%S.%fZ"
_COMPRESSION = 1


class ScorecardRun:
    """The cards of one scoring; leaving it without an error keeps them.

    Args:
        directory: The store's.
        facts: JSON-ready facts of the run; `id` and `time` are added.

    Raises:
        StoreError: The store can't be written.
    """

    def __init__(self, directory: str | Path, facts: Mapping[str, Any]) -> None:
        folder = Path(directory) / _FOLDER
        now = datetime.now(timezone.utc)
        run_id = f"{now.strftime(_TIME)}-{secrets.token_hex(4)}"
        self._path = folder / f"{run_id}{_SUFFIX}"
        self._part = folder / f".{run_id}.part"
        try:
            folder.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
            number = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._file = os.fdopen(number, "wb")
        self._zip = gzip.GzipFile("", "wb", _COMPRESSION, self._file, mtime=0)
        self.add({"id": run_id, "time": now.isoformat(timespec="seconds"), **facts})

    def __enter__(self) -> ScorecardRun:  # noqa: PYI034 Self needs Python 3.11
        return self

    def add(self, card: Mapping[str, Any]) -> None:
        """Add one card, JSON-ready; its `turn` says which question of which trace it is for.

        Raises:
            StoreError: The store can't be written.
        """
        try:
            self._zip.write(orjson.dumps(card, option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise self._cannot_write(error) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._zip.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._part.replace(self._path)
        except OSError as failure:
            raise self._cannot_write(failure) from failure
        finally:
            self._file.close()
            self._part.unlink(missing_ok=True)

    def _cannot_write(self, error: OSError) -> StoreError:
        why = error.strerror or error
        return StoreError(f"{self._path.parent}: scorecards can't be kept: {why}")


def kept_cards(
    directory: str | Path, *, since_ns: int | None = None, service: str | None = None
) -> Iterator[dict[str, Any]]:
    """Read the newest kept card of each question.

    Args:
        directory: The store's.
        since_ns: Only of traces that started since then, Unix nanoseconds.
        service: Only of this service.

    Yields:
        Cards as they were added, the newest run first; `run` holds the facts of their run.

    Raises:
        StoreError: A file can't be read.
    """
    known: set[str] = set()
    for path in reversed(_files(directory)):
        for card in _cards(path):
            if card["turn"] in known:
                continue
            known.add(card["turn"])
            if service is not None and card.get("service") != service:
                continue
            if since_ns is None or card.get("start_ns", 0) >= since_ns:
                yield card


def _cards(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rb") as lines:
            run = orjson.loads(next(iter(lines)))
            for line in lines:
                yield {**orjson.loads(line), "run": run}
    except (OSError, EOFError, StopIteration, zlib.error, ValueError) as error:
        raise StoreError(
            f"{path}: is damaged: {str(error) or type(error).__name__}",
            hint="remove the file; scoring again makes new cards",
        ) from error


def prune_kept(directory: str | Path, before_ns: int) -> None:
    """Remove the runs before a time: each of their traces began before it, too."""
    limit = datetime.fromtimestamp(before_ns / 1e9, timezone.utc).strftime(_TIME)
    for path in _files(directory):
        if path.name < limit:
            path.unlink(missing_ok=True)


def kept_bytes(directory: str | Path) -> int:
    """Give the size of all kept cards on disk."""
    return sum(path.stat().st_size for path in _files(directory))


def _files(directory: str | Path) -> list[Path]:
    """Give the files of all runs, the oldest first: their names begin with the time."""
    return sorted((Path(directory) / _FOLDER).glob(f"[0-9]*{_SUFFIX}"))
