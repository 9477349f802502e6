"""Results files read back: of a run that ended, and of one that was cut off."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Any

import orjson

__all__ = [
    "MAX_FILE_BYTES",
    "PARTIAL_SUFFIX",
    "RunFileError",
    "cut_off_runs",
    "hold",
    "read_run_file",
]

MAX_FILE_BYTES = 512_000_000
PARTIAL_SUFFIX = ".partial.jsonl"


class RunFileError(Exception):
    """A file that can't be read, or is no results file; the message is for a person."""


def cut_off_runs(folder: Path) -> list[Path]:
    """Give the files of the runs that were cut off, the oldest first; not of those still going."""
    return sorted(path for path in folder.glob(f"results_*{PARTIAL_SUFFIX}") if not _is_held(path))


def hold(file: IO[bytes]) -> None:
    """Mark a file as one that a run still writes, until it is closed."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def read_run_file(path: Path) -> dict[str, Any]:
    """Read one results file; of a run that did not end, what there is, with `unfinished`.

    Raises:
        RunFileError: It can't be read or is none.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise RunFileError(f"the file is over {MAX_FILE_BYTES:,} bytes")
        raw = path.read_bytes()
        data = _partial(raw) if path.name.endswith(PARTIAL_SUFFIX) else orjson.loads(raw)
    except (OSError, orjson.JSONDecodeError) as error:
        raise RunFileError(f"the file can't be read: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("results"), list):
        raise RunFileError("the file is no results file")
    data["results"] = [item for item in data["results"] if isinstance(item, dict)]
    return data


def _partial(raw: bytes) -> dict[str, Any]:
    """Read the lines of a run that was cut off; a torn last line is left out."""
    facts: dict[str, Any] = {}
    results = []
    for line in raw.split(b"\n"):
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(item, dict) and isinstance(item.get("run"), dict):
            facts = item["run"]
        elif isinstance(item, dict):
            results.append(item)
    return {**facts, "results": results, "unfinished": True}
