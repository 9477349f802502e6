"""What an agent gave back: text, rows, statements, tool calls, tokens, cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.traces import Trace, check_rows_shape

__all__ = ["AgentReply", "reply_of_json", "reply_of_trace"]

Rows = list[dict[str, Any]]
_OUTCOMES = ("answer", "refuse", "clarify", "unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """One reply.

    Args:
        text: What the user would read; empty if nothing.
        rows: The rows that the answer rests on, or None if they can't be seen.
        rows_from: Where they were seen: `rows`, `stage`, `tool_call`, `verification`, or empty.
        sqls: The statements that it ran, in order.
        tool_calls: `{"toolName", "args", "result"}` in order.
        tokens: All tokens of the turn, or None if unknown.
        token_kinds: Tokens by kind (`input`, `output`, `cache_read`, …).
        cost: What the agent says it cost in USD, or None.
        bytes_scanned: What its statements read in the warehouse, or None if unknown.
        outcome: What the agent says it did: `answer`, `refuse`, `clarify`, `unavailable`; or empty.
        error: The error that the agent reports, or empty.
        trace: The record of it.
    """

    text: str = ""
    rows: Rows | None = None
    rows_from: str = ""
    sqls: tuple[str, ...] = ()
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tokens: int | None = None
    token_kinds: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    bytes_scanned: int | None = None
    outcome: str = ""
    error: str = ""
    trace: Trace | None = None


def reply_of_trace(trace: Trace) -> AgentReply:
    """Read a Trace: the last rows that it executed, its answer, its statements."""
    answer = trace.last_of("answer")
    text = "" if answer is None or answer.output is None else str(answer.output)
    rows: Rows | None = None
    for stage in trace.stages:
        if stage.kind == "execute" and stage.error is None:
            # Rows that were not seen hide the answer: those of an earlier query are another's.
            rows = stage.rows if stage.observed("rows").is_evidence else None
    generated = [stage for stage in trace.stages if stage.kind == "generate"]
    sqls = tuple(stage.output for stage in generated if isinstance(stage.output, str))
    tokens = trace.meta.get("tokens")
    kinds = dict(tokens) if isinstance(tokens, Mapping) else {}
    total = kinds.get("total", sum(kinds.values()) or None) if kinds else tokens
    cost = trace.meta.get("cost")
    outcome = trace.meta.get("outcome")
    last = trace.stages[-1] if trace.stages else None
    calls = trace.meta.get("tool_calls") or _calls_of_stages(trace)
    return AgentReply(
        text=text,
        rows=rows,
        rows_from="stage" if rows is not None else "",
        sqls=sqls,
        tool_calls=tuple(calls),
        tokens=total if isinstance(total, int) else None,
        token_kinds={key: value for key, value in kinds.items() if isinstance(value, int)},
        cost=float(cost) if isinstance(cost, (int, float)) else None,
        bytes_scanned=_first_whole(trace.meta),
        outcome=outcome if outcome in _OUTCOMES else "",
        error=str(last.error) if last is not None and last.error and not text else "",
        trace=trace,
    )


def _calls_of_stages(trace: Trace) -> list[dict[str, Any]]:
    """Give a call for each statement that a trace shows, with its rows."""
    calls: list[dict[str, Any]] = []
    for stage in trace.stages:
        if stage.kind == "generate":
            calls.append({"toolName": "execute_sql", "args": {"sql": stage.output}})
        elif stage.kind == "execute" and calls and "result" not in calls[-1]:
            calls[-1]["result"] = stage.rows if stage.error is None else {"error": stage.error}
    return calls


def reply_of_json(data: Mapping[str, Any], prompt: str) -> AgentReply:
    """Read the JSON answer of an agent.

    Read are, where they are there: `trace` (a Trace's `to_dict`, which is then all that counts) or
    `text`/`answer`/`response`/`response_text`, `rows` (objects, or lists with `columns`), `sql`
    (text or list), `tool_calls`/`toolCalls`, `usage`/`tokens`, `cost`, `outcome`, `error`, and
    `verification.data` as an older agent server gives it.
    """
    if isinstance(data.get("trace"), Mapping):
        return reply_of_trace(Trace.from_dict(dict(data["trace"])))
    if isinstance(data.get("stages"), list):
        return reply_of_trace(Trace.from_dict({"question": prompt, **data}))
    text = next(
        (
            str(data[key])
            for key in ("text", "answer", "response", "response_text")
            if data.get(key) is not None
        ),
        "",
    )
    calls = tuple(_calls(data.get("tool_calls") or data.get("toolCalls") or ()))
    rows, rows_from = _rows_of(data, calls)
    kinds = _token_kinds(data)
    total = kinds.pop("total", None)
    outcome = data.get("outcome")
    return AgentReply(
        text=text,
        rows=rows,
        rows_from=rows_from,
        sqls=tuple(_sqls(data.get("sql"), calls)),
        tool_calls=calls,
        tokens=total if total is not None else (sum(kinds.values()) if kinds else None),
        token_kinds=kinds,
        cost=_cost(data.get("cost")),
        bytes_scanned=_bytes_scanned(data, calls),
        outcome=outcome if outcome in _OUTCOMES else "",
        error=str(data.get("error") or ""),
    )


def _rows_of(
    data: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]
) -> tuple[Rows | None, str]:
    rows = _as_rows(data.get("rows"), data.get("columns"))
    if rows is not None:
        return rows, "rows"
    listed = list(calls)
    # A last call that ran no SQL, such as one that suggests follow-ups, is not the answer's.
    queries = [call for call in listed if next(iter(_sqls(None, [call])), None) is not None]
    for call in reversed(queries or listed):
        result = call.get("result")
        rows = _rows_in(result)
        if rows is not None and (rows or queries):
            return rows, "tool_call"
        if queries and not (isinstance(result, Mapping) and result.get("error")):
            break  # what the last query gave is not seen, and an earlier one is no answer
    verification = data.get("verification")
    if isinstance(verification, Mapping):
        rows = _as_rows(verification.get("data"), None)
        if rows is not None:
            return rows, "verification"
    return None, ""


def _rows_in(result: Any) -> Rows | None:
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except ValueError:
            return None
    if isinstance(result, Mapping):
        if result.get("truncated") or result.get("is_truncated"):
            return None  # a part of the rows is no evidence for all
        for key in ("rows", "data", "result"):
            rows = _as_rows(result.get(key), result.get("columns"))
            if rows is not None:
                return rows
        return None
    return _as_rows(result, None)


def _as_rows(value: Any, columns: Any) -> Rows | None:
    if not isinstance(value, list):
        return None
    if isinstance(columns, list) and all(isinstance(row, list) for row in value):
        names = [str(item.get("name") if isinstance(item, Mapping) else item) for item in columns]
        if any(len(row) != len(names) for row in value):
            return None
        value = [dict(zip(names, row, strict=True)) for row in value]
    try:
        check_rows_shape(value, "rows")
    except ValueError:
        return None
    return list(value)


def _calls(value: Any) -> Iterable[dict[str, Any]]:
    for item in value if isinstance(value, (list, tuple)) else ():
        if isinstance(item, Mapping):
            name = item.get("toolName") or item.get("name") or item.get("tool") or ""
            args = item.get("args", item.get("arguments", item.get("input")))
            if isinstance(args, str):
                try:
                    args = json.loads(args)
                except ValueError:
                    args = {"text": args}
            result = item.get("result", item.get("output"))
            yield {
                "toolName": str(name),
                "toolCallId": str(item.get("toolCallId") or item.get("id") or ""),
                "args": args,
                "result": result,
            }


def _sqls(sql: Any, calls: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    if isinstance(sql, str):
        yield sql
        return
    if isinstance(sql, list):
        yield from (item for item in sql if isinstance(item, str))
        return
    for call in calls:
        args = call.get("args")
        if isinstance(args, Mapping):
            for key in ("sql", "query", "sql_query", "statement"):
                if isinstance(args.get(key), str):
                    yield args[key]
                    break


_TOKEN_NAMES = {
    "input": ("inputTokens", "input_tokens", "prompt_tokens", "inputTotalTokens", "input"),
    "output": ("outputTokens", "output_tokens", "completion_tokens", "outputTotalTokens", "output"),
    "cache_read": (
        "cachedInputTokens",
        "cache_read_input_tokens",
        "inputCacheReadTokens",
        "cache_read",
    ),
    "cache_write": ("cache_creation_input_tokens", "inputCacheWriteTokens", "cache_write"),
    "total": ("totalTokens", "total_tokens", "total"),
}


def _token_kinds(data: Mapping[str, Any]) -> dict[str, int]:
    usage = data.get("usage", data.get("tokens"))
    if isinstance(usage, int) and not isinstance(usage, bool):
        return {"total": usage}
    if not isinstance(usage, Mapping):
        return {}
    found = {}
    for kind, names in _TOKEN_NAMES.items():
        value = next((usage[name] for name in names if isinstance(usage.get(name), int)), None)
        if value is not None:
            found[kind] = int(value)
    if "total" not in found and found:
        found["total"] = found.get("input", 0) + found.get("output", 0)
    return found


_BYTES_NAMES = (
    "bytes_scanned",
    "bytesScanned",
    "total_bytes_processed",
    "totalBytesProcessed",
    "total_bytes_billed",
)
"""Of replies and of results of tool calls: common names, and those of BigQuery's jobs."""


def _bytes_scanned(data: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]) -> int | None:
    """Give what the agent says of all statements, else the sum of what each call says."""
    whole = _first_whole(data)
    if whole is not None:
        return whole
    results = [call["result"] for call in calls if isinstance(call.get("result"), Mapping)]
    found = [_first_whole(result) for result in results]
    known = [count for count in found if count is not None]
    return sum(known) if known else None


def _first_whole(data: Mapping[str, Any]) -> int | None:
    given = (data.get(name) for name in _BYTES_NAMES)
    whole = (value for value in given if isinstance(value, int) and not isinstance(value, bool))
    return next((value for value in whole if value >= 0), None)


def _cost(value: Any) -> float | None:
    if isinstance(value, Mapping):
        value = value.get("totalCost", value.get("total"))
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
