"""What instrumentation of model clients and SDKs writes: Vercel's AI SDK, Logfire, LiteLLM."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dbagenteval.traces import assemble
from tests.traces.spans import one_trace, span
from tests.traces.vendor_runs import (
    ANSWER,
    BAD_SQL,
    ERROR,
    QUESTION,
    ROWS,
    SAID,
    SQL,
    USER,
    asked,
    check,
    gave,
)


def vercel(number: int, operation: str, facts: dict[str, Any], **fields: Any):
    named = {"ai.operationId": operation, "ai.telemetry.metadata.sessionId": "s1"}
    return span(number, named | facts, name=operation, scope="ai", **fields)


def vercel_call(call_id: str, sql: str, key: str) -> dict[str, Any]:
    part = {"type": "tool-call", "toolCallId": call_id, "toolName": "runSql", key: {"sql": sql}}
    return {"role": "assistant", "content": [part]}


def vercel_result(call_id: str, **told: Any) -> dict[str, Any]:
    part = {"type": "tool-result", "toolCallId": call_id, "toolName": "runSql", **told}
    return {"role": "tool", "content": [part]}


@pytest.mark.parametrize(
    ("key", "failed", "given"),
    [
        (
            "input",
            {"output": {"type": "error-text", "value": ERROR}},
            {"output": {"type": "json", "value": ROWS}},
        ),
        ("args", {"result": f"Error: {ERROR}", "isError": True}, {"result": ROWS}),
    ],
    ids=["version 5", "version 4"],
)
@pytest.mark.parametrize("has_tool_spans", [True, False])
def test_vercel_ai_sdk(key, failed, given, has_tool_spans):
    """A run around model calls; tools that run elsewhere show in the next call's messages."""
    user = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
    history = [
        user,
        vercel_call("c1", BAD_SQL, key),
        vercel_result("c1", **failed),
        vercel_call("c2", SQL, key),
        vercel_result("c2", **given),
    ]

    def model(number: int, messages: list[Any], **told: Any):
        facts = {
            "ai.prompt.messages": json.dumps(messages),
            "gen_ai.system": "openai.chat",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
        }
        told = {f"ai.response.{name}": value for name, value in told.items()}
        return vercel(number, "ai.generateText.doGenerate", facts | told, parent=1)

    def calls(call_id: str, sql: str) -> str:
        call = {"toolCallId": call_id, "toolName": "runSql", key: json.dumps({"sql": sql})}
        return json.dumps([call])

    def tool(number: int, call_id: str, sql: str, **told: Any):
        facts = {
            "ai.toolCall.name": "runSql",
            "ai.toolCall.id": call_id,
            "ai.toolCall.args": json.dumps({"sql": sql}),
        }
        failed = {} if told else {"status_code": 2, "status_message": ERROR}
        return vercel(number, "ai.toolCall", facts | told, parent=1, **failed)

    run = {"ai.prompt": json.dumps({"prompt": QUESTION}), "ai.response.text": ANSWER}
    tools = [tool(4, "c1", BAD_SQL), tool(8, "c2", SQL, **{"ai.toolCall.result": json.dumps(ROWS)})]
    trace = check(
        vercel(1, "ai.generateText", run, for_ms=90),
        model(2, history[:1], toolCalls=calls("c1", BAD_SQL)),
        model(6, history[:3], toolCalls=calls("c2", SQL)),
        model(10, history, text=ANSWER),
        *(tools if has_tool_spans else ()),
        tries=(BAD_SQL, SQL),
        session="s1",
    )
    assert trace.meta["tokens"] == {"input": 30, "output": 15}


def test_two_vercel_calls_in_one_request_are_one_turn():
    """A route that has SQL written, runs it itself and has the rows told asks one question."""
    prompt = f"Write SQL for this question.\n{QUESTION}"

    def call(number: int, text: str, said: str):
        messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        outer = {"ai.prompt": json.dumps({"prompt": text}), "ai.response.text": said}
        inner = {"ai.prompt.messages": json.dumps(messages), "ai.response.text": said}
        return (
            vercel(number, "ai.generateText", outer, parent=1, for_ms=5),
            vercel(number + 1, "ai.generateText.doGenerate", inner, parent=number),
        )

    (trace,) = assemble(
        one_trace(
            span(1, {"http.route": "/api/ask"}, kind=2, name="POST /api/ask", for_ms=90),
            *call(2, prompt, SQL),
            span(10, {"db.system": "sqlite", "db.statement": SQL}, parent=1),
            *call(12, f"Answer {QUESTION} from {ROWS}", ANSWER),
        )
    )
    kinds = [(stage.kind, stage.output) for stage in trace.stages]
    assert kinds == [("generate", SQL), ("execute", None), ("answer", ANSWER)]


def test_logfire_of_a_model_client():
    """Request and response of the client as JSON; the tool's message tells the rows."""
    history = [USER, asked("c1", SQL), gave("c1")]

    def model(number: int, messages: list[Any], said: dict[str, Any]):
        facts = {
            "request_data": json.dumps({"messages": messages, "model": "gpt-4o-mini"}),
            "response_data": json.dumps({"message": said, "usage": {"prompt_tokens": 10}}),
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-4o-mini",
        }
        return span(number, facts, parent=1, scope="logfire.openai", name="Chat Completion")

    check(
        span(1, name="ask", scope="logfire", for_ms=90),
        model(2, history[:1], history[1]),
        model(6, history, SAID),
    )


