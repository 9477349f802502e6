"""A scoring of stored traces as it is shown: lines while it runs, reports at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import click

import dbagenteval
from dbagenteval.printable import printable
from dbagenteval.report import check_writable, render_card, save, to_markdown
from dbagenteval.report.stream import StreamedJson
from dbagenteval.report.text import render_summary
from dbagenteval.scorecard import Scorecard
from dbagenteval.suite.gate import Gate, Score
from dbagenteval.suite.match import Match, Matcher

__all__ = ["Scoring"]

_SHOWN_AT_MOST = 20
_IN_MARKDOWN_AT_MOST = 1000


class Scoring:
    """Where scorecards go: stdout, and the reports that the user asked for.

    Paths are checked before anything runs; a run that fails leaves old reports as they were.

    Args:
        json_path: Of the full JSON report.
        md_path: Of the short Markdown report, which lists the first 1,000 that did not pass.
        whole_cards: Print whole scorecards in place of one line each.

    Raises:
        UserError: A report can't be written there.
    """

    def __init__(
        self, json_path: str | None, md_path: str | None, *, whole_cards: bool = False
    ) -> None:
        self._json = None if json_path is None else StreamedJson(json_path)
        self._md = md_path
        if md_path is not None:
            check_writable(md_path)
        self._whole_cards = whole_cards
        self._not_passed: list[dict[str, Any]] = []
        self._unmatched: list[str] = []
        self._why_missing: dict[str, str] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Scoring:  # noqa: PYI034 Self needs Python 3.11
        if self._json is not None:
            self._stack.enter_context(self._json)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def show(
        self,
        scored: Iterable[tuple[Match, Scorecard]],
        matcher: Matcher,
        gate: Gate,
        *,
        facts: Callable[[], dict[str, Any]] = dict,
    ) -> Score:
        """Show every card as it comes, then the totals and what the gate says of them.

        Args:
            scored: Matches and cards, as they come.
            matcher: Knows by the end which cases have no trace.
            gate: What may be left out.
            facts: Gives further facts for the report's `meta` at the end.
        """
        score = Score()
        for match, card in scored:
            matched = match.case is not None
            score.add(card, matched=matched)
            self._add(match, card)
        score.drafts = [case.key for case in matcher.drafts]
        score.missing = [case.key for case in matcher.missing]
        self._why_missing = {case.key: matcher.why_missing(case) for case in matcher.missing}
        self._print_totals(score, gate)
        self._finish(score, gate, facts())
        return score

    def _add(self, match: Match, card: Scorecard) -> None:
        matched = match.case is not None
        if self._json is not None:
            self._json.add(card, matched=matched)
        if not matched and len(self._unmatched) < _SHOWN_AT_MOST:
            where = (match.trace.meta.get("trace_ids") or ["?"])[0]
            question = printable(match.trace.question, 100)
            self._unmatched.append(f"{where}  {question!r}: {match.why}")
        if not matched and card.verdict not in ("FAIL", "ERROR"):
            return
        if card.verdict != "PASS" and len(self._not_passed) < _IN_MARKDOWN_AT_MOST:
            self._not_passed.append(card.to_dict())
        click.echo(self._shown(card, matched=matched))

    def _shown(self, card: Scorecard, *, matched: bool) -> str:
        if self._whole_cards:
            return card.summary() + "\n"
        first, *rest = render_card(card).split("\n")
        trace_ids = card.meta.get("trace_ids") or ["?"]
        case = "" if matched else "  (no case)"
        if card.verdict == "SKIP":
            why = next((result for result in card.skipped if result.detail), None)
            rest = [] if why is None else [f"      {why.check}: {printable(why.detail)}"]
        if card.goes_back_to:
            rest.append(f"      goes back to {printable(card.goes_back_to)}")
        return "\n".join([f"{first}{case}  [{trace_ids[0]}]", *rest])

    def _print_totals(self, score: Score, gate: Gate) -> None:
        if not self._whole_cards:
            click.echo()
        click.echo(render_summary(score.cards.to_dict()))
        left_out = [
            (
                score.unmatched.total,
                "trace(s) match no case",
                self._unmatched,
                gate.allow_unmatched,
            ),
            (
                len(score.missing),
                "case(s) have no trace",
                [f"{key}{self._why_missing[key]}" for key in score.missing],
                gate.allow_missing,
            ),
            (len(score.drafts), "case(s) are drafts", score.drafts, gate.allow_drafts),
            (
                sum(score.unobserved.values()),
                "check(s) had no evidence",
                [f"{check}: {count}" for check, count in score.unobserved.items()],
                gate.allow_skipped,
            ),
        ]
        for count, what, examples, waived in left_out:
            if count:
                click.echo(f"  {count} {what}{' (allowed)' if waived else ''}")
                for example in examples[:_SHOWN_AT_MOST]:
                    click.echo(f"      {printable(example)}")
                if count > _SHOWN_AT_MOST and len(examples) >= _SHOWN_AT_MOST:
                    click.echo("      …")
        problems = score.problems(gate)
        if problems:
            click.echo(f"not passed: {'; '.join(problems)}")

    def _finish(self, score: Score, gate: Gate, facts: dict[str, Any]) -> None:
        summary = score.cards.to_dict()
        if self._json is not None:
            self._json.finish(
                summary=summary,
                meta={"dbagenteval": dbagenteval.__version__, **facts},
                gate={"problems": score.problems(gate)},
                missing=score.missing,
                **({"drafts": score.drafts} if score.drafts else {}),
                unobserved=score.unobserved,
                unmatched_summary=score.unmatched.to_dict(),
            )
        if self._md is not None:
            save(self._md, to_markdown({"summary": summary, "cases": self._not_passed}))
