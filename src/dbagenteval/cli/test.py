"""`dbagenteval test`: ask a project's agent its answer tests, and show the results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.main import EXIT_COULD_NOT_RUN, EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.errors import UserError

if TYPE_CHECKING:
    import datetime

    from dbagenteval.project.agentcall import ProjectAgent
    from dbagenteval.project.answerrun import AnswerResult, RunSettings
    from dbagenteval.project.answertests import AnswerTest
    from dbagenteval.project.model import Project

__all__ = ["command"]


class _RunByDefault(click.Group):
    """`test` is `test run`, whatever follows it; `test server` and `test diff` are others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front unless a command or the group's help is asked for."""
        if not args or args[0] not in (*self.commands, "-h", "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    "test",
    cls=_RunByDefault,
    epilog="`dbagenteval test …` is `dbagenteval test run …`. Exit codes: 0 all passed, 1 a test "
    "did not pass, 2 nothing ran.",
)
def command() -> None:
    """Ask the project's agent the answer tests below tests/, and compare with their SQL."""


@command.command("run", epilog="Exit codes: 0 all passed, 1 a test failed or erred, 2 nothing ran.")
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--project", "-p", "path", metavar="PATH", help="The project folder.")
@click.option(
    "--model", "-m", "models", multiple=True, metavar="PROVIDER:MODEL", help="Model to run with."
)
@click.option("--threads", "-t", type=click.IntRange(1), help="How many run at once.")
@click.option("--select", "-s", "selects", multiple=True, help="Names, files, folders or tags.")
@click.option("--k", "-k", "attempts", type=click.IntRange(1), help="Attempts for each test.")
@click.option("--agent", metavar="FILE:FUNCTION|URL", help="The agent; else that of the project.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one turn.")
@click.option("--extract", metavar="openai:MODEL|FILE:FUNCTION", help="Model that reads answers.")
@click.option("--store", "store_dir", metavar="DIR", help="Where the agent's spans arrive.")
@click.option("--comparison", type=click.Choice(["exact", "dazense"]), help="How rows compare.")
@click.option("--today", metavar="DATE", help="Stands for {{ today }} in tests; else the date.")
@click.option("--html", "html_path", metavar="PATH", help="Save the result as one HTML file.")
def run(  # noqa: PLR0913, PLR0917 one parameter an option
    folder: str | None,
    path: str | None,
    models: tuple[str, ...],
    threads: int | None,
    selects: tuple[str, ...],
    attempts: int | None,
    agent: str | None,
    timeout: float | None,
    extract: str | None,
    store_dir: str | None,
    comparison: str | None,
    today: str | None,
    html_path: str | None,
) -> int:
    """Run the tests; references first, then the agent."""
    from dbagenteval.project import load_project
    from dbagenteval.project.answertests import at_date

    project = load_project(path)
    config_errors = [item for item in project.errors if item.file == project.config.file]
    if config_errors:
        raise UserError("\n".join(str(item) for item in config_errors))
    tests = at_date(_tests(project, folder, selects), _day(today))
    given = project.config.test
    options = {
        "models": models,
        "threads": threads,
        "k": attempts,
        "timeout": timeout,
        "comparison": comparison,
    }
    settings = replace(_settings(given, options, extract), project=project)
    asked = _agent(project, agent)
    if store_dir is not None:
        asked = _with_spans(asked, store_dir)
    if html_path:
        from dbagenteval.report import check_writable

        check_writable(html_path)
    results, saved = _run(project, tests, asked, settings)
    if html_path:
        from dbagenteval.report import save
        from dbagenteval.web import standalone_page

        save(html_path, standalone_page(saved))
    return EXIT_OK if results and all(result.passed for result in results) else EXIT_NOT_PASSED


