"""Lines for the terminal: one card, and the totals of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbagenteval.printable import printable
from dbagenteval.scorecard import Scorecard, SuiteResult

__all__ = ["percent", "render_card", "render_summary", "render_totals"]

_INDENT = " " * 6


def render_card(card: Scorecard) -> str:
    """Give the verdict and the case; below it, for a FAIL or an ERROR, where and why.

    A SKIP names what the case expects and could not be checked. An ERROR hides no
    failure: what failed before the evaluation broke off stands below it.
    """
    lines = [f"{card.verdict:<5} {_text(card.case_id or card.question)}{_repeats(card)}"]
    failed = card.failed
    if card.error:
        lines.append(_INDENT + _text(card.error))
    if failed is not None:
        lines.append(f"{_INDENT}{_text(f'{failed.stage} / {failed.check}: {failed.detail}')}")
    elif card.verdict == "SKIP" and card.unchecked:
        left = card.unchecked[0]
        lines.append(f"{_INDENT}{_text(f'{left.stage} / {left.check}: {left.detail}')}")
    return "\n".join(line.rstrip() for line in lines)


def _repeats(card: Scorecard) -> str:
    repeat: dict[str, Any] | None = card.meta.get("repeat")
    if repeat is None:
        return ""
    flaky = ", flaky" if 0 < repeat["passed"] < repeat["runs"] else ""
    return f"  (passed {repeat['passed']} of {repeat['runs']}{flaky})"


def render_totals(result: SuiteResult) -> str:
    """Give how many cases passed, and the first failing stages, most frequent first."""
    return render_summary(
        result.summary(), not_run=sum(bool(card.meta.get("not_run")) for card in result.cards)
    )


def render_summary(summary: Mapping[str, Any], *, not_run: int = 0) -> str:
    """Give the same from the `summary` of a report."""
    drafts = summary.get("drafts", 0)
    skipped = summary["skipped"] - not_run - drafts
    line = (
        f"{summary['passed']} of {summary['total']} passed "
        f"({percent(summary['passed'], summary['total'])}), "
        f"{summary['failed']} failed, {summary['errors']} errors"
    )
    if skipped:
        line += f", {skipped} with nothing to check"
    if drafts:
        line += f", {drafts} {'draft' if drafts == 1 else 'drafts'}"
    if not_run:
        line += f", {not_run} not run"
    stages = sorted(summary["failed_stages"].items(), key=lambda item: -item[1])
    return "\n".join(
        [line, *(f"  first failing stage {_text(stage)}: {count}" for stage, count in stages)]
    )


def percent(passed: int, total: int) -> str:
    """Give a whole percentage that says 100% only for all and 0% only for none."""
    text = f"{passed / total if total else 0:.0%}"
    if text == "100%" and passed < total:
        return ">99%"
    return "<1%" if text == "0%" and passed else text


def _text(value: object) -> str:
    return printable(value, collapse=False)
