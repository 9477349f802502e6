"""Captures of which spans are taken away: what is left may be less, but never wrong.

A stack with fewer instrumentation packages, sampling and lost exports all look like this.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces import assemble
from dbagenteval.traces.conventions.convention import DB, LLM, TOOL
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.tree import build_forest
from tests.traces import capture_table
from tests.traces.otlp_json import group as grouped
from tests.traces.otlp_json import load

DATA = Path(__file__).parent / "data"
STACKS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())
# The question stands in a prompt that the capture leaves out; a step prints an answer's words.
HIDDEN = {
    "roots": ("smolagents_tool_oi", "smolagents_code_oi"),
    # Without content, or with a look-up that no call tells of, only time joins pieces.
    "a quarter": (
        *("smolagents_tool_oi", "haystack_oi"),
        *("openai_v2_sqlite3", "openai_v2_sqlite3_nocontent"),
    ),
    "all but models": ("smolagents_tool_oi", "haystack_oi"),
}


def without(lost, group):
    """Give the OTel trace without some of its spans, and without their log records."""
    kept = {
        node.span.span_id
        for root in build_forest(group.spans, group.logs)
        for node in root.walk()
        if not lost(Facts(node))
    }
    return OtelTrace(
        trace_id=group.trace_id,
        spans=tuple(span for span in group.spans if span.span_id in kept),
        logs=tuple(log for log in group.logs if log.span_id in kept or not log.span_id),
    )


def first_model(group):
    """Tell the first model call of an OTel trace from its other spans."""
    nodes = [node for root in build_forest(group.spans, group.logs) for node in root.walk()]
    first = next((node.span.span_id for node in nodes if Facts(node).role == LLM), "")
    return lambda one: one.node.span.span_id == first


def a_quarter(seed):
    """Lose each span of an OTel trace with a chance of one in four."""

    def lost_of(group):
        draw = random.Random(f"{group.trace_id} {seed}")
        lost = {span.span_id for span in group.spans if draw.random() < 0.25}
        return lambda one: one.node.span.span_id in lost

    return lost_of


LOST = {
    **{f"a quarter, {seed}": a_quarter(seed) for seed in range(4)},
    "tools": lambda _: lambda one: one.role == TOOL,
    "statements": lambda _: lambda one: one.role == DB,
    "tools and statements": lambda _: lambda one: one.role in (TOOL, DB),
    "models": lambda _: lambda one: one.role == LLM,
    "first models": first_model,
    "all but models": lambda _: lambda one: one.role != LLM,
    "roots": lambda _: lambda one: not one.node.span.parent_span_id,
}


def wrong(truth, trace):
    """Give what a Trace says that is not so; what it leaves open is not wrong."""
    told = capture_table.compare(truth, trace)
    if trace.question and told["question"] != "ok":
        yield "question", told["question"]
    answer = trace.last_of("answer")
    is_said = answer is not None and answer.output is not None
    if is_said and answer.observed("output").is_evidence and told["answer"] != "ok":
        yield "answer", told["answer"]
    ran: dict[str, list] = {}
    for one in truth["agent_sql"]:
        ran.setdefault(capture_table.sql_text(one["sql"]), []).append(one)
    executions = [stage for stage in trace.stages if stage.kind == "execute"]
    counts = Counter(capture_table.sql_text(stage.meta.get("sql")) for stage in executions)
    for sql, count in counts.items():
        if sql != "None" and count > len(ran.get(sql, ())):
            yield "statements", f"{count} times {sql}"
    for stage in executions:
        same = ran.get(capture_table.sql_text(stage.meta.get("sql")), [])
        is_read = stage.rows is not None and stage.observed("rows").is_evidence
        right = [
            one for one in same if "rows" in one and capture_table.rows_differ(one, stage) == "ok"
        ]
        if same and is_read and not right:
            yield "rows", stage.rows
        if same and stage.error is not None and not any("error" in one for one in same):
            yield "error", stage.error


@pytest.mark.parametrize("what", LOST)
def test_what_is_left_without_some_spans_is_right(what):
    """Of every capture: questions, statements, rows, errors and answers."""
    found = []
    for stack in STACKS:
        if stack in HIDDEN.get(what.partition(",")[0], ()):
            continue
        folder = DATA / stack
        paths = [*sorted(folder.glob("requests.jsonl*")), *sorted(folder.glob("logs.jsonl*"))]
        left = [without(LOST[what](group), group) for group in load(*paths)]
        spans = [span for group in left for span in group.spans]
        logs = [log for group in left for log in group.logs]
        traces = list(assemble(grouped(spans, logs)))
        for truth in capture_table.truths_of(folder):
            trace = capture_table.trace_for(truth, traces)
            if trace is not None:
                found += [(stack, truth["id"], *one) for one in wrong(truth, trace)]
    assert found == []