@command.command("diff", epilog="Exit codes: 0 no regression, 1 a test passed before and not now.")
@click.argument("before", type=click.Path(exists=True, dir_okay=False))
@click.argument("after", type=click.Path(exists=True, dir_okay=False))
@click.option("--allow-removed", is_flag=True, help="Tests that passed before may be gone.")
def diff(before: str, after: str, allow_removed: bool) -> int:
    """Compare two results files: regressions, fixes, added and removed tests."""
    from dbagenteval.printable import printable
    from dbagenteval.project.rundiff import diff_runs

    runs = [_results_of(path) for path in (before, after)]
    bad = 0
    for item in diff_runs(*runs):
        if item.change == "same":
            continue
        name, model, attempt = item.key
        verdicts = [
            "-" if index is None else str(run[index].get("verdict"))
            for run, index in zip(runs, (item.before, item.after), strict=True)
        ]
        label = f"{name} [{model}]" if model else name
        number = f" #{attempt}" if attempt > 1 else ""
        click.echo(printable(f"{item.change:<11} {label}{number}: {' -> '.join(verdicts)}", 300))
        lost = item.change == "removed" and verdicts[0] == "pass" and not allow_removed
        bad += item.change == "regression" or lost
    click.echo(f"{bad} regression(s), of {len(runs[0])} and {len(runs[1])} result(s)")
    return EXIT_NOT_PASSED if bad else EXIT_OK


def _results_of(path: str) -> list[dict[str, Any]]:
    import json

    try:
        data = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as a results file: {error}") from error
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not all(isinstance(item, dict) for item in results):
        raise UserError(f"{path}: is no results file of `dbagenteval test`")
    return results


def _day(text: str | None) -> datetime.date:
    import datetime

    if text is None:
        return datetime.datetime.now().astimezone().date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError(f"--today: expected a date YYYY-MM-DD, got {text!r}") from None


