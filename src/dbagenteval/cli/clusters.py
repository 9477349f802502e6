"""`dbagenteval clusters`: what failed scorecards and unmatched questions have in common."""

from __future__ import annotations

import json

import click

import dbagenteval
from dbagenteval.cli.stores import in_range, store_option

__all__ = ["command"]


@click.command("clusters", epilog="Exit codes: 0 done, 2 could not run.")
@store_option
@in_range
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="List so many of each."
)
@click.option("--json", "json_path", metavar="PATH", help="Save all of them.")
def command(
    store_dir: str, since_ns: int | None, service: str | None, top: int, json_path: str | None
) -> int:
    """Group what failed by its cause, and questions without a case by what they ask.

    Reads the scorecards that `score` kept, the newest of each trace; where none are kept, the
    stored traces, whose questions are then without a case.
    """
    from dbagenteval.cli.outcomes import stored_outcomes
    from dbagenteval.failures import Clusters, cluster_lines, question_lines
    from dbagenteval.report import check_writable, save

    if json_path is not None:
        check_writable(json_path)
    clusters = Clusters()
    with stored_outcomes(store_dir, since_ns=since_ns, service=service) as (outcomes, what):
        for outcome in outcomes:
            clusters.add(outcome)
    click.echo(f"read {clusters.total:,} {what}")
    lines = [*cluster_lines(clusters, top), *question_lines(clusters, top)]
    for line in lines or ["no failure, and no question without a case"][: clusters.total]:
        click.echo(line)
    if clusters.dropped:
        click.echo(f"{clusters.dropped:,} question(s) or failure(s) too rare to be kept count")
    if json_path is not None:
        facts = {"meta": {"dbagenteval": dbagenteval.__version__}, "read": what}
        save(json_path, json.dumps({**facts, **clusters.to_dict()}, indent=2))
    return 0
