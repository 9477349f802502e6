"""`dbagenteval score`: score the traces of a store against a cases file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from dbagenteval.cli.judging import judge_of, judge_options, judge_usage
from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.cli.outputs import check_outputs, inputs_of
from dbagenteval.cli.proving import PROVE_TENANT_HELP, proofs_of
from dbagenteval.cli.stores import in_range, read_store, store_option
from dbagenteval.errors import UserError

__all__ = ["command"]


@click.command(
    "score",
    epilog="Exit codes: 0 every trace passed and nothing was left out, 1 something did not pass "
    "or was left out, 2 could not run.",
)
@click.argument("cases_file", metavar="CASES")
@store_option
@in_range
@click.option("--execute", metavar="FILE:FUNCTION", help="Executor for reference SQL.")
@click.option("--database", metavar="URL", help="Database to run reference SQL on.")
@click.option(
    "--replay-sql",
    "replay_sql",
    is_flag=True,
    help="Run SQL that only reads again on --database where its rows were not captured.",
)
@click.option("--rules", metavar="FILE:NAME", help="A list of rules, for every trace.")
@click.option("--prove-tenant", metavar="COLUMN=VALUE", help=PROVE_TENANT_HELP)
@judge_options
@click.option("--dialect", help="Dialect of the SQL for rules that name none.")
@click.option("--json", "json_path", metavar="PATH", help="Save the full result.")
@click.option("--md", "md_path", metavar="PATH", help="Save a short report.")
@click.option("--allow-unmatched", is_flag=True, help="Traces that match no case are fine.")
@click.option("--allow-missing", is_flag=True, help="Cases without a trace are fine.")
@click.option("--allow-skipped", is_flag=True, help="Checks without evidence are fine.")
@click.option("--allow-drafts", is_flag=True, help="Cases that nobody has accepted are fine.")
def command(cases_file: str, **options: Any) -> int:
    """Score the traces of a store against the cases of a file.

    A trace belongs to the case with its case id, else to the case that asks its question.
    """
    from dbagenteval.cases import load_cases
    from dbagenteval.cli.datasets import needs_executor
    from dbagenteval.cli.replaying import replay_of
    from dbagenteval.cli.scoring import Scoring
    from dbagenteval.cli.targets import load_executor, load_rules
    from dbagenteval.suite.gate import Gate
    from dbagenteval.suite.match import Matcher
    from dbagenteval.suite.replay import mark_replayed
    from dbagenteval.suite.stored import ReferenceCache, score_traces
    from dbagenteval.traces import assemble

    cases = load_cases(cases_file)
    dialect = options["dialect"]
    if dialect:
        cases = [replace(case, dialect=case.dialect or dialect) for case in cases]
    matcher = Matcher(cases)
    checks = load_rules(options["rules"]) if options["rules"] else []
    checks += proofs_of(options["prove_tenant"], options["database"])
    judge = judge_of(options)
    executor = load_executor(options["execute"], options["database"])
    if executor is None and needs_executor(cases):
        raise UserError(
            "some cases have `reference_sql`; pass --database URL or --execute module:function "
            "to run it"
        )
    replay = replay_of(options["database"], dialect) if options["replay_sql"] else None
    gate = Gate(
        **{
            f"allow_{what}": options[f"allow_{what}"]
            for what in ("unmatched", "missing", "skipped", "drafts")
        }
    )
    check_outputs(inputs_of(cases_file, options), options["json_path"], options["md_path"])
    scoring = Scoring(options["json_path"], options["md_path"])
    with scoring, read_store(options["store_dir"]) as store:
        traces = assemble(
            store.otel_traces(since_ns=options["since_ns"], service=options["service"])
        )
        scored = score_traces(
            traces if replay is None else replay.traces(traces),
            matcher,
            rules=checks,
            judge=judge,
            execute=None if executor is None else ReferenceCache(executor),
        )
        if replay is not None:
            scored = ((match, mark_replayed(card)) for match, card in scored)
        score = scoring.show(scored, matcher, gate, facts=lambda: judge_usage(judge))
        if replay is not None:
            click.echo(f"replayed: rows of {replay.replayed} executions, refused {replay.refused}")
    return EXIT_NOT_PASSED if score.problems(gate) else EXIT_OK