@command.command("server")
@click.option("--project", "-p", "path", metavar="PATH", help="The project folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
@click.option("--token", envvar="DBAGENTEVAL_TOKEN", help="Needed for other than loopback.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def server(path: str | None, host: str, port: int, token: str | None, no_open: bool) -> int:
    """Show the results of test runs in a browser."""
    from dbagenteval.project.config import find_config
    from dbagenteval.web import serve_results

    folder = find_config(path).parent / "tests" / "outputs"
    if not folder.is_dir():
        click.echo(f"error: {folder} is not there; run `dbagenteval test` first", err=True)
        return EXIT_COULD_NOT_RUN
    serve_results(folder, host=host, port=port, token=token, announce=_announce(no_open))
    return EXIT_OK


def _announce(no_open: bool) -> Callable[[str], None]:
    def announce(url: str) -> None:
        click.echo(f"results at {url} (Ctrl-C ends)")
        if not no_open:
            import webbrowser

            webbrowser.open(url)

    return announce


def _tests(project: Project, folder: str | None, selects: Sequence[str]) -> list[AnswerTest]:
    from dbagenteval.project.answertests import find_tests, load_tests, select_tests

    place = project.root / "tests" if folder is None else Path(folder)
    if not place.is_dir():
        raise UserError(f"{place} is no folder; nothing ran")
    tests, problems = load_tests(project, place)
    errors = [item for item in problems if item.level == "error"]
    if errors:
        for problem in errors:
            click.echo(str(problem), err=True)
        raise UserError(f"{len(errors)} error(s) in test files; nothing ran")
    if not tests:
        raise UserError(f"{place} has no .yml or .yaml test; nothing ran")
    chosen = select_tests(tests, selects)
    if not chosen:
        raise UserError(
            f"--select {' '.join(selects)} matches none of {len(tests)} tests; nothing ran"
        )
    click.echo(f"{len(find_tests(place))} test file(s), {len(chosen)} selected", err=True)
    return chosen


def _settings(
    given: Mapping[str, Any], options: Mapping[str, Any], extract: str | None
) -> RunSettings:
    from dbagenteval.project.answerrun import RunSettings

    configured = given.get("models") or ()
    models = options["models"] or ((configured,) if isinstance(configured, str) else configured)
    for model in models:
        provider, colon, name = model.partition(":")
        if not (provider and colon and name):
            raise UserError(f"--model: expected provider:model, got {model!r}; nothing ran")
    comparison = given.get("comparison") or {}
    if isinstance(comparison, str):
        comparison = {"mode": comparison}
    tolerance = {
        key: comparison[name]
        for key, name in (("relative", "rtol"), ("absolute", "atol"))
        if name in comparison
    }
    if "decimals" in comparison:
        tolerance["absolute"] = 0.5 * 10.0 ** -comparison["decimals"]
    return RunSettings(
        models=tuple(dict.fromkeys(models)) or ("",),
        k=options["k"] or given.get("k", 1),
        threads=options["threads"] or given.get("threads", 1),
        timeout_s=options["timeout"] or given.get("timeout", 600.0),
        mode=options["comparison"] or comparison.get("mode", "exact"),
        tolerance=tolerance or None,
        prices=given.get("prices", {}),
        extract=_extractor(extract, given.get("prices", {})),
    )


def _extractor(text: str | None, prices: Mapping[str, Any]) -> Callable[[str], str] | None:
    if text is None:
        return None
    if text.startswith("openai:"):
        from dbagenteval.project.readermodel import ReaderModel

        return ReaderModel(text.removeprefix("openai:"), prices)
    from dbagenteval.cli.targets import load_judge

    return load_judge(text)


def _agent(project: Project, text: str | None) -> ProjectAgent:
    from dbagenteval.cli.targets import load_agent
    from dbagenteval.project.agentcall import FunctionAgent, HttpAgent

    given = project.config.agent
    if text is None and given.get("url"):
        return HttpAgent(
            str(given["url"]),
            {str(key): str(value) for key, value in (given.get("headers") or {}).items()},
        )
    target = text or given.get("function")
    if not target:
        raise UserError(
            f"no agent; give --agent, or `agent:` in {project.config.file}",
            hint="--agent file:function calls Python, --agent http://… posts JSON",
        )
    if target.startswith(("http://", "https://")):
        return HttpAgent(target)
    if text is None:
        import sys

        target = target.replace(".py:", ":")
        sys.path.insert(0, str(project.root))
    return FunctionAgent(load_agent(target))


def _with_spans(agent: ProjectAgent, store_dir: str) -> ProjectAgent:
    from dbagenteval.cli.stores import read_store
    from dbagenteval.project.agentcall import HttpAgent
    from dbagenteval.project.spanreply import SpanAgent
    from dbagenteval.traces import Trace, assemble

    if not isinstance(agent, HttpAgent):
        raise UserError("--store needs an agent at a URL: only there a trace id can be handed on")
    with read_store(store_dir):
        pass  # a store that can't be read is told before the agent is asked
    lock = threading.Lock()

    def find(trace_id: str) -> Trace | None:
        with lock, read_store(store_dir) as store:
            return next(iter(assemble(store.otel_traces(trace_ids=[trace_id]))), None)

    return SpanAgent(agent, find)


def _run(
    project: Project, tests: Sequence[AnswerTest], agent: ProjectAgent, settings: RunSettings
) -> tuple[list[AnswerResult], dict[str, Any]]:
    from dbagenteval.project.answerrun import run_tests
    from dbagenteval.project.projectdata import ProjectData
    from dbagenteval.project.references import run_references
    from dbagenteval.project.testresults import ResultsFile, results_document, run_facts

    given = project.config.test
    data = ProjectData(project, with_catalog=False)
    references = run_references(
        tests,
        project,
        data,
        threads=settings.threads,
        timeout_s=given.get("reference_timeout", 120.0),
        max_rows=given.get("reference_max_rows", 100_000),
    )
    data.close()
    facts = run_facts(project, settings)
    file = ResultsFile(project.root / "tests" / "outputs", facts)
    done: dict[int, AnswerResult] = {}
    stop = threading.Event()

    def on_result(index: int, result: AnswerResult) -> None:
        done[index] = result
        file.add(result)
        click.echo(_line(result))

    interrupted = False
    try:
        run_tests(tests, references, agent, settings, on_result, stop)
    except KeyboardInterrupt:
        stop.set()
        interrupted = True
    results = [done[index] for index in sorted(done)]
    used = getattr(settings.extract, "usage", None)
    evaluator = used() if used is not None else None  # apart from what the agent costs
    document = results_document(results, {**facts, "evaluator": evaluator}, settings.k)
    file.finish(document)
    from dbagenteval.cli.testtable import render_results

    click.echo(f"\nresults: {file.path}")
    click.echo(render_results(document))
    if interrupted:
        click.echo("interrupted; the finished results are kept", err=True)
        raise click.Abort
    return results, document


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
