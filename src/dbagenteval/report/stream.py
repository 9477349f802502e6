"""The reports of a scoring, written while it runs, so that no card need be kept."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import IO, Any

from dbagenteval.report.saved import check_writable, mode_for
from dbagenteval.scorecard import Scorecard

__all__ = ["StreamedJson"]


class StreamedJson:
    """Write a JSON report card by card; it takes its name only when it is whole.

    Leaving the block with an exception removes what was written and keeps the old report.

    Args:
        path: Where the report goes; a link keeps pointing to it.

    Raises:
        UserError: It can't be written there.
    """

    def __init__(self, path: str) -> None:
        check_writable(path)
        self._path = Path(os.path.realpath(path))
        self._lists: dict[str, IO[str]] = {}
        self._counts = {"cases": 0, "unmatched": 0}
        self._facts: dict[str, Any] = {}

    def __enter__(self) -> StreamedJson:  # noqa: PYI034 Self needs Python 3.11
        for name in self._counts:
            self._lists[name] = tempfile.NamedTemporaryFile(
                "w+", encoding="utf-8", dir=self._path.parent, prefix=f".{self._path.name}."
            )
        return self

    def add(self, card: Scorecard, *, matched: bool) -> None:
        """Write one card into `cases` or `unmatched`."""
        name = "cases" if matched else "unmatched"
        text = indent(json.dumps(card.to_dict(), indent=2, default=str), "    ")
        self._lists[name].write((",\n" if self._counts[name] else "") + text)
        self._counts[name] += 1

    def finish(self, **facts: Any) -> None:
        """Give the facts known at the end (`summary`, `missing`, …) and put the report in place."""
        self._facts = facts

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._assemble()
        finally:
            for part in self._lists.values():
                part.close()

    def _assemble(self) -> None:
        fd, whole = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as out:
                out.write("{\n")
                for name, value in self._facts.items():
                    text = indent(json.dumps(value, indent=2, default=str), "  ").lstrip()
                    out.write(f"  {json.dumps(name)}: {text},\n")
                for position, (name, part) in enumerate(self._lists.items()):
                    out.write(f'  "{name}": [\n' if self._counts[name] else f'  "{name}": [')
                    part.seek(0)
                    while chunk := part.read(1 << 20):
                        out.write(chunk)
                    out.write("\n  ]" if self._counts[name] else "]")
                    out.write(",\n" if position == 0 else "\n")
                out.write("}")
                out.flush()
                os.fsync(out.fileno())
            Path(whole).chmod(mode_for(self._path))
            Path(whole).replace(self._path)
        except BaseException:
            Path(whole).unlink(missing_ok=True)
            raise
