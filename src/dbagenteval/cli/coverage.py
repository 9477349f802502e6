"""`dbagenteval coverage`: what the cases exercise, and what they do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import dbagenteval
from dbagenteval.cli.dialects import DIALECT
from dbagenteval.cli.outputs import check_outputs, inputs_of
from dbagenteval.cli.stores import in_range
from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.checks import Check
    from dbagenteval.failures import Cluster, Coverage, Outcome

__all__ = ["command"]


@click.command("coverage", epilog="Exit codes: 0 done, 2 could not run.")
@click.argument("cases_file", metavar="CASES")
@click.option("--store", "store_dir", metavar="DIR", help="Find questions without a case there.")
@in_range
@click.option("--database", metavar="URL", help="Tell what of this database no case touches.")
@click.option("--rules", metavar="FILE:NAME", help="A list of rules to try on the references.")
@click.option(
    "--tenant", metavar="COLUMN", help="The column that tells tenants apart; else that of --rules."
)
@click.option("--dialect", type=DIALECT, help="Dialect of references whose case names none.")
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="List so many."
)
@click.option("--json", "json_path", metavar="PATH", help="Save the full result.")
def command(cases_file: str, **options: Any) -> int:
    """Tell which tables, columns, joins, operators, tenants and rules the cases exercise.

    With --store also which questions asked in production no case asks, worst first.
    """
    from dbagenteval.cli.datasets import read_cases
    from dbagenteval.cli.known import known_of
    from dbagenteval.cli.targets import load_rules
    from dbagenteval.failures import coverage_lines, coverage_of, uncovered_lines
    from dbagenteval.report import save

    if options["store_dir"] is None and (options["since_ns"] or options["service"]):
        raise UserError("--since and --service choose traces of a store; give --store DIR too")
    cases = read_cases(cases_file)
    rules = load_rules(options["rules"]) if options["rules"] else []
    check_outputs(inputs_of(cases_file, options), options["json_path"])
    tenant = options["tenant"] or _tenant_of(rules)
    coverage = coverage_of(
        cases,
        known=known_of(options["database"], tenant) if options["database"] else None,
        tenant=tenant,
        rules=rules,
        dialect=options["dialect"],
    )
    for line in coverage_lines(coverage):
        click.echo(line)
    report = {"meta": {"dbagenteval": dbagenteval.__version__}, **coverage.to_dict()}
    if options["store_dir"] is not None:
        total, covering = _production(coverage, cases, options)
        for line in uncovered_lines(covering, total, options["top"]):
            click.echo(line)
        report["without_case"] = [
            {**cluster.to_dict(), "asked_by": key} for cluster, key in covering
        ]
    if options["json_path"] is not None:
        save(options["json_path"], json.dumps(report, indent=2))
    return 0


def _tenant_of(rules: Iterable[Check]) -> str | None:
    from dbagenteval.rules import TenantFilter

    return next((rule.column for rule in rules if isinstance(rule, TenantFilter)), None)


def _production(
    coverage: Coverage, cases: Iterable[Case], options: dict[str, Any]
) -> tuple[int, list[tuple[Cluster, str]]]:
    """Give how many questions were asked, and the clusters of those without a case."""
    from dbagenteval.cli.outcomes import stored_outcomes
    from dbagenteval.failures import Clusters

    clusters = Clusters()
    in_store = {name: options[name] for name in ("since_ns", "service")}
    with stored_outcomes(options["store_dir"], **in_store) as (outcomes, what):
        for outcome in _by_these_cases(outcomes, cases):
            clusters.add(outcome)
    click.echo(f"{options['store_dir']}: {clusters.total:,} {what}")
    return clusters.total, coverage.covering(clusters.questions())


def _by_these_cases(outcomes: Iterable[Outcome], cases: Iterable[Case]) -> Iterator[Outcome]:
    """Give outcomes with the case that asks their question now, whatever they were scored by."""
    from dbagenteval.suite.match import normalised

    turns = [turn for case in cases if not case.is_draft for turn in case.each_turn()]
    keys = {turn.key for turn in turns}
    by_question = {normalised(turn.question): turn.key for turn in turns}
    for outcome in outcomes:
        key = outcome.case_id if outcome.case_id in keys else ""
        yield replace(outcome, case_id=key or by_question.get(normalised(outcome.question), ""))
