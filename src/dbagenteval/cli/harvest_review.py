"""`dbagenteval harvest review`: a person accepts, edits or rejects drafts."""

from __future__ import annotations

import datetime
import getpass
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbagenteval.cli.case_files import replaced
from dbagenteval.cli.main import EXIT_OK
from dbagenteval.cli.replaying import limited_executor
from dbagenteval.errors import UserError, quoted

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.checks import Executor
    from dbagenteval.harvest.casefile import CaseFile
    from dbagenteval.harvest.review import ReferenceRun

__all__ = ["review"]

_KEYS = "[a]ccept  [e]dit reference  [s]kip  [r]eject  [q]uit: "

Change = Callable[["CaseFile"], "CaseFile"]


@click.command(
    "review",
    epilog="Exit codes: 0 done, 2 could not run. Every decision is written at once.",
)
@click.argument("file", metavar="FILE")
@click.option("--database", metavar="URL", help="Run references on it and show their rows.")
@click.option("--accept", multiple=True, metavar="ID", help="Accept this draft; repeatable.")
@click.option("--reject", multiple=True, metavar="ID", help="Reject this draft; repeatable.")
@click.option("--by", metavar="NAME", help="Who decides.  [default: the user's login name]")
def review(
    file: str,
    database: str | None,
    accept: tuple[str, ...],
    reject: tuple[str, ...],
    by: str | None,
) -> int:
    """Accept, edit or reject the drafts of a cases file, in the terminal or by options."""
    from dbagenteval.harvest.casefile import read_case_file

    if not Path(file).is_file():
        raise UserError(f"{file}: there is no such file; expected one that `harvest` has written")
    reviewer = _Reviewer(file, limited_executor(database), by or _login_name())
    if accept or reject:
        reviewer.decide(accept, reject)
        return EXIT_OK
    drafts = read_case_file(file).drafts
    if not drafts:
        click.echo(f"{file}: no drafts")
        return EXIT_OK
    nameless = next((draft.question for draft in drafts if not draft.id), None)
    if nameless is not None:
        raise UserError(f"{file}: the draft {quoted(nameless)} has no id; give it one")
    reviewer.ask([draft.id for draft in drafts])
    return EXIT_OK


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process without a name, as in some containers
        return "unknown"


class _Reviewer:
    """Shows drafts and writes down what is decided."""

    def __init__(self, path: str, execute: Executor | None, by: str) -> None:
        self._path = path
        self._execute = execute
        self._by = by

    def decide(self, accept: Sequence[str], reject: Sequence[str]) -> None:
        """Decide as the options say, all or nothing."""
        from dbagenteval.harvest.review import refusal

        both = set(accept) & set(reject)
        if both:
            raise UserError(f"{quoted(min(both))} can't be accepted and rejected")
        changes = [self._rejecting(self._draft(case_id).id) for case_id in reject]
        for case_id in accept:
            case = self._draft(case_id)
            reason = refusal(case, self._run(case))
            if reason is not None:
                raise UserError(
                    f"{self._path}: draft {quoted(case_id)} can't be accepted: {reason}"
                )
            changes.append(self._accepting(case_id))
        self._write(*changes)
        click.echo(f"{len(accept)} accepted, {len(reject)} rejected")

    def ask(self, case_ids: list[str]) -> None:
        """Show one draft after the other and ask what shall become of it."""
        for number, case_id in enumerate(case_ids, start=1):
            click.echo(f"\ndraft {number} of {len(case_ids)}: {case_id}")
            if not self._ask_about(case_id):
                break
        left = len(self._read().drafts)
        click.echo(f"\n{left} draft(s) left in {self._path}")

    def _ask_about(self, case_id: str) -> bool:
        """Ask until there is a decision; False ends the review."""
        from dbagenteval.harvest.review import refusal, sheet

        case = self._draft(case_id)
        run = self._run(case)
        for line in sheet(case, run):
            click.echo(line)
        while True:
            key = _key()
            if key == "q":
                return False
            if key == "s":
                return True
            if key == "r":
                self._write(self._rejecting(case_id))
                return True
            if key == "e":
                self._edit(case)
                return self._ask_about(case_id)
            if key == "a" and self._draft(case_id) != case:
                click.echo("it has changed in the file since it was shown:")
                return self._ask_about(case_id)
            if key == "a":
                reason = refusal(case, run)
                if reason is None:
                    self._write(self._accepting(case_id))
                    return True
                click.echo(f"it can't be accepted: {reason}")

    def _edit(self, case: Case) -> None:
        before = "\n".join(case.reference_sqls[:1]) or str(case.harvested.get("sql") or "")
        after = click.edit(before + "\n", extension=".sql")
        if after is not None and after.strip() and after.strip() != "\n".join(case.reference_sqls):
            self._write(lambda file: file.with_reference(case.id, after.strip()))

    def _accepting(self, case_id: str) -> Change:
        from dbagenteval.harvest.candidates import moment_text

        now = datetime.datetime.now(tz=datetime.timezone.utc)
        return lambda file: file.accepted(case_id, by=self._by, at=moment_text(now.timestamp()))

    def _rejecting(self, case_id: str) -> Change:
        return lambda file: file.rejecting(case_id)

    def _write(self, *changes: Change) -> None:
        while True:
            file = changed = self._read()
            for change in changes:
                changed = change(changed)
            if replaced(file, changed):
                return

    def _read(self) -> CaseFile:
        from dbagenteval.harvest.casefile import read_case_file

        return read_case_file(self._path)

    def _draft(self, case_id: str) -> Case:
        drafts = {draft.id: draft for draft in self._read().drafts}
        if case_id not in drafts:
            raise UserError(f"{self._path}: no draft has the id {quoted(case_id)}")
        return drafts[case_id]

    def _run(self, case: Case) -> ReferenceRun:
        from dbagenteval.harvest.review import run_reference

        if case.data is None:
            return run_reference(case, self._execute)
        from dbagenteval.slices import dataset_executor

        return run_reference(case, dataset_executor(case.data, dialect=case.dialect))


def _key() -> str:
    """Ask for a line: single keys would lose what is typed ahead."""
    click.echo(_KEYS, nl=False)
    line = sys.stdin.readline()
    if not line:  # the end of the input
        click.echo()
        return "q"
    return line.strip().lower()[:1]
