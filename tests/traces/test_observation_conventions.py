"""Conventions with a kind, an input and an output on each span: Langfuse, LangSmith and others."""

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

TRIES = (BAD_SQL, SQL)
FAILED = f"Error: (sqlite3.OperationalError) {ERROR}"


def langfuse(number: int, kind: str, given: Any, got: Any, **fields: Any):
    facts = {
        "langfuse.observation.type": kind,
        "langfuse.observation.input": json.dumps(given),
        "langfuse.observation.output": json.dumps(got),
        "session.id": "s1",
    }
    return span(number, facts | fields.pop("more", {}), scope="langfuse-sdk", **fields)


def test_langfuse_observations():
    """Generations, tools and the agent around them; a failing tool has the level ERROR."""
    history = [USER, asked("c1", BAD_SQL), gave("c1", FAILED), asked("c2", SQL), gave("c2")]
    model = {"langfuse.observation.model.name": "gpt-4o-mini"}
    failed = {"status_code": 2, "status_message": ERROR}
    trace = check(
        langfuse(1, "agent", {"args": [QUESTION], "kwargs": {}}, ANSWER, for_ms=90),
        langfuse(2, "generation", history[:1], history[1], parent=1, more=model),
        langfuse(4, "tool", {"kwargs": {"sql": BAD_SQL}}, None, parent=1, name="run_sql", **failed),
        langfuse(6, "generation", history[:3], history[3], parent=1, more=model),
        langfuse(8, "tool", {"kwargs": {"sql": SQL}}, ROWS, parent=1, name="run_sql"),
        langfuse(10, "generation", history, SAID, parent=1, more=model),
        tries=TRIES,
        session="s1",
    )
    assert trace.meta["model"] == "gpt-4o-mini"


def test_langfuse_observed_functions_without_a_type():
    """A function under `@observe()` is a plain span: what it got and gave tells its stage."""
    prompt = [{"role": "user", "content": f"Write SQL for: {QUESTION}"}]
    wrote = {"role": "assistant", "content": f"```sql\n{SQL}\n```"}
    check(
        langfuse(1, "span", {"args": [QUESTION], "kwargs": {}}, ANSWER, name="ask", for_ms=90),
        langfuse(2, "generation", prompt, wrote, parent=1),
        langfuse(4, "span", {"args": [SQL], "kwargs": {}}, ROWS, parent=1, name="execute_sql"),
        langfuse(6, "generation", [{"role": "user", "content": "Say it."}], SAID, parent=1),
        session="s1",
    )


def test_a_question_among_other_arguments_is_the_one_with_words():
    """Of several text arguments of a function, an id or a tenant is no question."""
    given = {"args": ["tenant-7", QUESTION], "kwargs": {}}
    (trace,) = assemble(one_trace(langfuse(1, "agent", given, ANSWER)))
    assert trace.question == QUESTION


def human():
    return {"content": QUESTION, "type": "human"}


def ai(call_id: str, sql: str) -> dict[str, Any]:
    call = {"name": "sql_db_query", "args": {"query": sql}, "id": call_id, "type": "tool_call"}
    return {"content": "", "type": "ai", "tool_calls": [call]}


def tool(call_id: str, content: str) -> dict[str, Any]:
    return {"content": content, "type": "tool", "name": "sql_db_query", "tool_call_id": call_id}


FINAL = {"content": ANSWER, "type": "ai", "tool_calls": []}
GRAPH = [human(), ai("c1", BAD_SQL), tool("c1", FAILED), ai("c2", SQL), tool("c2", "[(47,)]")]
GRAPH_ROWS = [{"column_1": 47}]


def generations(message: dict[str, Any]) -> dict[str, Any]:
    return {"generations": [[{"text": message.get("content", ""), "message": message}]]}


def mlflow(number: int, kind: str, given: Any, got: Any, **fields: Any):
    facts = {
        "mlflow.traceRequestId": json.dumps("tr-1"),
        "mlflow.spanType": json.dumps(kind),
        "mlflow.spanInputs": json.dumps(given),
        "mlflow.spanOutputs": json.dumps(got),
    }
    return span(number, facts, **fields)


def test_mlflow_autolog_of_langgraph():
    """The graph's messages, the model's generations and the tools' messages, all as JSON text."""
    check(
        mlflow(1, "CHAIN", {"messages": GRAPH[:1]}, {"messages": [*GRAPH, FINAL]}, for_ms=90),
        mlflow(2, "CHAT_MODEL", [GRAPH[:1]], generations(GRAPH[1]), parent=1),
        mlflow(4, "TOOL", BAD_SQL, GRAPH[2], parent=1, name="sql_db_query"),
        mlflow(6, "CHAT_MODEL", [GRAPH[:3]], generations(GRAPH[3]), parent=1),
        mlflow(8, "TOOL", SQL, GRAPH[4], parent=1, name="sql_db_query"),
        mlflow(10, "CHAT_MODEL", [GRAPH], generations(FINAL), parent=1),
        tries=TRIES,
        rows=GRAPH_ROWS,
    )


