"""Replay: rows that no span tells of, from running the agent's SQL again."""

from __future__ import annotations

import copy
import datetime
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from dbagenteval.executors import Executor
from dbagenteval.scorecard import Scorecard
from dbagenteval.suite.reading import why_not_run
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["Replay", "mark_replayed"]

_KEPT_RESULTS = 256
_NOT_ROWS = "no_error"


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class Replay:
    """Give traces the rows that were not captured, by running their SQL again.

    Only SQL that `ReadOnly` passes is run. The rows are those of the data as it is now, so each
    stage says that it was replayed and when. An execution that failed is not replayed: it may well
    succeed now, and that would not be what the agent saw.

    Args:
        execute: Runs SQL with limits, see `limited_executor_for`.
        dialect: Of the database, for SQL whose trace names none.
        now: Gives the time as text.
    """

    def __init__(
        self, execute: Executor, *, dialect: str | None = None, now: Callable[[], str] = _now
    ) -> None:
        self._execute = execute
        self._dialect = dialect
        self._now = now
        self._known: OrderedDict[str, tuple[Rows | None, str, str]] = OrderedDict()
        self.replayed = 0
        self.refused = 0

    def traces(self, traces: Iterable[Trace]) -> Iterator[Trace]:
        """Replay each trace as it comes."""
        for trace in traces:
            yield self.trace(trace)

    def trace(self, trace: Trace) -> Trace:
        """Give the trace with replayed rows; one that lacks none comes back as it is."""
        if not any(_lacks_rows(stage) for stage in trace.stages):
            return trace
        stages: list[Stage] = []
        sql: str | None = None
        for stage in trace.stages:
            if stage.kind == "generate" and isinstance(stage.output, str):
                sql = stage.output
            ran = stage.meta.get("sql") or sql
            stages.append(self._stage(stage, trace, ran) if _lacks_rows(stage) else stage)
        replayed = copy.copy(trace)
        replayed.stages = stages
        replayed.meta = {**trace.meta, **self._facts(trace, stages)}
        return replayed

    def _facts(self, trace: Trace, stages: list[Stage]) -> dict[str, Any]:
        told = [
            {"stage": stage.name, **stage.meta["replayed"]}
            for stage in stages
            if "replayed" in stage.meta
        ]
        seen = {one["stage"] for one in told}
        notes = [
            note
            for note in trace.meta.get("not_observed") or ()
            if not (note.get("what") == "rows" and note.get("stage") in seen)
        ]
        facts: dict[str, Any] = {"replayed": told} if told else {}
        return {**facts, "not_observed": notes} if "not_observed" in trace.meta else facts

    def _stage(self, stage: Stage, trace: Trace, sql: str | None) -> Stage:
        if not sql:
            return stage
        rows, why, at = self._rows(sql, trace)
        observed = dict(stage.meta.get("observed", {}))
        if rows is None:
            self.refused += 1
            before = observed.get("rows", {"state": "not captured", "why": ""})
            said = "; ".join(part for part in (before["why"], f"not replayed: {why}") if part)
            observed["rows"] = {"state": before["state"], "why": said}
            return replace(stage, meta={**stage.meta, "observed": observed})
        self.replayed += 1
        observed.pop("rows", None)
        meta = {
            key: value for key, value in stage.meta.items() if key not in ("observed", "positional")
        }
        meta["replayed"] = {"at": at, "rows": len(rows)}
        if observed:
            meta["observed"] = observed
        return replace(stage, rows=[dict(row) for row in rows], meta=meta)

    def again(self, sql: str, trace: Trace) -> Rows | None:
        """Run SQL of a trace once more; None if it does more than read, or fails."""
        return self._rows(sql, trace)[0]

    def _rows(self, sql: str, trace: Trace) -> tuple[Rows | None, str, str]:
        """Give rows, or why there are none, and when."""
        if sql in self._known:
            self._known.move_to_end(sql)
            return self._known[sql]
        problem = why_not_run(sql, trace.meta.get("dialect") or self._dialect)
        at = self._now()
        if problem is not None:
            found: tuple[Rows | None, str, str] = (None, f"read_only: {problem}", at)
        else:
            try:
                found = (self._execute(sql), "", at)
            except Exception as error:  # noqa: BLE001 whatever the database says of it
                found = (None, _first_line(error), at)
        self._known[sql] = found
        if len(self._known) > _KEPT_RESULTS:
            self._known.popitem(last=False)
        return found


def mark_replayed(card: Scorecard) -> Scorecard:
    """Say in each result that rests on replayed rows that it does, and since when."""
    told = {one["stage"]: one["at"] for one in card.meta.get("replayed") or ()}
    if not told:
        return card
    last = max(told.values())
    for position, result in enumerate(card.results):
        at = told.get(result.stage) or (last if _rests_on_rows(result.check) else None)
        if at is not None and result.check != _NOT_ROWS:
            detail = "; ".join(part for part in (result.detail, f"rows replayed at {at}") if part)
            card.results[position] = replace(result, detail=detail)
    return card


def _rests_on_rows(check: str) -> bool:
    return "number" in check or "rows" in check


def _lacks_rows(stage: Stage) -> bool:
    return (
        stage.kind == "execute"
        and stage.error is None
        and not stage.observed("rows").is_evidence
        and stage.observed("rows").state != "masked"  # whoever hid them wants them hidden
    )


def _first_line(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    text = str(original).strip().splitlines()
    return f"{type(original).__name__}: {text[0] if text else ''}"[:300]
