"""Find the Traces of a store by the id of a trace, or its first digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.store import Store
    from dbagenteval.traces import Trace

__all__ = ["traces_with_id"]

_ID_LENGTH = 32
_JOIN_WINDOW_NS = 600 * 10**9
"""Traces joined to one turn start within this time of each other."""


def traces_with_id(store: Store, trace_id: str, store_dir: str) -> list[Trace]:
    """Give the Traces that a trace holds.

    Args:
        store: Where to look.
        trace_id: The id, or its first digits.
        store_dir: How the user named the store.

    Raises:
        UserError: There is none, or several traces have such an id.
    """
    wanted = trace_id.lower()
    found = [
        trace
        for trace in _near(store, wanted)
        if any(known.startswith(wanted) for known in trace.meta["trace_ids"])
    ]
    if not found:
        raise UserError(
            f"{store_dir}: no trace has an id that starts with {printable(trace_id)!r}",
            hint=f"dbagenteval traces list --store {store_dir}",
        )
    ids = {known for trace in found for known in trace.meta["trace_ids"]}
    matching = sorted(known for known in ids if known.startswith(wanted))
    if len(matching) > 1 and len({tuple(trace.meta["trace_ids"]) for trace in found}) > 1:
        raise UserError(
            f"{printable(trace_id)!r} fits several traces: {', '.join(matching[:5])}, …"
        )
    return found


def _near(store: Store, trace_id: str) -> Iterator[Trace]:
    """Give the traces that may be the wanted one; a whole id spares reading the whole store."""
    from dbagenteval.traces import assemble

    if len(trace_id) < _ID_LENGTH:
        return assemble(store.otel_traces())
    starts = [
        span.start_ns for group in store.otel_traces(trace_ids=[trace_id]) for span in group.spans
    ]
    if not starts:
        return iter(())
    return assemble(
        store.otel_traces(
            since_ns=max(0, min(starts) - _JOIN_WINDOW_NS), until_ns=max(starts) + _JOIN_WINDOW_NS
        )
    )
