"""`dbagenteval replay`: score stored traces again and list the verdicts that flipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.cli.outputs import check_outputs, inputs_of
from dbagenteval.cli.stored_scoring import StoredScoring, scoring_options
from dbagenteval.cli.stores import read_store
from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.store import Store
    from dbagenteval.suite.flips import Flip, Flips

__all__ = ["command"]


@click.command(
    "replay",
    epilog="Exit codes: 0 no pass is gone, 1 a trace that passed does not pass today, 2 could not "
    "run.",
)
@click.argument("cases_file", metavar="CASES")
@scoring_options
@click.option("--keep", is_flag=True, help="Keep today's scorecards in the store, as score does.")
@click.option("--json", "json_path", metavar="PATH", help="Save all flips.")
@click.option("--allow-lost", is_flag=True, help="Passes that are gone are fine.")
def command(cases_file: str, **options: Any) -> int:
    """Score the traces of a store again, and say which verdicts flipped and why.

    They are compared with the scorecards that `score` kept last: after an update of dbagenteval,
    a change of rules or cases, or when the data changed.
    """
    from dbagenteval.report import save
    from dbagenteval.store.scorecards import kept_cards
    from dbagenteval.suite.flips import Flips

    setup = StoredScoring(cases_file, options)
    check_outputs(inputs_of(cases_file, options), options["json_path"])
    with read_store(options["store_dir"]) as store, ExitStack() as stack:
        flips = Flips.since(
            kept_cards(
                options["store_dir"], since_ns=options["since_ns"], service=options["service"]
            )
        )
        if not flips.kept:
            raise UserError(
                f"store {options['store_dir']}: no scorecards are kept of these traces",
                hint="`dbagenteval score` keeps them",
            )
        keep = stack.enter_context(setup.keeping()) if options["keep"] else None
        found = [_shown(flip) for flip in flips.of(_cards(setup, store, keep))]
    _show_counts(flips)
    if options["json_path"] is not None:
        report = {"flips": [flip.to_dict() for flip in found], "summary": flips.to_dict()}
        save(options["json_path"], json.dumps(report, indent=2))
    if flips.lost and not options["allow_lost"]:
        click.echo(f"not passed: {flips.lost} pass(es) are gone")
        return EXIT_NOT_PASSED
    return EXIT_OK


def _cards(setup: StoredScoring, store: Store, keep: Any) -> Iterator[dict[str, Any]]:
    cards = setup.kept_cards()
    for match, scorecard in setup.scored(store):
        card = cards.card(match, scorecard)
        if keep is not None:
            keep(card)
        yield card


def _shown(flip: Flip) -> Flip:
    name = printable(flip.case_id or flip.question, 100)
    click.echo(f"{flip.before} -> {flip.now}  {name}  [{flip.trace_id}]")
    for why in flip.why:
        click.echo(f"      {why}")
    return flip


def _show_counts(flips: Flips) -> None:
    flipped = sum(flips.flipped.values())
    if flipped:
        click.echo()
    kinds = ", ".join(f"{count} {how}" for how, count in sorted(flips.flipped.items()))
    counted = f"{flipped} of {flipped + flips.same} verdicts flipped"
    click.echo(f"{counted}: {kinds}" if kinds else counted)
    if flips.new:
        click.echo(f"  {flips.new} trace(s) were not scored before")
    if flips.gone:
        click.echo(f"  {flips.gone} scored trace(s) are not in the store any more")
