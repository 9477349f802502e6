"""`dbagenteval score`: score the traces of a store against a cases file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.cli.outputs import check_outputs, inputs_of
from dbagenteval.cli.stored_scoring import StoredScoring, scoring_options
from dbagenteval.cli.stores import read_store

if TYPE_CHECKING:
    from dbagenteval.failures import Clusters
    from dbagenteval.scorecard import Scorecard
    from dbagenteval.suite.history import KeptCards
    from dbagenteval.suite.match import Match

__all__ = ["command"]

_SHOWN_CLUSTERS = 5
_ALLOWANCES = ("allow_unmatched", "allow_missing", "allow_skipped", "allow_drafts")


@click.command(
    "score",
    epilog="Exit codes: 0 every trace passed and nothing was left out, 1 something did not pass "
    "or was left out, 2 could not run.",
)
@click.argument("cases_file", metavar="CASES")
@scoring_options
@click.option("--no-keep", is_flag=True, help="Don't keep the scorecards in the store.")
@click.option("--json", "json_path", metavar="PATH", help="Save the full result.")
@click.option("--md", "md_path", metavar="PATH", help="Save a short report.")
@click.option("--allow-unmatched", is_flag=True, help="Traces that match no case are fine.")
@click.option("--allow-missing", is_flag=True, help="Cases without a trace are fine.")
@click.option("--allow-skipped", is_flag=True, help="Checks without evidence are fine.")
@click.option("--allow-drafts", is_flag=True, help="Cases that nobody has accepted are fine.")
def command(cases_file: str, **options: Any) -> int:
    """Score the traces of a store against the cases of a file.

    A trace belongs to the case with its case id, else to the case that asks its question. The
    scorecards are kept in the store, for `clusters`, `replay` and `harvest`.
    """
    from dbagenteval.cli.scoring import Scoring
    from dbagenteval.failures import Clusters, cluster_lines
    from dbagenteval.suite.gate import Gate

    setup = StoredScoring(cases_file, options)
    gate = Gate(**{name: options[name] for name in _ALLOWANCES})
    check_outputs(inputs_of(cases_file, options), options["json_path"], options["md_path"])
    scoring = Scoring(options["json_path"], options["md_path"])
    clusters = Clusters()
    with scoring, read_store(options["store_dir"]) as store, ExitStack() as stack:
        keep = None if options["no_keep"] else stack.enter_context(setup.keeping())
        scored = _kept(setup.scored(store), setup.kept_cards(), clusters, keep)
        score = scoring.show(scored, setup.matcher, gate, facts=setup.judge_usage)
    for line in cluster_lines(clusters, _SHOWN_CLUSTERS, least=2):
        click.echo(line)
    if setup.told_replayed():
        click.echo(setup.told_replayed())
    return EXIT_NOT_PASSED if score.problems(gate) else EXIT_OK


def _kept(
    scored: Iterable[tuple[Match, Scorecard]],
    cards: KeptCards,
    clusters: Clusters,
    keep: Callable[[dict[str, Any]], None] | None,
) -> Iterator[tuple[Match, Scorecard]]:
    from dbagenteval.failures import Outcome

    for match, card in scored:
        kept = cards.card(match, card)
        clusters.add(Outcome.from_dict(kept))
        if keep is not None:
            keep(kept)
        yield match, card