def test_logfire_of_the_openai_agents_sdk():
    """Functions and responses told by the span's template, messages as a list of events."""
    scope = "logfire.openai_agents"
    user = {"event.name": "gen_ai.user.message", **USER}
    called = {"event.name": "gen_ai.choice", "index": 0, "message": asked("c1", SQL)}
    history = [
        user,
        {"event.name": "gen_ai.assistant.message", **asked("c1", SQL)},
        {
            "event.name": "gen_ai.tool.message",
            "role": "tool",
            "content": json.dumps(ROWS),
            "id": "c1",
        },
        {"event.name": "gen_ai.choice", "index": 0, "message": SAID},
    ]

    def response(number: int, events: list[Any]):
        facts = {
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-4o",
            "events": json.dumps(events),
        }
        return span(number, facts, parent=2, scope=scope, name="Responses API with {model!r}")

    tool = {"name": "run_sql", "input": json.dumps({"sql": SQL}), "output": json.dumps(ROWS)}
    check(
        span(1, {"group_id": "s1"}, name="OpenAI Agents trace: {name}", scope=scope, for_ms=95),
        span(2, {"name": "sql"}, name="Agent run: {name!r}", parent=1, scope=scope, for_ms=90),
        response(3, [user, called]),
        span(5, tool, name="Function: {name}", parent=2, scope=scope),
        response(7, history),
        session="s1",
    )


SQL_2 = "SELECT COUNT(*) AS n FROM customers"
CALL = {
    "gen_ai.completion.0.function_call.name": "run_sql",
    "gen_ai.completion.0.function_call.arguments": json.dumps({"sql": SQL}),
    "gen_ai.completion.0.finish_reason": "tool_calls",
}


def test_litellm_with_messages_of_the_standard():
    """LiteLLM leaves calls out of its messages, and their ids out of its attributes."""
    user = {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    result = {"type": "tool_call_response", "id": "c1", "response": json.dumps(ROWS)}
    empty = {"role": "assistant", "parts": []}
    said = {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}

    def model(number: int, given: list[Any], got: Any, **more: Any):
        facts = {
            "gen_ai.operation.name": "acompletion",
            "gen_ai.system": "openai",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps([got]),
        }
        return span(number, facts | more, parent=1, name="litellm_request", scope="litellm")

    history = [user, empty, {"role": "tool", "parts": [result]}]
    check(
        span(1, name="ask", for_ms=90),
        model(2, [user], empty, **CALL),
        model(6, history, said),
    )


def test_results_without_ids_answer_their_calls_in_order():
    """A conversation tells each result again: it is that of the same statement each time."""

    def part(kind: str, **fields: Any) -> dict[str, Any]:
        role = "user" if kind == "text" else "assistant" if kind == "tool_call" else "tool"
        return {"role": role, "parts": [{"type": kind, **fields}]}

    def model(number: int, given: list[Any], got: dict[str, Any]):
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps([got]),
        }
        return span(number, facts, parent=1)

    calls = [part("tool_call", name="run_sql", arguments={"sql": sql}) for sql in (BAD_SQL, SQL)]
    results = [
        part("tool_call_response", name="run_sql", response=told)
        for told in (f"Error: {ERROR}", ROWS)
    ]
    history = [part("text", content=QUESTION), calls[0], results[0], calls[1], results[1]]
    said = {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}
    models = [model(2, history[:1], calls[0]), model(4, history[:3], calls[1])]
    last = model(6, history, said)
    root = span(1, name="ask", for_ms=90)
    check(root, *models, last, tries=(BAD_SQL, SQL))
    # Where the calls are left out of the history, the number of results tells which they answer.
    bare = [message for message in history if message["role"] != "assistant"]
    check(
        root,
        models[0],
        model(4, bare[:2], calls[1]),
        model(6, bare, said),
        tries=(BAD_SQL, SQL),
    )


def test_one_result_of_two_calls_is_that_of_neither():
    """smolagents puts the results of parallel calls into one observation."""
    calls = [asked(call_id, sql)["tool_calls"][0] for call_id, sql in (("c1", SQL), ("c2", SQL_2))]

    def model(number: int, facts: dict[str, Any]):
        return span(number, {"openinference.span.kind": "LLM"} | facts, parent=1)

    user = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
    }
    out = "llm.output_messages.0.message."
    called = {out + "role": "assistant"}
    for number, call in enumerate(calls):
        called[f"{out}tool_calls.{number}.tool_call.id"] = call["id"]
        for key, value in call["function"].items():
            called[f"{out}tool_calls.{number}.tool_call.function.{key}"] = value
    observed = {
        "llm.input_messages.1.message.role": "tool-response",
        "llm.input_messages.1.message.content": "Observation:\n(47,)\n(11,)",
        out + "role": "assistant",
        out + "content": ANSWER,
    }
    (trace,) = assemble(
        one_trace(
            span(1, name="ask", for_ms=90), model(2, user | called), model(6, user | observed)
        )
    )
    executions = [stage for stage in trace.stages if stage.kind == "execute"]
    assert [stage.meta["sql"] for stage in executions] == [SQL, SQL_2]
    assert [stage.rows for stage in executions] == [None, None]


def test_litellm_before_messages_of_the_standard():
    """Prompts by number, with the calls of earlier turns as one JSON text."""
    facts = {
        "llm.request.type": "completion",
        "gen_ai.system": "openai",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": QUESTION,
    }
    told = {
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls": json.dumps(asked("c1", SQL)["tool_calls"]),
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.content": json.dumps(ROWS),
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
    }
    check(
        span(2, facts | CALL, name="litellm_request", trace_id="1" * 32),
        span(6, facts | told, name="litellm_request", trace_id="2" * 32),
    )
