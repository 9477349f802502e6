"""`dbagenteval run`: ask a live agent every question and print the results."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.abbreviations import CommandWithAbbreviations
from dbagenteval.cli.agents import service_options
from dbagenteval.cli.dialects import DIALECT
from dbagenteval.cli.judging import judge_of, judge_options, judge_usage
from dbagenteval.cli.outputs import check_outputs, inputs_of
from dbagenteval.cli.proving import PROVE_TENANT_HELP, proofs_of
from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.cli.results import ResultPrinter
    from dbagenteval.scorecard import SuiteResult
    from dbagenteval.suite.agents import Agent

__all__ = ["command"]

_FOR_EVER_S = 1e8
"""Sockets and timers can't wait for `inf`."""

_NEEDS_EXECUTOR = (
    "some cases have `reference_sql`; pass --execute module:function to run it "
    "(a function taking SQL and returning rows as dicts)"
)


@click.command(
    "run",
    cls=CommandWithAbbreviations,
    epilog="Exit codes: 0 everything passed, 1 something did not pass, 2 could not run.",
)
@click.argument("cases_file", metavar="CASES")
@click.option(
    "--agent",
    required=True,
    metavar="FILE:FUNCTION|URL",
    help="Your agent: a function, or a service at http://HOST/PATH.",
)
@service_options
@click.option("--execute", metavar="FILE:FUNCTION", help="Your executor, for reference_sql.")
@click.option("--database", metavar="URL", help="Database to run reference_sql on.")
@click.option("--rules", metavar="FILE:NAME", help="A list of rules.")
@click.option("--prove-tenant", metavar="COLUMN=VALUE", help=PROVE_TENANT_HELP)
@judge_options
@click.option("--dialect", type=DIALECT, help="Database type, for rules that name none.")
@click.option("--tags", metavar="A,B", help="Run only cases that have one of these tags.")
@click.option("-k", "expression", metavar="EXPR", help="Run only cases that match: a and not b.")
@click.option("--concurrency", type=int, default=4, show_default=True, help="Cases at a time.")
@click.option("--timeout", type=float, metavar="SECONDS", help="For each question.  [default: 600]")
@click.option("--retries", type=int, default=0, help="Ask again after an agent error.")
@click.option("--repeat", type=int, default=1, help="Run each case so often.")
@click.option("--allow-drafts", is_flag=True, help="Cases that nobody has accepted are fine.")
@click.option("--fail-fast", is_flag=True, help="Stop after the first case that did not pass.")
@click.option("--json", "json_path", metavar="PATH", help="Save the full result.")
@click.option("--md", "md_path", metavar="PATH", help="Save a short report.")
@click.option("--quiet", is_flag=True, help="Print only what did not pass, and the totals.")
def command(cases_file: str, **options: Any) -> int:
    """Ask the agent the question of every case and print the results."""
    from dbagenteval.cli.agents import opened_agent
    from dbagenteval.cli.datasets import choose_cases, read_cases
    from dbagenteval.cli.results import ResultPrinter
    from dbagenteval.cli.shield import shielded_stdout

    cases = choose_cases(read_cases(cases_file), options["tags"], options["expression"])
    if options["dialect"]:
        cases = [replace(case, dialect=case.dialect or options["dialect"]) for case in cases]
    _check_numbers(options)
    # An agent may change the folder while it runs.
    given = (options["json_path"], options["md_path"])
    paths = [str(Path(path).absolute()) if path else None for path in given]
    with shielded_stdout() as out, opened_agent(cases, options) as agent:
        printer = ResultPrinter(cases, out, quiet=options["quiet"])
        result = _run(cases_file, cases, agent, options, printer)
        printer.finish(result)
        _save(result, *paths)
    if any(card.meta.get("timed_out") for card in result.cards):
        click.get_current_context().obj["agent_hangs"] = True
    return 0 if _is_passed(result, allow_drafts=options["allow_drafts"]) else 1


def _is_passed(result: SuiteResult, *, allow_drafts: bool) -> bool:
    """Say whether all passed; drafts may be left out, but alone they show nothing."""
    judged = [card for card in result.cards if not (allow_drafts and card.is_draft)]
    return bool(judged) and all(card.verdict == "PASS" for card in judged)


def _check_numbers(options: dict[str, Any]) -> None:
    for name in ("concurrency", "repeat"):
        if options[name] < 1:
            raise UserError(f"--{name} must be at least 1")
    if options["retries"] < 0:
        raise UserError("--retries must be at least 0")
    if options["timeout"] is not None and not options["timeout"] > 0:
        raise UserError("--timeout must be above 0")
    if options["timeout"] is not None:
        options["timeout"] = min(options["timeout"], _FOR_EVER_S)


def _run(
    cases_file: str,
    cases: list[Case],
    agent: Agent,
    options: dict[str, Any],
    printer: ResultPrinter,
) -> SuiteResult:
    from dbagenteval.cli.datasets import needs_executor, own_data
    from dbagenteval.cli.progress import progress_of
    from dbagenteval.cli.targets import load_executor, load_rules
    from dbagenteval.suite import run_suite

    rules = load_rules(options["rules"]) if options["rules"] else []
    rules += proofs_of(options["prove_tenant"], options["database"])
    judge = judge_of(options)
    execute = load_executor(options["execute"], options["database"])
    if execute is None and needs_executor(cases):
        raise UserError(_NEEDS_EXECUTOR)
    check_outputs(inputs_of(cases_file, options), options["json_path"], options["md_path"])
    total = sum(len(case.each_turn()) for case in cases)
    started = time.perf_counter()
    with progress_of(total, quiet=options["quiet"]) as on_card:
        result = run_suite(
            cases,
            agent,
            rules=rules,
            judge=judge,
            execute=execute,
            # A bar and lines on one terminal would overwrite each other.
            on_card=on_card or printer.add,
            on_data=own_data(cases),
            **{
                name: options[name]
                for name in ("concurrency", "timeout", "retries", "repeat", "fail_fast")
            },
        )
    result.meta["seconds"] = round(time.perf_counter() - started, 3)
    result.meta.update(judge_usage(judge))
    return result


def _save(result: SuiteResult, json_path: str | None, md_path: str | None) -> None:
    from dbagenteval.report import write_json, write_markdown

    if json_path:
        write_json(json_path, result)
    if md_path:
        write_markdown(md_path, result)