def test_a_run_that_gave_nothing_has_no_answer():
    """An output of `null` is not what was said."""
    failed = {"status_code": 2, "status_message": "no connection"}
    (trace,) = assemble(one_trace(mlflow(1, "AGENT", {"question": QUESTION}, None, **failed)))
    assert trace.question == QUESTION
    assert (trace.stage("answer").output, trace.stage("answer").error) == (None, "no connection")


def choices(message: dict[str, Any]) -> dict[str, Any]:
    return {"id": "x", "model": "gpt-4o-mini", "choices": [{"index": 0, "message": message}]}


@pytest.mark.parametrize("has_tool_span", [True, False])
def test_mlflow_autolog_of_openai(has_tool_span):
    """Requests and responses of OpenAI; without a tool's span its message tells the rows."""
    history = [USER, asked("c1", SQL), gave("c1")]
    request = {"model": "gpt-4o-mini"}
    spans = [
        mlflow(1, "AGENT", {"question": QUESTION}, ANSWER, for_ms=90),
        mlflow(2, "CHAT_MODEL", request | {"messages": [USER]}, choices(history[1]), parent=1),
        mlflow(4, "TOOL", {"sql": SQL}, ROWS, parent=1, name="run_sql"),
        mlflow(6, "CHAT_MODEL", request | {"messages": history}, choices(SAID), parent=1),
    ]
    check(*(one for one in spans if has_tool_span or one.span_id != f"{4:016x}"))


def langsmith(number: int, kind: str, given: Any, got: Any, **fields: Any):
    facts = {
        "langsmith.span.kind": kind,
        "gen_ai.operation.name": {"llm": "chat", "tool": "execute_tool"}.get(kind, kind),
        "gen_ai.system": "langchain",
        "gen_ai.prompt": json.dumps(given),
        "gen_ai.completion": json.dumps(got),
        "langsmith.metadata.thread_id": "s1",
    }
    return span(number, facts, scope="langsmith", **fields)


def serialised(message: dict[str, Any]) -> dict[str, Any]:
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[message["type"]]
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


def test_langsmith_runs_of_langgraph():
    """Serialised messages; a tool's input is the Python repr of its arguments."""
    history = [[serialised(message) for message in GRAPH]]
    check(
        langsmith(1, "chain", {"messages": [USER]}, {"messages": [*GRAPH, FINAL]}, for_ms=90),
        langsmith(
            2, "llm", {"messages": [history[0][:1]]}, generations(serialised(GRAPH[1])), parent=1
        ),
        langsmith(
            4,
            "tool",
            {"input": str({"query": BAD_SQL})},
            {"output": GRAPH[2]},
            parent=1,
            name="sql_db_query",
        ),
        langsmith(
            6, "llm", {"messages": [history[0][:3]]}, generations(serialised(GRAPH[3])), parent=1
        ),
        langsmith(
            8,
            "tool",
            {"input": str({"query": SQL})},
            {"output": GRAPH[4]},
            parent=1,
            name="sql_db_query",
        ),
        langsmith(10, "llm", {"messages": history}, generations(serialised(FINAL)), parent=1),
        tries=TRIES,
        rows=GRAPH_ROWS,
        session="s1",
    )


def genkit(number: int, kind: str, given: Any, got: Any, **fields: Any):
    facts = {
        "genkit:type": "action",
        "genkit:metadata:subtype": kind,
        "genkit:name": fields.get("name", kind),
        "genkit:input": json.dumps(given),
        "genkit:output": json.dumps(got),
        "genkit:sessionId": "s1",
    }
    return span(number, facts, scope="genkit-tracer", **fields)


def test_genkit_actions():
    """A flow around models and tools; tool requests and responses are parts of messages."""
    user = {"role": "user", "content": [{"text": QUESTION}]}
    request = {"name": "runSql", "ref": "c1", "input": {"sql": SQL}}
    call = {"role": "model", "content": [{"toolRequest": request}]}
    response = {"name": "runSql", "ref": "c1", "output": ROWS}
    reply = {"role": "tool", "content": [{"toolResponse": response}]}
    said = {"message": {"role": "model", "content": [{"text": ANSWER}]}}
    check(
        genkit(1, "flow", {"question": QUESTION}, ANSWER, for_ms=90),
        genkit(2, "util", {"messages": [user]}, said, parent=1, name="generate", for_ms=80),
        genkit(3, "model", {"messages": [user]}, {"message": call}, parent=2),
        genkit(5, "tool", {"sql": SQL}, ROWS, parent=2, name="runSql"),
        genkit(7, "model", {"messages": [user, call, reply]}, said, parent=2),
        session="s1",
    )
