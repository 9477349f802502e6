"""The file that drafts are written to: its text, its cases, and what was rejected from it."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbagenteval.cases import Case, CasesWarning, load_cases
from dbagenteval.cases.yaml_edit import append_cases, remove_case, remove_field, set_field
from dbagenteval.errors import UserError, quoted

__all__ = ["CaseFile", "read_case_file"]

_MARK = "\ufeff"
_REJECTED = re.compile(r"^\s*# rejected by harvest review: (\".*\")\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A cases file in YAML; every change gives a value with the new text.

    Args:
        path: Where it is.
        text: Its text; empty for one that is not there yet.
        cases: Its cases as they were read.
    """

    path: Path
    text: str
    cases: tuple[Case, ...]

    @property
    def rejected(self) -> list[str]:
        """The questions of drafts that a person has rejected: comments keep them."""
        found = []
        for written in _REJECTED.findall(self.text):
            try:
                found.append(str(json.loads(written)))
            except ValueError:
                continue
        return found

    @property
    def drafts(self) -> list[Case]:
        """The cases that nobody has accepted yet, in file order."""
        return [case for case in self.cases if case.is_draft]

    def with_cases(self, cases: Sequence[Mapping[str, Any]]) -> CaseFile:
        """Give the file with further cases at its end."""
        return self._changed(append_cases(self._plain, cases, str(self.path)))

    def accepted(self, case_id: str, *, by: str, at: str) -> CaseFile:
        """Give the file with a draft accepted, and who did it when."""
        path = str(self.path)
        text = remove_field(self._plain, case_id, "status", path)
        if text == self._plain:
            raise UserError(f"{path}: case {quoted(case_id)} has its status from somewhere else")
        if self._case(case_id).harvested:
            where = ("harvested", "accepted")
            text = set_field(text, case_id, where, {"by": by, "at": at}, path)
        return self._changed(text)

    def rejecting(self, case_id: str) -> CaseFile:
        """Give the file without a draft; a comment keeps it from being harvested again."""
        question = self._case(case_id).question
        written = json.dumps(question, ensure_ascii=not question.isprintable())
        comment = f"rejected by harvest review: {written}"
        return self._changed(remove_case(self._plain, case_id, str(self.path), comment=comment))

    def with_reference(self, case_id: str, sql: str) -> CaseFile:
        """Give the file with another reference SQL of a case."""
        return self._changed(
            set_field(self._plain, case_id, ("reference_sql",), sql, str(self.path))
        )

    def _case(self, case_id: str) -> Case:
        for case in self.cases:
            if case.id == case_id:
                return case
        raise UserError(f"{self.path}: no case has the id {quoted(case_id)}")

    @property
    def _plain(self) -> str:
        return self.text.removeprefix(_MARK)

    def _changed(self, text: str) -> CaseFile:
        mark = _MARK if self.text.startswith(_MARK) else ""
        return replace(self, text=mark + text)


def read_case_file(path: str | Path) -> CaseFile:
    """Read a file that drafts are written to; it may be missing, or hold comments only.

    Raises:
        UserError: It is no YAML file of cases, or can't be read.
        DatasetError: Its cases have faults.
    """
    file = Path(path)
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise UserError(f"{path}: drafts are written as YAML; expected a name that ends in .yaml")
    try:
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return CaseFile(path=file, text="", cases=())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot read file ({error})") from error
    lines = text.removeprefix(_MARK).splitlines()
    # The last case under `cases:` may have been rejected.
    if all(line.strip()[:1] in ("", "#") or line.rstrip() == "cases:" for line in lines):
        return CaseFile(path=file, text=text, cases=())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CasesWarning)  # `validate` is for those
        return CaseFile(path=file, text=text, cases=tuple(load_cases(file)))
