"""A case that names its data: a trace as it would be had the agent worked on that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.errors import described
from dbagenteval.slices.dataset import Dataset, dataset_executor
from dbagenteval.suite.reading import why_not_run
from dbagenteval.traces import Stage, Trace

__all__ = ["on_case_data", "replay_on"]

_OF_RECORDED_ROWS = ("observed", "positional", "replayed")


def on_case_data(trace: Trace, case: Case) -> tuple[Trace, Dataset]:
    """Give the trace as it would be on the data of its case, and what runs SQL there.

    Args:
        trace: What the agent did, on whatever database.
        case: Its `data` is the path of a script.

    Raises:
        SliceError: The script can't be read or loaded.
    """
    data = dataset_executor(case.data or "", dialect=case.dialect)
    return replay_on(trace, data), data


def replay_on(trace: Trace, data: Dataset) -> Trace:
    """Give the trace with the rows that its SQL returns on some data.

    Rows that were recorded in production can't be compared with what a reference returns on a
    slice of it. So each SQL that the agent ran is run on the slice, if `ReadOnly` passes it; what
    it returns, or how it fails there, takes the place of what was recorded. The answer, made from
    other rows, is no evidence any more.

    Args:
        trace: As it was recorded; it stays as it is.
        data: Of the case.

    Returns:
        What `check_reference` may compare. Rules on answers and rows are for the original trace.
    """
    stages: list[Stage] = []
    sql: Any = None
    was_run = True
    for stage in trace.stages:
        if stage.kind == "generate":
            sql, was_run = _seen_sql(stage), False
        elif stage.kind == "execute":
            stages.append(_executed(stage, stage.meta.get("sql") or sql, data))
            was_run = True
            continue
        elif stage.kind == "answer":
            if not was_run:
                stages.append(_executed(Stage("execute", _new_name(trace)), sql, data))
                was_run = True
            stages.append(_hidden(stage, "output", "the answer was made from other data"))
            continue
        stages.append(stage)
    if not was_run:
        stages.append(_executed(Stage("execute", _new_name(trace)), sql, data))
    meta = {key: value for key, value in trace.meta.items() if key != "not_observed"}
    return Trace(trace.question, stages, meta)


def _new_name(trace: Trace) -> str:
    names = {stage.name for stage in trace.stages}
    return next(name for name in ("execute", "execute on data", "-") if name not in names)


def _seen_sql(stage: Stage) -> str | None:
    if isinstance(stage.output, str) and stage.observed("output").is_evidence:
        return stage.output
    return None


def _executed(stage: Stage, sql: str | None, data: Dataset) -> Stage:
    if not sql:
        return _hidden(stage, "rows", "its SQL was not seen, so it can't run on the case's data")
    meta = {name: value for name, value in stage.meta.items() if name not in _OF_RECORDED_ROWS}
    problem = why_not_run(sql, data.dialect)
    if problem is not None:
        error = f"not run on the case's data: read_only: {problem}"
        return replace(stage, rows=None, error=error, meta=meta)
    try:
        return replace(stage, rows=data(sql), error=None, meta=meta)
    except Exception as error:  # noqa: BLE001 whatever a database raises is what the agent's SQL does
        return replace(stage, rows=None, error=described(error), meta=meta)


def _hidden(stage: Stage, what: str, why: str) -> Stage:
    observed = {**stage.meta.get("observed", {}), what: {"state": "not captured", "why": why}}
    rows = None if what == "rows" else stage.rows
    return replace(stage, rows=rows, error=None, meta={**stage.meta, "observed": observed})
