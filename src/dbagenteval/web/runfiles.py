"""The results files of a folder, read for the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbagenteval.project.runs.file import (
    MAX_FILE_BYTES,
    PARTIAL_SUFFIX,
    RunFileError,
    read_run_file,
)

__all__ = ["MAX_FILE_BYTES", "RunFileError", "list_runs", "read_run"]

_SUFFIXES = (".json", PARTIAL_SUFFIX)


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
    return read_run_file(folder / name)
