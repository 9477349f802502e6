"""Outcomes of a store: from the scorecards that scoring kept, else from its traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbagenteval.cli.stores import read_store
from dbagenteval.failures import Outcome, outcome_of
from dbagenteval.scorecard import Scorecard
from dbagenteval.traces import assemble

__all__ = ["stored_outcomes"]


@contextmanager
def stored_outcomes(
    directory: str, *, since_ns: int | None, service: str | None
) -> Iterator[tuple[Iterator[Outcome], str]]:
    """Open a store for its outcomes, one for each trace.

    Yields:
        The outcomes, and what they are read from, for people.

    Raises:
        StoreError: There is none, it is locked, or made by a newer version.
    """
    with read_store(directory) as store:
        traces = assemble(store.otel_traces(since_ns=since_ns, service=service))
        unjudged = (outcome_of(Scorecard(trace.question), trace, None) for trace in traces)
        yield unjudged, "trace(s); no scorecard is kept"
