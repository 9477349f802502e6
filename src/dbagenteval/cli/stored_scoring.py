"""What `score` and `replay` have in common: how the traces of a store are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dbagenteval.cli.dialects import DIALECT
from dbagenteval.cli.judging import judge_of, judge_options, judge_usage
from dbagenteval.cli.proving import PROVE_TENANT_HELP, proofs_of
from dbagenteval.cli.stores import in_range, store_option
from dbagenteval.errors import StoreError, UserError

if TYPE_CHECKING:
    from dbagenteval.scorecard import Scorecard
    from dbagenteval.store import Store
    from dbagenteval.suite.history import KeptCards
    from dbagenteval.suite.match import Match

__all__ = ["StoredScoring", "scoring_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SETTINGS = ("dialect", "judge", "prove_tenant", "replay_sql")
"""Options that decide verdicts and are in no file."""


def scoring_options(function: _Command) -> _Command:
    """Add the options that say how stored traces are scored to a command."""
    for option in (
        click.option("--dialect", type=DIALECT, help="Database type, for rules that name none."),
        judge_options,
        click.option("--prove-tenant", metavar="COLUMN=VALUE", help=PROVE_TENANT_HELP),
        click.option("--rules", metavar="FILE:NAME", help="A list of rules, for every trace."),
        click.option(
            "--replay-sql",
            "replay_sql",
            is_flag=True,
            help="Run SQL that only reads again on --database where its rows were not captured.",
        ),
        click.option("--database", metavar="URL", help="Database to run reference SQL on."),
        click.option("--execute", metavar="FILE:FUNCTION", help="Executor for reference SQL."),
        in_range,
        store_option,
    ):
        function = option(function)
    return function


class StoredScoring:
    """Scores the traces of a store as the options of a command say.

    Args:
        cases_file: The cases.
        options: Those of `scoring_options`, by name.

    Raises:
        UserError: A file can't be read or loaded, or the reference SQL has nothing to run on.
    """

    def __init__(self, cases_file: str, options: dict[str, Any]) -> None:
        from dbagenteval.cli.datasets import needs_executor, own_data, read_cases
        from dbagenteval.cli.replaying import replay_of
        from dbagenteval.cli.targets import load_executor, load_rules
        from dbagenteval.suite.match import Matcher
        from dbagenteval.suite.stored import ReferenceCache

        self._options = options
        self._cases_file = cases_file
        dialect = options["dialect"]
        self.cases = read_cases(cases_file)
        if dialect:
            self.cases = [replace(case, dialect=case.dialect or dialect) for case in self.cases]
        self.matcher = Matcher(self.cases)
        self._rules = load_rules(options["rules"]) if options["rules"] else []
        self._rules += proofs_of(options["prove_tenant"], options["database"])
        self._judge = judge_of(options)
        executor = load_executor(options["execute"], options["database"])
        if executor is None and needs_executor(self.cases):
            raise UserError(
                "some cases have `reference_sql`; pass --database URL or --execute "
                "module:function to run it"
            )
        self._execute = None if executor is None else ReferenceCache(executor)
        self._on_data = own_data(self.cases)
        self._replay = replay_of(options["database"], dialect) if options["replay_sql"] else None

    def scored(self, store: Store) -> Iterator[tuple[Match, Scorecard]]:
        """Give each stored trace's match and card, one by one."""
        from dbagenteval.suite.replay import mark_replayed
        from dbagenteval.suite.stored import score_traces
        from dbagenteval.traces import assemble

        traces = assemble(
            store.otel_traces(since_ns=self._options["since_ns"], service=self._options["service"])
        )
        scored = score_traces(
            traces if self._replay is None else self._replay.traces(traces),
            self.matcher,
            rules=self._rules,
            judge=self._judge,
            execute=self._execute,
            on_data=self._on_data,
            again=None if self._replay is None else self._replay.again,
        )
        if self._replay is None:
            return scored
        return ((match, mark_replayed(card)) for match, card in scored)

    def kept_cards(self) -> KeptCards:
        """Give what makes the cards that are kept."""
        import dbagenteval
        from dbagenteval.suite.history import KeptCards, RowDigests, digest_of, digest_of_rules

        settings = {
            "evaluator": dbagenteval.__version__,
            "rules": digest_of_rules(self._rules),
            "settings": digest_of([self._options[name] for name in _SETTINGS]),
        }
        if self._execute is None:
            return KeptCards(settings)
        return KeptCards(settings, RowDigests(self._execute))

    @contextmanager
    def keeping(self) -> Iterator[Callable[[dict[str, Any]], None]]:
        """Keep cards in the store once all are there; says on stderr if the store can't be written.

        Yields:
            What keeps one card.
        """
        from dbagenteval.store.scorecards import ScorecardRun

        try:
            run = ScorecardRun(self._options["store_dir"], {"cases_file": self._cases_file})
        except StoreError as error:
            click.echo(f"{error}", err=True)
            yield lambda _: None
            return
        with run:
            yield run.add

    def judge_usage(self) -> dict[str, Any]:
        """Give what the judge took, for a report."""
        return judge_usage(self._judge)

    def told_replayed(self) -> str:
        """Say what SQL was run again; empty if none was to be."""
        if self._replay is None:
            return ""
        ran, refused = self._replay.replayed, self._replay.refused
        return f"replayed: rows of {ran} executions, refused {refused}"
