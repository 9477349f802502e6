"""The results files of a folder, read for the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

__all__ = ["MAX_FILE_BYTES", "RunFileError", "list_runs", "read_run"]

MAX_FILE_BYTES = 512_000_000
_SUFFIXES = (".json", ".partial.jsonl")


class RunFileError(Exception):
    """A file that is not there, or is no results file; the message is for the page."""


def list_runs(folder: Path) -> list[str]:
    """Give the names of the results files, newest first by the time in their names."""
    names = [
        path.name
        for path in folder.glob("results_*")
        if path.is_file() and path.name.endswith(_SUFFIXES)
    ]
    return sorted(names, reverse=True)


def read_run(folder: Path, name: str) -> dict[str, Any]:
    """Read one results file; of a run that did not end, what there is.

    Args:
        folder: Where results files are.
        name: One of `list_runs`; anything else is refused, so that no other file can be read.

    Raises:
        RunFileError: There is no such file, or it is none.
    """
    if name not in list_runs(folder):
        raise RunFileError("there is no such results file")
    path = folder / name
    if path.stat().st_size > MAX_FILE_BYTES:
        raise RunFileError(f"the file is over {MAX_FILE_BYTES:,} bytes")
    try:
        raw = path.read_bytes()
        data = _partial(raw) if name.endswith(".partial.jsonl") else orjson.loads(raw)
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
