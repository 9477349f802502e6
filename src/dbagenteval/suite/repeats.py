"""Several runs of one case become one scorecard."""

from __future__ import annotations

from dbagenteval.scorecard import Scorecard

__all__ = ["merge_repeats"]

_WORST_FIRST = ("FAIL", "ERROR", "SKIP", "PASS")


def merge_repeats(cards: list[Scorecard]) -> Scorecard:
    """Give the worst of the runs, with the rate at which the case passed.

    A case that passes only sometimes does not pass: neither one lucky run nor the last one
    stands for all.

    Args:
        cards: Scorecards of one case, one for each run.

    Returns:
        The first card of the worst verdict; `meta["repeat"]` has `runs`, `passed` and
        `verdicts`.
    """
    verdicts = [card.verdict for card in cards]
    worst = min(verdicts, key=_WORST_FIRST.index)
    card = cards[verdicts.index(worst)]
    card.meta["repeat"] = {
        "runs": len(cards),
        "passed": verdicts.count("PASS"),
        "verdicts": verdicts,
    }
    return card
