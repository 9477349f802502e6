"""`dbagenteval harvest`: failures of production become draft cases."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.case_files import replaced
from dbagenteval.cli.harvest_review import review
from dbagenteval.cli.main import EXIT_OK
from dbagenteval.cli.replaying import limited_executor
from dbagenteval.cli.stores import in_range, read_store
from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.checks import Executor
    from dbagenteval.harvest.casefile import CaseFile
    from dbagenteval.harvest.collect import Collected, Selection
    from dbagenteval.harvest.drafts import Draft
    from dbagenteval.harvest.harvest import Harvest
    from dbagenteval.harvest.people import People
    from dbagenteval.slices.schema import Schema

__all__ = ["command"]

_NAMED_AT_MOST = 20


@click.group(
    "harvest",
    invoke_without_command=True,
    epilog="Exit codes: 0 done, also when there was nothing to harvest, 2 could not run.",
)
@click.option("--store", "store_dir", metavar="DIR", help="The store directory.")
@in_range
@click.option("--failed", is_flag=True, help="Only traces that failed.")
@click.option("--unmatched", is_flag=True, help="Only traces that match no case.")
@click.option("--rule", metavar="NAME", help="Only traces that broke this rule.")
@click.option("--trace", metavar="ID", help="Only this trace, whatever became of it.")
@click.option(
    "--cases", "case_files", multiple=True, metavar="FILE", help="Cases that there are; repeatable."
)
@click.option("--database", metavar="URL", help="Database to run references on.")
@click.option(
    "--tenant", metavar="COLUMN=VALUE", help="Whose data questions are about, such as store_id=s1."
)
@click.option("--rules", metavar="FILE:NAME", help="A list of rules, for every trace.")
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", help="Only the N most frequent questions."
)
@click.option(
    "--slice", "with_data", is_flag=True, help="Give each draft the rows of --database it needs."
)
@click.option("-o", "--output", metavar="FILE", help="Where drafts go: a new file, or its end.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Make draft cases of the failed and unmatched traces of a store.

    A draft has the question, the reference that is proposed for it and where it came from, all
    without personal data. It never passes until a person accepts it: see `harvest review`.
    """
    if ctx.invoked_subcommand is not None:
        return EXIT_OK
    for name, option in (("store_dir", "--store"), ("output", "-o")):
        if not options[name]:
            raise UserError(f"harvest needs {option}")
    if options["trace"] == "":
        raise UserError("--trace is empty; expected a trace id, or how it starts")
    if options["with_data"] and options["database"] is None:
        raise UserError("--slice needs --database: the rows are taken from it")
    from dbagenteval.harvest.casefile import read_case_file
    from dbagenteval.report import check_writable

    check_writable(options["output"])
    cases = _known_cases(options["case_files"])
    database = _Database.of(options)
    while True:
        file = read_case_file(options["output"])
        collected, found = _harvested(options, file, cases, database)
        sliced = _slice(file, found, options) if options["with_data"] else _Sliced()
        if not found.drafts:
            break
        changed = file.with_cases([draft.fields for draft in found.drafts])
        # A harvest takes minutes: what others have written meanwhile has to be seen, and stay.
        if replaced(file, changed, sliced.scripts):
            break
    _show(file, collected, found, sliced.told)
    return EXIT_OK


@dataclass(frozen=True, slots=True)
class _Database:
    """What is known of the database of `--database`; nothing without one."""

    execute: Executor | None
    schema: Schema | None = None
    people: People | None = None

    @classmethod
    def of(cls, options: dict[str, Any]) -> _Database:
        url = options["database"]
        execute = limited_executor(url)
        if execute is None:
            return cls(None)
        from dbagenteval.cli.known import check_tenant
        from dbagenteval.executors import read_only_engine
        from dbagenteval.harvest.people import read_people
        from dbagenteval.rules.query.dialects import from_system_name
        from dbagenteval.slices.reflection import read_schema

        engine = read_only_engine(url)
        schema = read_schema(engine)
        tenant = _tenant(options["tenant"])
        if tenant is not None:
            check_tenant(schema, tenant[0])
        people = read_people(schema, url, from_system_name(engine.dialect.name) or "")
        return cls(execute, schema, people)


@dataclass(slots=True)
class _Sliced:
    """The scripts of drafts with data of their own, and what is to be said of each draft's."""

    scripts: dict[Path, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)


def _harvested(
    options: dict[str, Any], file: CaseFile, cases: list[Case], database: _Database
) -> tuple[Collected, Harvest]:
    from dbagenteval.harvest.collect import Selection
    from dbagenteval.harvest.harvest import harvest
    from dbagenteval.harvest.proposal import repairing

    selection = Selection(
        **{name: options[name] for name in ("failed", "unmatched", "rule", "trace")}
    )
    collected = _collected(options, [*cases, *file.cases], selection, database.execute)
    found = harvest(
        collected,
        [*cases, *file.cases],
        rejected=file.rejected,
        suggest=repairing(database.schema, _tenant(options["tenant"])),
        execute=database.execute,
        now=datetime.datetime.now(tz=datetime.timezone.utc),
        at_most=options["top"],
        people=database.people,
    )
    return collected, found


