"""Conventions of Microsoft's libraries, Spring AI and Quarkus, on and beside the GenAI names."""

from __future__ import annotations

import json
from typing import Any

from dbagenteval.traces import assemble
from tests.traces.spans import one_trace, span
from tests.traces.vendor_runs import ANSWER, QUESTION, ROWS, SAID, SQL, USER, asked, check, gave

CALLED = asked("c1", SQL, "db-run_sql")
REPLY = gave("c1")


def kernel(number: int, attributes: dict[str, Any], **fields: Any):
    return span(number, attributes, scope="semantic_kernel.diagnostics", **fields)


def test_semantic_kernel_with_content_events():
    """Prompt and completion are one JSON text each, on two span events."""

    def model(number: int, prompt: list[Any], completion: dict[str, Any]):
        facts = {"gen_ai.operation.name": "chat.completions", "gen_ai.system": "openai"}
        choice = [{"message": completion, "index": 0}]
        events = [
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(prompt)}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps(choice)}),
        ]
        return kernel(number, facts, parent=1, events=events)

    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.name": "db-run_sql",
    }
    check(
        kernel(1, {}, name="AutoFunctionInvocationLoop", for_ms=90),
        model(2, [USER], CALLED),
        kernel(4, tool, parent=1, name="execute_tool db-run_sql"),
        model(6, [USER, CALLED, REPLY], SAID),
    )


def event(name: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return name, {"gen_ai.system": "az.ai.inference", "gen_ai.event.content": json.dumps(body)}


def test_azure_inference_events_with_the_body_in_one_attribute():
    """Each event's body is JSON in `gen_ai.event.content`; the calls are traces of their own."""
    facts = {"gen_ai.operation.name": "chat", "gen_ai.system": "az.ai.inference"}
    first = [
        event("gen_ai.user.message", USER),
        event("gen_ai.choice", {"message": CALLED | {"role": "Assistant"}, "index": 0}),
    ]
    second = [
        event("gen_ai.user.message", USER),
        event("gen_ai.assistant.message", CALLED),
        event("gen_ai.tool.message", REPLY),
        event("gen_ai.choice", {"message": {"content": ANSWER}, "index": 0}),
    ]
    check(
        span(2, facts, name="chat m", trace_id="1" * 32, events=first),
        span(6, facts, name="chat m", trace_id="2" * 32, events=second),
    )


def test_agent_framework_tells_the_whole_run_as_output():
    """The model's span around its tool calls ends with the results and the answer."""
    user = {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    call = {"type": "tool_call", "id": "c1", "name": "run_sql", "arguments": {"sql": SQL}}
    result = {"type": "tool_call_response", "id": "c1", "response": ROWS}
    output = [
        {"role": "assistant", "parts": [call]},
        {"role": "tool", "parts": [result]},
        {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]},
    ]
    told = {
        "gen_ai.input.messages": json.dumps([user]),
        "gen_ai.output.messages": json.dumps(output),
        "gen_ai.conversation.id": "s1",
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "run_sql",
        "gen_ai.tool.call.id": "c1",
    }
    check(
        span(1, told | {"gen_ai.operation.name": "invoke_agent"}, for_ms=95),
        span(2, told | {"gen_ai.operation.name": "chat"}, parent=1, for_ms=90),
        span(4, tool, parent=1),
        session="s1",
    )


def java_tool(number: int, facts: dict[str, Any], prefix: str):
    told = {
        f"{prefix}.call.id": "c1",
        f"{prefix}.call.arguments": json.dumps({"sql": SQL}),
        f"{prefix}.call.result": json.dumps(ROWS),
    }
    return span(number, facts | told, parent=1)


def chat(number: int, prompt: Any, completion: Any):
    facts = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.prompt": prompt}
    return span(number, facts | {"gen_ai.completion": completion}, parent=1, kind=3)


def test_spring_ai():
    """Tool calls under Spring's own names; prompts and completions are lists of texts."""
    tool = {"spring.ai.kind": "tool_call", "spring.ai.tool.definition.name": "runSql"}
    client = {"spring.ai.kind": "chat_client", "gen_ai.operation.name": "framework"}
    check(
        span(1, client, name="spring_ai chat_client", for_ms=90),
        chat(2, json.dumps(["You are an analyst.", QUESTION]), '[""]'),
        java_tool(4, tool, "spring.ai.tool"),
        chat(6, json.dumps(["You are an analyst.", QUESTION, "", ""]), json.dumps([ANSWER])),
    )


def test_a_prompt_of_one_text_is_no_question():
    """Quarkus joins what the system and the user said: which is the question can't be told."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "runSql"}
    prompt = f"You are an analyst.\n{QUESTION}"
    (trace,) = assemble(
        one_trace(
            span(1, name="langchain4j.aiservices.Assistant.chat", for_ms=90),
            chat(2, prompt, ""),
            java_tool(4, tool, "gen_ai.tool"),
            chat(6, prompt, ANSWER),
        )
    )
    assert trace.question == ""
    assert [note["what"] for note in trace.meta["not_observed"]] == ["question"]
    assert trace.stage("execute").rows == ROWS
    assert trace.stage("answer").output == ANSWER
