"""Problem: one fault of a project, with the file and line it stands at."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

__all__ = ["ERROR_LEVEL", "WARNING_LEVEL", "Problem", "Problems", "did_you_mean"]

ERROR_LEVEL = "error"
WARNING_LEVEL = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of a project.

    Args:
        level: `error` or `warning`.
        rule: Stable id of the kind of fault, such as `unknown-key`.
        file: Path relative to the project folder, with `/`.
        line: Line in that file, from 1; 0 when the fault is that the file is missing.
        message: What is wrong, and what is allowed.
    """

    level: str
    rule: str
    file: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.level}: {self.message} [{self.rule}]"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "level": self.level,
            "rule": self.rule,
            "file": self.file,
            "line": self.line,
            "message": self.message,
        }


class Problems:
    """Collects the faults of one file, so that all are reported at once.

    Args:
        file: Path relative to the project folder.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Problem] = []

    def error(self, rule: str, line: int, message: str) -> None:
        """Note a fault that makes the project wrong."""
        self._add(ERROR_LEVEL, rule, line, message)

    def warn(self, rule: str, line: int, message: str) -> None:
        """Note what is likely an oversight."""
        self._add(WARNING_LEVEL, rule, line, message)

    @property
    def has_errors(self) -> bool:
        """True if one of the faults is an error."""
        return any(problem.level == ERROR_LEVEL for problem in self.found)

    def _add(self, level: str, rule: str, line: int, message: str) -> None:
        self.found.append(
            Problem(level=level, rule=rule, file=self.file, line=line, message=message)
        )


def did_you_mean(word: str, known: list[str]) -> str:
    """Give `; did you mean 'x'?` for a near miss, else the empty string."""
    lowered = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), list(lowered), n=1, cutoff=0.7)
    return f"; did you mean {lowered[near[0]]!r}?" if near else ""
