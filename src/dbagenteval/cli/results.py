"""Print scorecards in case order, each as soon as those before it are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

import click

from dbagenteval.cases import Case
from dbagenteval.report import render_card, render_totals
from dbagenteval.scorecard import Scorecard, SuiteResult

__all__ = ["ResultPrinter"]


class ResultPrinter:
    """Prints the results of a run.

    Args:
        cases: The cases of the run; the keys of their turns are unique.
        out: Where to.
        quiet: Leave out what passed.
    """

    def __init__(self, cases: Iterable[Case], out: IO[str], *, quiet: bool) -> None:
        self._keys = [turn.key for case in cases for turn in case.each_turn()]
        self._out = out
        self._quiet = quiet
        self._waiting: dict[str, Scorecard] = {}
        self._printed = 0

    def add(self, card: Scorecard) -> None:
        """Take a scorecard, in any order, and print those whose turn it is."""
        self._waiting[card.case_id or card.question] = card
        while self._printed < len(self._keys):
            next_card = self._waiting.pop(self._keys[self._printed], None)
            if next_card is None:
                return
            self._print(next_card)

    def finish(self, result: SuiteResult) -> None:
        """Print the scorecards that are left, and the totals."""
        for card in result.cards[self._printed :]:
            self._print(card)
        click.echo(f"\n{render_totals(result)}", file=self._out)

    def _print(self, card: Scorecard) -> None:
        self._printed += 1
        if not self._quiet or card.verdict != "PASS":
            click.echo(render_card(card), file=self._out)
