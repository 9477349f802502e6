"""What a scorecard keeps of the trace, so that a failure can be studied from the report alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dbagenteval.checks.evidence import last_result
from dbagenteval.checks.reference import Reference
from dbagenteval.traces import Rows, Trace

__all__ = ["plain", "record_of"]

_MAX_ROWS = 20
_MAX_CHARS = 2_000
_MAX_DEPTH = 32
_FROM_SPANS = ("trace_ids", "session_id", "service", "model", "tokens", "cost", "not_observed")


def record_of(trace: Trace, references: Sequence[Reference]) -> dict[str, Any]:
    """Give JSON-ready facts: SQL, rows (capped), answer, errors, durations, tokens, reference.

    Rows are `{"count": int, "first": [row, …]}` with at most 20 rows; a text is cut at 2,000
    characters.
    """
    record: dict[str, Any] = {}
    sql = [_text(each.output) for each in trace.stages if each.kind == "generate" and each.output]
    if sql:
        record["sql"] = sql
    result = last_result(trace)
    if result is not None and result.rows is not None:
        record["rows"] = _rows(result.rows)
    answer = trace.last_of("answer")
    if answer is not None and answer.output is not None:
        record["answer"] = _text(answer.output)
    durations = {each.name: each.latency_ms for each in trace.stages if each.latency_ms is not None}
    if durations:
        record["latency_ms"] = durations
    for name in _FROM_SPANS:
        if trace.meta.get(name):
            record[name] = plain(trace.meta[name])
    if references:
        record["reference"] = [
            {"sql": reference.sql, "rows": _rows(reference.rows)} for reference in references
        ]
    return record


def _rows(rows: Rows) -> dict[str, Any]:
    first = [{name: plain(cell) for name, cell in row.items()} for row in rows[:_MAX_ROWS]]
    return {"count": len(rows), "first": first}


def _text(value: object) -> str:
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:  # noqa: BLE001 huge integers, deep values, a __str__ that raises
        return f"<{type(value).__name__}>"
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def plain(value: Any, depth: int = 0) -> Any:
    """Give what JSON can hold of a value; what is nested deeper than 32 levels becomes `…`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 2**63 else _text(value)
    if isinstance(value, dict):
        if depth >= _MAX_DEPTH:
            return "…"
        return {_text(name): plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return "…" if depth >= _MAX_DEPTH else [plain(item, depth + 1) for item in value]
    return _text(value)
