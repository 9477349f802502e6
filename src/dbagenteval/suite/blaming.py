"""Cards that failed say which stage that goes back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbagenteval.cases import Case
from dbagenteval.scorecard import Scorecard
from dbagenteval.traces import Trace

if TYPE_CHECKING:
    from dbagenteval.failures import RunAgain

__all__ = ["add_blame"]


def add_blame(
    card: Scorecard, trace: Trace, case: Case | None, again: RunAgain | None = None
) -> None:
    """Put `blame` into the facts of a card that failed; see `failures.blame`."""
    if card.verdict != "FAIL":
        return
    from dbagenteval.failures import blame  # noqa: PLC0415 it loads the SQL parser

    blamed = blame(card, trace, case, again=again)
    if blamed is not None:
        card.meta["blame"] = blamed.to_dict()
