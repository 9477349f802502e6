"""`dbagenteval test`: ask a project's agent its answer tests, and show the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from dbagenteval.cli.judging import judge_of, judge_options
from dbagenteval.cli.main import EXIT_COULD_NOT_RUN, EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.cli.testrun import NEWEST, read_results, run_and_show
from dbagenteval.errors import UserError

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
@click.option("--k", "-k", type=click.IntRange(1), help="Attempts for each test.")
@click.option("--agent", metavar="FILE:FUNCTION|URL", help="The agent; else that of the project.")
@click.option(
    "--replies", metavar="FILE", help="A results file: judge its replies again, ask no agent."
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[FILE]",
    help="Go on with the run that was cut off last, or that of a results file.",
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one turn.")
@click.option("--extract", metavar="openai:MODEL|FILE:FUNCTION", help="Model that reads answers.")
@judge_options
@click.option("--store", "store_dir", metavar="DIR", help="Where the agent's spans arrive.")
@click.option("--comparison", type=click.Choice(["exact", "dazense"]), help="How rows compare.")
@click.option("--today", metavar="DATE", help="Stands for {{ today }} in tests; else the date.")
@click.option("--redact", is_flag=True, help="Keep no personal data in the results.")
@click.option("--html", "html_path", metavar="PATH", help="Save the result as one HTML file.")
def run(folder: str | None, path: str | None, selects: tuple[str, ...], **options: Any) -> int:
    """Run the tests; references first, then the agent."""
    from dbagenteval.cli.testsetup import asked_agent, day_of, settings_of, tests_of
    from dbagenteval.project import load_project
    from dbagenteval.project.folder.answertests import at_date

    project = load_project(path)
    config_errors = [item for item in project.errors if item.file == project.config.file]
    if config_errors:
        raise UserError("\n".join(str(item) for item in config_errors))
    tests = at_date(tests_of(project, folder, selects), day_of(options["today"]))
    settings = settings_of(project.config, options)
    judge = judge_of(options)
    if judge is None and any(each["type"] == "rubric" for t in tests for each in t.assertions):
        raise UserError("a test has a rubric; give --judge, another model than the agent's")
    settings = replace(settings, project=project, judge=judge)
    agent = asked_agent(project, options)
    html_path = options["html_path"]
    if html_path:
        from dbagenteval.report import check_writable

        check_writable(html_path)
    redact = options["redact"] or bool(project.config.test.get("redact"))
    saved = run_and_show(project, tests, agent, settings, resume=options["resume"], redact=redact)
    if html_path:
        from dbagenteval.report import save
        from dbagenteval.web import standalone_page

        save(html_path, standalone_page(saved))
    passed = [result["passed"] for result in saved["results"]]
    return EXIT_OK if passed and all(passed) else EXIT_NOT_PASSED


@command.command("diff", epilog="Exit codes: 0 no regression, 1 a test passed before and not now.")
@click.argument("before", type=click.Path(exists=True, dir_okay=False))
@click.argument("after", type=click.Path(exists=True, dir_okay=False))
@click.option("--allow-removed", is_flag=True, help="Tests that passed before may be gone.")
def diff(before: str, after: str, allow_removed: bool) -> int:
    """Compare two results files: regressions, fixes, added and removed tests."""
    from dbagenteval.printable import printable
    from dbagenteval.project.runs.diff import diff_runs

    runs = [read_results(path)["results"] for path in (before, after)]
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


@command.command("server")
@click.option("--project", "-p", "path", metavar="PATH", help="The project folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
@click.option("--token", envvar="DBAGENTEVAL_TOKEN", help="Needed for other than loopback.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def server(path: str | None, host: str, port: int, token: str | None, no_open: bool) -> int:
    """Show the results of test runs in a browser."""
    from dbagenteval.project.folder.config import find_config
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
