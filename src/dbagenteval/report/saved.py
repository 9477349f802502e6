"""Reports on disk: written whole or not at all, and read back."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import stat
import tempfile
from collections.abc import Mapping
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from dbagenteval.errors import UserError
from dbagenteval.report.markdown import to_markdown
from dbagenteval.scorecard import SuiteResult

__all__ = [
    "check_writable",
    "mode_for",
    "read_report",
    "report_of",
    "save",
    "write_json",
    "write_markdown",
]

_VERDICTS = ("PASS", "FAIL", "ERROR", "SKIP")
_NEW_FILE_MODE = 0o666


def report_of(result: SuiteResult) -> dict[str, Any]:
    """Give the JSON report of a run: its `to_dict()` and, in `meta`, versions and time."""
    from dbagenteval import __version__  # noqa: PLC0415 the package is complete only by now

    facts = {
        "dbagenteval": __version__,
        "python": platform.python_version(),
        "sqlglot": metadata.version("sqlglot"),
        "created_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    return {**result.to_dict(), "meta": {**facts, **result.meta}}


def write_json(path: str | Path, result: SuiteResult) -> None:
    """Save the full result.

    Raises:
        UserError: The file can't be written.
    """
    save(path, json.dumps(report_of(result), indent=2, default=str))


def write_markdown(path: str | Path, result: SuiteResult) -> None:
    """Save the short report.

    Raises:
        UserError: The file can't be written.
    """
    save(path, to_markdown(report_of(result)))


def check_writable(path: str | Path) -> None:
    """Check that `save` will be able to write a file, without touching it.

    Raises:
        UserError: It will not.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a directory")
    if not target.parent.is_dir():
        raise UserError(f"cannot write {path}: {target.parent} is not a directory")
    needed = target.parent if _is_replaceable(target) else target
    if not os.access(needed, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise UserError(f"cannot write {path}: permission denied")


def save(path: str | Path, text: str) -> None:
    """Write a text file as a whole: a crash on the way leaves the old file as it was.

    Args:
        path: Where to; a link keeps pointing to the file, a device or pipe is written to.
        text: Its content, written as UTF-8; what UTF-8 can't hold is escaped.

    Raises:
        UserError: The file can't be written.
    """
    target = Path(os.path.realpath(path))
    data = text.encode("utf-8", "backslashreplace")
    try:
        if _is_replaceable(target):
            _replace(target, data)
        else:
            target.write_bytes(data)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def _is_replaceable(target: Path) -> bool:
    return not target.exists() or target.is_file()


def _replace(target: Path, data: bytes) -> None:
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode_for(target))
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def mode_for(target: Path) -> int:
    """Give the old file's permissions, or those that a new file gets here."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return _NEW_FILE_MODE & ~mask


def read_report(path: str | Path) -> dict[str, Any]:
    """Read a JSON report, of this version or an older one.

    Raises:
        UserError: It can't be read or is no such report.
    """
    try:
        report: Any = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"cannot read report {path}: {error}") from error
    if not _is_report(report):
        raise UserError(f"{path} is not a dbagenteval JSON report")
    return report  # type: ignore[no-any-return]


def _is_report(report: Any) -> bool:
    cases = report.get("cases") if isinstance(report, dict) else None
    return isinstance(cases, list) and all(map(_is_case, cases))


def _is_case(case: Any) -> bool:
    if not isinstance(case, dict) or case.get("verdict") not in _VERDICTS:
        return False
    names = (case.get("id"), case.get("question"))
    if not any(isinstance(name, str) and name for name in names):
        return False
    results = case.get("results", [])
    return isinstance(results, list) and all(
        isinstance(result, Mapping) and isinstance(result.get("status"), str) for result in results
    )
