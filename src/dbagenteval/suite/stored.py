"""Score stored traces: each one against its case, in a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dbagenteval
from dbagenteval.checks import Check
from dbagenteval.evaluation import OnData, try_evaluate
from dbagenteval.scorecard import Scorecard
from dbagenteval.suite.blaming import add_blame
from dbagenteval.suite.match import Match, Matcher
from dbagenteval.traces import Rows, Trace

if TYPE_CHECKING:
    from dbagenteval.failures import RunAgain

__all__ = ["ReferenceCache", "score_traces"]


class ReferenceCache:
    """Run each reference SQL once, however many traces answer its case.

    Its size is bounded by the cases, not by the traces. A failure is kept too: a broken reference
    makes each of its traces an ERROR, and the database is asked once.

    Args:
        execute: The executor.
    """

    def __init__(self, execute: Callable[[str], Rows]) -> None:
        self._execute = execute
        self._known: dict[str, Rows | Exception] = {}

    def __call__(self, sql: str) -> Rows:
        """Give the rows of one reference SQL, or raise what the executor raised for it."""
        if sql not in self._known:
            try:
                self._known[sql] = self._execute(sql)
            except Exception as error:  # noqa: BLE001 whatever the database raises is the result
                self._known[sql] = error
        known = self._known[sql]
        if isinstance(known, Exception):
            raise known
        return known


def score_traces(
    traces: Iterable[Trace],
    matcher: Matcher,
    *,
    rules: Sequence[Check] = (),
    judge: Callable[[str], str] | None = None,
    execute: Callable[[str], Rows] | None = None,
    on_data: OnData | None = None,
    again: RunAgain | None = None,
) -> Iterator[tuple[Match, Scorecard]]:
    """Score traces one by one, in the order in which they come.

    A trace that matches no case is scored by the rules alone, so that a broken rule in production
    traffic shows even where nobody wrote a case.

    Args:
        traces: From the store.
        matcher: Knows the cases.
        rules: Checks that every trace must pass.
        judge: Judges answers of matched traces.
        execute: Runs reference SQL.
        on_data: Runs the SQL of cases with `data`; see `evaluate`.
        again: Runs the agent's SQL to tell who is to blame; see `blame`.

    Yields:
        Each trace's match and its scorecard; a check that raises makes the card an ERROR.
    """
    for trace in traces:
        match = matcher.match(trace)
        case = match.case
        card = try_evaluate(
            trace,
            case,
            rules=rules,
            judge=judge if case else None,
            execute=execute,
            on_data=on_data,
        )
        if case is None:
            # Nobody says what is right here, so only broken rules are findings.
            card.results = [result for result in card.results if result.check != "no_error"]
        card.meta.update(_facts(trace, match))
        add_blame(card, trace, case, again)
        yield match, card


def _facts(trace: Trace, match: Match) -> dict[str, Any]:
    """Give what identifies the card: where the trace came from and what judged it."""
    facts = {
        key: trace.meta[key]
        for key in (
            "trace_ids",
            "session_id",
            "service",
            "start_ns",
            "end_ns",
            "not_observed",
            "replayed",
        )
        if trace.meta.get(key)
    }
    facts["evaluator_version"] = dbagenteval.__version__
    if match.why:
        facts["match"] = match.why
    return facts
