"""Reports must not replace what the run reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from dbagenteval.errors import UserError

__all__ = ["check_outputs", "inputs_of"]


def inputs_of(cases_file: str, options: dict[str, Any]) -> set[str]:
    """Give the real paths of the files that the run reads."""
    found = {cases_file}
    for option in ("agent", "execute", "rules", "judge"):
        module = sys.modules.get((options.get(option) or "").partition(":")[0])
        found.add(getattr(module, "__file__", None) or cases_file)
    kind, _, place = (options.get("database") or "").partition(":///")
    if kind in ("sqlite", "duckdb"):
        found.add(place.partition("?")[0] or cases_file)
    return {os.path.realpath(path) for path in found}


def check_outputs(inputs: set[str], *paths: str | None) -> None:
    """Check that the reports can be written, and that none of them replaces an input.

    Raises:
        UserError: One can't, or two name the same file.
    """
    from dbagenteval.report import check_writable

    given = [path for path in paths if path]
    for path in given:
        check_writable(path)
        if os.path.realpath(path) in inputs:
            raise UserError(f"cannot write {path}: the run reads that file")
    if len({Path(path).resolve() for path in given}) < len(given):
        raise UserError(f"cannot write {given[0]}: --json and --md name the same file")