def _known_cases(paths: tuple[str, ...]) -> list[Case]:
    from dbagenteval.cli.datasets import read_cases

    return [case for path in paths for case in read_cases(path)]


def _tenant(text: str | None) -> tuple[str, str | int] | None:
    from dbagenteval.cli.proving import tenant_of

    return None if text is None else tenant_of(text, "--tenant")


def _source(fields: dict[str, Any]) -> str:
    if fields.get("sql") == "none":
        return "none: an answer without SQL is expected, as the agent gave one"
    return str(fields["harvested"].get("reference_from", "none; write one in the review"))


def _collected(
    options: dict[str, Any], cases: list[Case], selection: Selection, execute: Executor | None
) -> Collected:
    """Score the traces as `score` does, and keep what may become a case."""
    from dbagenteval.cli.datasets import own_data
    from dbagenteval.cli.targets import load_rules
    from dbagenteval.harvest.collect import collect
    from dbagenteval.harvest.kept import KeptVerdicts
    from dbagenteval.store.scorecards import kept_cards
    from dbagenteval.suite.match import Matcher
    from dbagenteval.suite.stored import ReferenceCache, score_traces
    from dbagenteval.traces import assemble

    rules = load_rules(options["rules"]) if options["rules"] else []
    since_ns, service = options["since_ns"], options["service"]
    kept = KeptVerdicts(kept_cards(options["store_dir"], since_ns=since_ns, service=service))
    with read_store(options["store_dir"]) as store:
        traces = assemble(store.otel_traces(since_ns=since_ns, service=service))
        scored = score_traces(
            traces,
            Matcher(cases),
            rules=rules,
            execute=None if execute is None else ReferenceCache(execute),
            on_data=own_data(cases),
        )
        return collect(scored, selection, kept)


def _slice(file: CaseFile, found: Harvest, options: dict[str, Any]) -> _Sliced:
    """Give each draft data of its own, in a script beside the file."""
    from dbagenteval.errors import SliceError
    from dbagenteval.harvest.sliced import with_slice

    made = _Sliced()
    tenant = _tenant(options["tenant"])
    for position, draft in enumerate(found.drafts):
        path = f"{file.path.stem}.data/{draft.id}.sql"
        try:
            sliced = with_slice(draft, options["database"], tenant=tenant, path=path)
        except SliceError as error:
            made.told[draft.id] = f"none: {error}"
            continue
        made.scripts[file.path.parent / path] = sliced.script
        found.drafts[position] = sliced.draft
        told = (f"{sliced.row_count} row(s) in {path}: {sliced.shows}", *sliced.notes)
        made.told[draft.id] = "; ".join(told)
    return made


def _show(file: CaseFile, collected: Collected, found: Harvest, told: dict[str, str]) -> None:
    for draft in found.drafts:
        _show_draft(draft, told.get(draft.id))
    if found.covered:
        click.echo(f"{sum(found.covered.values())} trace(s) have a case already")
        for key, count in found.covered.most_common(_NAMED_AT_MOST):
            click.echo(f"      {printable(key, 100)}: {count}")
        if len(found.covered) > _NAMED_AT_MOST:
            click.echo("      …")
    if found.left_out:
        click.echo(f"{found.left_out} less frequent question(s) not looked at")
    if collected.without_question:
        click.echo(f"{collected.without_question} trace(s) have no question that was captured")
    if not collected.traces:
        click.echo("nothing to harvest: the store has no traces of that time and service")
    elif not collected.selected:
        click.echo(f"nothing to harvest: of {collected.traces} trace(s) none was asked for")
    elif not found.drafts:
        click.echo("nothing to harvest: all of it has a case")
    else:
        click.echo(f"{len(found.drafts)} draft(s) written to {file.path}; next:")
        click.echo(f"  dbagenteval harvest review {file.path}")


def _show_draft(draft: Draft, data: str | None) -> None:
    times = f"  ({draft.group.count} times)" if draft.group.count > 1 else ""
    click.echo(f"DRAFT {draft.id}{times}  [{draft.group.first.trace_id}]")
    failure = draft.group.first.failure
    if failure is not None:
        click.echo(f"      failed: {printable(f'{failure.stage} / {failure.check}')}")
    click.echo(f"      reference: {printable(_source(draft.fields), 200)}")
    if data is not None:
        click.echo(f"      data: {printable(data, 200)}")


command.add_command(review)
