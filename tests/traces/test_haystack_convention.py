"""Haystack's own spans of an agent, as versions 2 and 3 write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.traces.spans import span
from tests.traces.vendor_runs import ANSWER, BAD_SQL, ERROR, QUESTION, ROWS, SQL, check


def message(role: str, **part: Any) -> dict[str, Any]:
    return {"role": role, "meta": {}, "name": None, "content": [part]}


def asked(call_id: str, sql: str) -> dict[str, Any]:
    return {"tool_name": "run_sql", "arguments": {"sql": sql}, "id": call_id}


def gave(call_id: str, sql: str, result: str, *, error: bool = False) -> dict[str, Any]:
    told = {"result": result, "origin": asked(call_id, sql), "error": error}
    return message("tool", tool_call_result=told)


HISTORY = [
    message("user", text=QUESTION),
    message("assistant", tool_call=asked("c1", BAD_SQL)),
    gave("c1", BAD_SQL, ERROR, error=True),
    message("assistant", tool_call=asked("c2", SQL)),
    gave("c2", SQL, json.dumps(ROWS)),
    message("assistant", text=ANSWER),
]


def haystack(number: int, name: str, facts: dict[str, Any], **fields: Any):
    sent = {key: v if isinstance(v, str) else json.dumps(v) for key, v in facts.items()}
    return span(number, sent, name=name, scope="haystack", **fields)


def agent():
    told = {
        "haystack.agent.input": {"messages": HISTORY[:1]},
        "haystack.agent.output": {"messages": HISTORY},
    }
    return haystack(1, "haystack.agent.run", told, for_ms=90)


def component(number: int, kind: str, given: Any, got: Any):
    facts = {
        "haystack.component.name": kind.lower(),
        "haystack.component.type": kind,
        "haystack.component.input": given,
        "haystack.component.output": got,
    }
    return haystack(number, "haystack.component.run", facts, parent=1)


@pytest.mark.parametrize("is_whole", [True, False])
def test_an_agent_of_version_2(is_whole):
    """Components that call models and tools; without them the agent's span tells the same."""
    parts = [
        component(2, "OpenAIChatGenerator", {"messages": HISTORY[:1]}, {"replies": [HISTORY[1]]}),
        component(4, "ToolInvoker", {"messages": [HISTORY[1]]}, {"tool_messages": [HISTORY[2]]}),
        component(6, "OpenAIChatGenerator", {"messages": HISTORY[:3]}, {"replies": [HISTORY[3]]}),
        component(8, "ToolInvoker", {"messages": [HISTORY[3]]}, {"tool_messages": [HISTORY[4]]}),
        component(10, "OpenAIChatGenerator", {"messages": HISTORY[:5]}, {"replies": [HISTORY[5]]}),
    ]
    check(agent(), *(parts if is_whole else ()), tries=(BAD_SQL, SQL))


def test_an_agent_of_version_3():
    """Steps with a span for the model and one for each tool call."""

    def model(number: int, messages: list[Any], reply: dict[str, Any]):
        name = "haystack.agent.step.llm"
        facts = {f"{name}.input": {"messages": messages}, f"{name}.output": {"replies": [reply]}}
        return haystack(number, name, facts, parent=2)

    def tool(number: int, sql: str, result: Any, **fields: Any):
        name = "haystack.agent.step.tool"
        facts = {
            "haystack.tool.name": "run_sql",
            f"{name}.input": {"sql": sql},
            f"{name}.output": result,
        }
        return haystack(number, name, facts, parent=2, **fields)

    check(
        agent(),
        haystack(2, "haystack.agent.step", {"haystack.agent.step": 0}, parent=1, for_ms=80),
        model(3, HISTORY[:1], HISTORY[1]),
        tool(5, BAD_SQL, f"Error: {ERROR}"),
        model(7, HISTORY[:3], HISTORY[3]),
        tool(9, SQL, ROWS),
        model(11, HISTORY[:5], HISTORY[5]),
        tries=(BAD_SQL, SQL),
    )
