"""One run of answer tests: lines and a results file while it goes, the table at its end."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.project.agent.call import ProjectAgent
    from dbagenteval.project.folder.answertests import AnswerTest
    from dbagenteval.project.folder.model import Project
    from dbagenteval.project.runs.attempt import AnswerResult
    from dbagenteval.project.runs.settings import RunSettings

__all__ = ["NEWEST", "read_results", "run_and_show"]

NEWEST = "newest"
"""In place of a file to resume: the newest run that was cut off."""

_Result = Mapping[str, Any]


def run_and_show(
    project: Project,
    tests: Sequence[AnswerTest],
    agent: ProjectAgent,
    settings: RunSettings,
    *,
    resume: str | None = None,
    redact: bool = False,
) -> dict[str, Any]:
    """Run the tests, and show and save the results as they come.

    Args:
        project: Their project.
        tests: What to run.
        agent: The agent.
        settings: How to run.
        resume: A results file, or `NEWEST`: what it holds is not run again.
        redact: Keep no personal data.

    Returns:
        The results file.

    Raises:
        UserError: There is nothing to resume, or it does not fit.
        click.Abort: Interrupted; what was finished is saved.
    """
    from dbagenteval.project.runs.file import cut_off_runs
    from dbagenteval.project.runs.recorded import finished_jobs
    from dbagenteval.project.runs.redaction import result_redactor
    from dbagenteval.project.runs.results import (
        ResultsFile,
        document_of,
        result_document,
        run_facts,
    )
    from dbagenteval.project.runs.run import jobs_of, run_tests

    output = project.root / "tests" / "outputs"
    facts = run_facts(project, settings)
    cut_off = None if resume is None else _cut_off(output, resume)
    done: dict[Any, _Result] = {}
    if cut_off is not None:
        done = dict(finished_jobs(read_results(cut_off), facts, tests))
        click.echo(f"resuming {cut_off}: {len(done)} result(s) are there", err=True)
    jobs = jobs_of(tests, settings)
    done = {job: done[job] for job in jobs if job in done}
    references = _references(project, tests, settings)
    file = ResultsFile(output, facts)
    for result in done.values():
        file.add(result)
    shown = result_redactor(project) if redact else dict

    def on_result(result: AnswerResult) -> None:
        document = shown(result_document(result))
        done[result.model, result.test.name, result.attempt] = document
        file.add(document)
        click.echo(_line(result))

    interrupted, stop = False, threading.Event()
    try:
        run_tests(tests, references, agent, settings, on_result, stop, frozenset(done))
    except KeyboardInterrupt:
        stop.set()
        interrupted = True
    used = getattr(settings.extract, "usage", None)
    evaluator = used() if used is not None else None  # apart from what the agent costs
    results = [done[job] for job in jobs if job in done]
    document = document_of(results, {**facts, "evaluator": evaluator}, settings.k)
    file.finish(document)
    if cut_off in cut_off_runs(output) and not interrupted:
        cut_off.unlink()  # all of it is in the new file
    _show(document, file.path)
    if interrupted:
        click.echo("interrupted; the finished results are kept", err=True)
        click.echo(f"go on with: dbagenteval test --resume {file.path}", err=True)
        raise click.Abort
    return document


def _cut_off(output: Path, resume: str) -> Path:
    from dbagenteval.project.runs.file import cut_off_runs

    if resume != NEWEST:
        return Path(resume)
    found = cut_off_runs(output)
    if not found:
        raise UserError(
            f"--resume: no run in {output} was cut off",
            hint="--resume FILE goes on from the results file that you name",
        )
    return found[-1]


def read_results(path: str | Path) -> dict[str, Any]:
    """Read a results file of `dbagenteval test`.

    Raises:
        UserError: It can't be read or is none.
    """
    from dbagenteval.project.runs.file import RunFileError, read_run_file

    try:
        return read_run_file(Path(path))
    except RunFileError as error:
        raise UserError(f"{path}: {error}") from error


def _references(
    project: Project, tests: Sequence[AnswerTest], settings: RunSettings
) -> Mapping[str, Any]:
    from dbagenteval.project.folder.databases import ProjectData
    from dbagenteval.project.verdict.references import run_references

    given = project.config.test
    data = ProjectData(project, with_catalog=False)
    try:
        return run_references(
            tests,
            project,
            data,
            threads=settings.threads,
            timeout_s=given.get("reference_timeout", 120.0),
            max_rows=given.get("reference_max_rows", 100_000),
        )
    finally:
        data.close()


def _show(document: dict[str, Any], path: Path) -> None:
    from dbagenteval.cli.testtable import render_results

    click.echo(f"\nresults: {path}")
    click.echo(render_results(document))


def _line(result: AnswerResult) -> str:
    from dbagenteval.printable import printable

    mark = "PASS" if result.passed else result.verdict.upper()
    model = f" [{result.model}]" if result.model else ""
    detail = result.error or (result.answer.detail if result.answer else "")
    text = f"{mark:<12} {result.test.name}{model}: {result.message}"
    if not result.passed and detail and detail != result.message:
        text += f"\n             {printable(detail, 300)}"
    for problem in result.problems:
        text += f"\n             {printable(problem, 300)}"
    return text
