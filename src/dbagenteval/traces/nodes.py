"""Nodes of a graph or pipeline as stages, told by what they give and by their names.

Node names are the user's own, so what a node gives counts for more than what it is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import CHAIN, LLM
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.spoken import answer_text
from dbagenteval.traces.sqltext import is_sql, sql_in_arguments, sql_in_text
from dbagenteval.traces.turns import Turn, orphaned_steps

__all__ = ["ERROR_KEYS", "NodeStep", "find_node_steps"]


@dataclass(slots=True)
class NodeStep:
    """What a node did: a stage kind, the node, and what it gave."""

    kind: str
    facts: Facts
    output: Any = None
    sql: str | None = None
    rows: Any = None
    error: str | None = None
    has_rows: bool = False


_SQL_KEYS = ("sql", "sql_query", "generated_sql", "query", "queries", "sql_code", "statement")
_ROWS_KEYS = (
    "rows",
    "query_result",
    "query_results",
    "sql_result",
    "sql_results",
    "result",
    "results",
    "data",
    "records",
)
_TABLE_KEYS = ("tables", "relevant_tables", "selected_tables", "table_names", "schema", "schemas")
_ROUTE_KEYS = ("intent", "route", "category", "classification", "next", "next_node", "destination")
_ANSWER_KEYS = ("answer", "final_answer", "response", "final_response", "summary")
ERROR_KEYS = ("error", "sql_error", "error_message", "exception")
_NAMES = (
    ("answer", re.compile(r"answer|respon|summar|final|synthes|explain_result", re.IGNORECASE)),
    (
        "execute",
        re.compile(r"exec|run_?(?:sql|query)|query_?(?:db|database)|sql_?runner", re.IGNORECASE),
    ),
    (
        "generate",
        re.compile(
            r"(?:write|gen|create|draft|build|make|fix|correct|compose|translate|repair).*(?:sql|query)"
            r"|(?:sql|query)_?(?:writer|generat|builder|gen\b)|text_?(?:2|to)_?sql"
            r"|parse_response_to_sql",
            re.IGNORECASE,
        ),
    ),
    ("retrieve", re.compile(r"schema|tables?\b|retriev|fetch_?context|search", re.IGNORECASE)),
    ("plan", re.compile(r"\bplan|planner|planning|_plan\b", re.IGNORECASE)),
    ("route", re.compile(r"classif|rout(?:e|er|ing)|intent|triage|guard|dispatch", re.IGNORECASE)),
)
_EDGES = ("RunnableCallable",)
# Frameworks' own names that match the words above and are no stages.
_INNER = re.compile(
    r"^(?:Runnable|Chat|LLM|Prompt|StrOutput|JsonOutput|OpenAI|TokenTextSplitter"
    r"|CompactAndRefine|Refine|DefaultRefine|TreeSummarize|mcp_tools)",
    re.IGNORECASE,
)


def find_node_steps(turn: Turn) -> list[NodeStep]:
    """Find the nodes of a turn that stand for a stage, in order."""
    orphaned = {id(step.node) for step in orphaned_steps(turn.heads)}
    heads = {id(head.node) for head in turn.heads} - orphaned
    steps = []
    for one in turn.facts:
        is_below = one.node.parent is not None or id(one.node) in orphaned
        if one.role == CHAIN and id(one.node) not in heads and is_below:
            step = _step(one)
            if step is not None:
                steps.append(step)
        elif one.role == LLM and _is_smolagents_plan(one):
            steps.append(NodeStep("plan", one, "\n".join(m.text for m in one.outputs if m.text)))
    return _without_repeats(steps)


def _is_smolagents_plan(one: Facts) -> bool:
    """True for the planning call of a smolagents run, which stands outside its steps."""
    parent = one.node.parent
    return parent is not None and "smolagents.max_steps" in parent.span.attributes


def _step(one: Facts) -> NodeStep | None:
    raw = one.answer
    if raw in (None, ""):
        return None
    output = plain(raw)
    name = _node_name(one)
    if isinstance(output, dict):
        step = _step_of_object(one, output, name)
        if step is not None:
            return step
    if isinstance(output, str) and name in _EDGES:
        return NodeStep("route", one, output)
    return _step_by_name(one, output, name)


def _node_name(one: Facts) -> str:
    attributes = one.node.span.attributes
    for key in ("graph.node.name", "gen_ai.task.name", "haystack.component.name", "flow.node.name"):
        if attributes.get(key):
            return str(attributes[key])
    return one.node.span.name


def _step_of_object(one: Facts, output: dict[str, Any], name: str) -> NodeStep | None:
    held = _llamaindex_metadata(output)
    if held is not None:
        return _executed(one, held, held.get("sql_query"))
    sql = _sql_in(output)
    has_rows = any(key in output for key in _ROWS_KEYS) and not _named(name, "retrieve")
    if has_rows or (_named(name, "execute") and any(key in output for key in ERROR_KEYS)):
        asked = sql or sql_in_arguments(one.question)
        if asked:
            return _executed(one, output, asked)
    if sql:
        return NodeStep("generate", one, sql, sql=sql)
    for kind, keys in (("retrieve", _TABLE_KEYS), ("answer", _ANSWER_KEYS), ("route", _ROUTE_KEYS)):
        for key in keys:
            if output.get(key) and (kind != "answer" or isinstance(output[key], str)):
                value = output[key]
                if kind == "retrieve" and isinstance(value, str):
                    continue
                return NodeStep(kind, one, value)
    if isinstance(output.get("plan"), (str, list)) and output["plan"]:
        return NodeStep("plan", one, output["plan"])
    return None


def _llamaindex_metadata(output: dict[str, Any]) -> dict[str, Any] | None:
    """Give the part of a LlamaIndex response that tells of the statement."""
    metadata = output.get("metadata")
    if not isinstance(metadata, dict):
        return None
    if isinstance(metadata.get("sql_query"), str):
        return metadata
    return next(
        (
            held
            for held in metadata.values()
            if isinstance(held, dict) and isinstance(held.get("sql_query"), str)
        ),
        None,
    )


def _sql_in(output: dict[str, Any]) -> str | None:
    for key in _SQL_KEYS:
        value = output.get(key)
        if isinstance(value, list) and value and isinstance(value[0], str):
            value = value[0]
        if isinstance(value, str):
            sql = value if is_sql(value) else sql_in_text(value)
            if sql:
                return sql
    return None


def _executed(one: Facts, output: dict[str, Any], sql: str | None) -> NodeStep:
    error = next((str(output[key]) for key in ERROR_KEYS if output.get(key)), None)
    key = next((key for key in _ROWS_KEYS if key in output), None)
    rows: Any = None
    if key is not None:
        columns = output.get("col_keys") or output.get("columns")
        rows = {"columns": columns, "rows": output[key]} if columns else output[key]
    return NodeStep("execute", one, sql=sql, rows=rows, error=error, has_rows=key is not None)


def _named(name: str, kind: str) -> bool:
    return any(wanted == kind and pattern.search(name) for wanted, pattern in _NAMES)


def _step_by_name(one: Facts, output: Any, name: str) -> NodeStep | None:
    if _INNER.match(name):
        return None
    kind = next((kind for kind, pattern in _NAMES if pattern.search(name)), None)
    if kind is None:
        return None
    if kind in ("generate", "execute"):
        if kind == "execute":
            sql = sql_in_arguments(one.question)
            return NodeStep("execute", one, sql=sql, rows=output, has_rows=True) if sql else None
        sql = output if isinstance(output, str) and is_sql(output) else None
        sql = sql or (sql_in_text(output) if isinstance(output, str) else None)
        return NodeStep("generate", one, sql, sql=sql) if sql else None
    if kind == "answer":
        text = answer_text(output)
        return NodeStep("answer", one, text) if text else None
    return NodeStep(kind, one, output)


def _without_repeats(steps: list[NodeStep]) -> list[NodeStep]:
    """Leave out a node within another of the same kind: the inner one repeats it."""
    kept: list[NodeStep] = []
    by_node: dict[int, str] = {}
    for step in steps:
        if any(by_node.get(id(above)) == step.kind for above in step.facts.node.ancestors):
            continue
        by_node[id(step.facts.node)] = step.kind
        kept.append(step)
    return kept
