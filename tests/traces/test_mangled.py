"""Spans with values of any shape: nothing raises, and what comes out is a Trace."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.otlp import LogRecord, Span
from dbagenteval.traces import Trace, assemble
from tests.traces.otlp_json import group, load
from tests.traces.spans import one_trace
from tests.traces.spans import span as one_span

DATA = Path(__file__).parent / "data"
STACKS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())
ODD: list[Any] = [
    None,
    "",
    " ",
    0,
    -1,
    1.5,
    True,
    b"\x00\xff",
    [],
    {},
    [None],
    {"messages": None},
    {"messages": [None, 3, "x", {"role": 7, "content": {"a": [1]}}]},
    [{"role": "user", "parts": None}],
    [[1, 2], 3],
    "[]",
    "{}",
    "null",
    "[null]",
    '{"rows": 3}',
    '{"rows": [[1], [1, 2]]}',
    '{"messages": [{"role": null, "content": 5}]}',
    '{"data": {"content": null}, "type": "tool"}',
    '[{"toolResult": null}]',
    "[(1,",
    "Decimal('x')",
    "{'a': 1, **b}",
    "[" * 3000,
    "{" * 3000,
    '"' + "\\" * 100,
    "\ud83d",
    "SELECT",
    "select " * 500,
    "```sql\n",
    "a,b\n1\n2,3,4\n",
    "| a |\n|---|",
    "x" * 5000,
]


@cache
def captured(stack: str) -> tuple[tuple[Span, ...], tuple[LogRecord, ...]]:
    groups = load(*sorted((DATA / stack).glob("*.jsonl.gz")))
    return tuple(s for g in groups for s in g.spans), tuple(r for g in groups for r in g.logs)


def mangled(span: Span, chance: random.Random) -> Span:
    attributes = dict(span.attributes)
    for key in list(attributes):
        fate = chance.random()
        if fate < 0.1:
            attributes[key] = chance.choice(ODD)
        elif fate < 0.2:
            del attributes[key]
        elif fate < 0.3 and isinstance(attributes[key], str):
            text = attributes[key]
            attributes[key] = text[: chance.randint(0, len(text))]
    fields: dict[str, Any] = {"attributes": attributes}
    fate = chance.random()
    if fate < 0.05:
        fields["parent_span_id"] = chance.choice(["", "0" * 16, span.span_id])
    elif fate < 0.1:
        fields["end_ns"] = chance.choice([0, span.start_ns - 1])
    elif fate < 0.15:
        fields["start_ns"] = 0
    if fate > 0.8:
        fields["events"] = tuple(
            replace(event, attributes=dict.fromkeys(event.attributes, chance.choice(ODD)))
            for event in span.events
        )
    return replace(span, **fields)


def check(stack: str, seed: int) -> None:
    chance = random.Random(f"{stack} {seed}")
    spans, logs = captured(stack)
    odd_spans = [mangled(span, chance) for span in spans if chance.random() < 0.97]
    odd_logs = [
        replace(log, body=chance.choice(ODD)) if chance.random() < 0.2 else log for log in logs
    ]
    for trace in assemble(group(odd_spans, odd_logs)):
        again = Trace.from_dict(trace.to_dict())
        assert again == trace
        json.dumps(trace.to_dict(), default=str)
        named = {one["span_id"] for one in trace.meta["unused"]}
        for stage in trace.stages:
            named |= set(stage.meta["span_ids"])
        assert len(named) == trace.meta["spans"]


@pytest.mark.parametrize("stack", STACKS)
def test_mangled_spans_give_traces(stack):
    """Odd types, cut texts, lost keys, broken times and parents raise nothing."""
    for seed in range(2):
        check(stack, seed)


DEEP = ['{"message":' * 900 + "1" + "}" * 900, "[" * 900 + "]" * 900, '{"args":[1,"x y"]}']
ODD_MESSAGES = [
    '{"role": "assistant", "tool_calls": 1}',
    '[{"role": "assistant", "tool_calls": [1, "a", {"function": 1}]}]',
    '{"choices": [1]}',
    '{"generations": [[1]]}',
    '{"output": [[[]]]}',
    '[["user", 1]]',
    '[{"role": "tool", "content": [{"type": "tool-result", "output": 5}]}]',
    '{"replies": ["a", 1, {"role": "assistant", "content": ["x", {"tool_call": 1}]}]}',
    '{"messages": [{"role": "tool", "content": [{"tool_call_result": {"origin": 1}}]}]}',
]
VENDORS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    *(
        ({key: kind}, (given, got))
        for key, given, got, kinds in (
            (
                "langfuse.observation.type",
                "langfuse.observation.input",
                "langfuse.observation.output",
                ("generation", "tool", "agent", "span"),
            ),
            ("langsmith.span.kind", "gen_ai.prompt", "gen_ai.completion", ("llm", "tool", "chain")),
            (
                "mlflow.spanType",
                "mlflow.spanInputs",
                "mlflow.spanOutputs",
                ("LLM", "TOOL", "AGENT"),
            ),
            ("genkit:metadata:subtype", "genkit:input", "genkit:output", ("model", "tool", "flow")),
        )
        for kind in kinds
    ),
    ({"gen_ai.operation.name": "chat"}, ("gen_ai.prompt", "gen_ai.completion")),
    ({"gen_ai.operation.name": "chat"}, ("gen_ai.input.messages", "gen_ai.output.messages")),
    (
        {"ai.operationId": "ai.generateText.doGenerate"},
        ("ai.prompt.messages", "ai.response.toolCalls", "ai.response.text"),
    ),
    ({"ai.toolCall.name": "run_sql"}, ("ai.toolCall.args", "ai.toolCall.result")),
    ({"gen_ai.system": "openai"}, ("request_data", "response_data")),
    (
        {"spring.ai.tool.definition.name": "runSql"},
        ("spring.ai.tool.call.arguments", "spring.ai.tool.call.result"),
    ),
    (
        {"haystack.component.name": "llm", "haystack.component.type": "OpenAIChatGenerator"},
        ("haystack.component.input", "haystack.component.output"),
    ),
    ({}, ("haystack.agent.input", "haystack.agent.output")),
]


@pytest.mark.parametrize(("facts", "keys"), VENDORS)
def test_odd_values_of_vendors_give_traces(facts, keys):
    """Whatever stands under a vendor's names, nothing raises."""
    for value in [*ODD, *DEEP, *ODD_MESSAGES]:
        odd = one_span(1, facts | dict.fromkeys(keys, value), name="haystack.agent.run")
        for trace in assemble(one_trace(odd)):
            assert Trace.from_dict(trace.to_dict()) == trace


@pytest.mark.slow
@pytest.mark.parametrize("stack", STACKS)
def test_many_mangled_spans_give_traces(stack):
    """The same, many times."""
    for seed in range(100, 140):
        check(stack, seed)
