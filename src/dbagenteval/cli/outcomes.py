"""Outcomes of a store: from the scorecards that scoring kept, else from its traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbagenteval.cli.stores import read_store
from dbagenteval.failures import Outcome, outcome_of
from dbagenteval.scorecard import Scorecard
from dbagenteval.store.scorecards import kept_bytes, kept_cards
from dbagenteval.traces import assemble

__all__ = ["stored_outcomes"]


@contextmanager
def stored_outcomes(
    directory: str, *, since_ns: int | None, service: str | None
) -> Iterator[tuple[Iterator[Outcome], str]]:
    """Open a store for its outcomes, the newest one of each trace.

    Yields:
        The outcomes, and what they are read from, for people. Where no scorecard is kept that is
        the traces, which nobody has judged.

    Raises:
        StoreError: There is none, it is locked, damaged or made by a newer version.
    """
    if kept_bytes(directory):
        cards = kept_cards(directory, since_ns=since_ns, service=service)
        yield map(Outcome.from_dict, cards), "kept scorecard(s)"
        return
    with read_store(directory) as store:
        traces = assemble(store.otel_traces(since_ns=since_ns, service=service))
        unjudged = (outcome_of(Scorecard(trace.question), trace, None) for trace in traces)
        yield unjudged, "trace(s); no scorecard is kept"
