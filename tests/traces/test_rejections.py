"""A tool call that was refused ran nothing."""

from __future__ import annotations

import json

import pytest

from dbagenteval.traces import assemble
from tests.traces.spans import one_trace, span

SQL = "DELETE FROM orders"


def told(result, *, database=False, is_error=False):
    """Give the Trace of a turn in which the model was given the result of one call."""
    call = {"type": "tool_call", "id": "c1", "name": "run_sql", "arguments": {"sql": SQL}}
    answered = {"type": "tool_call_response", "id": "c1", "response": result, "is_error": is_error}
    asked = {"role": "user", "parts": [{"type": "text", "content": "Delete all orders."}]}
    said = {"role": "assistant", "parts": [call]}
    spans = [
        span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, for_ms=90),
        span(2, chat([asked], said), parent=1, at_ms=2),
        span(
            6,
            chat(
                [asked, said, {"role": "tool", "parts": [answered]}],
                {"role": "assistant", "parts": [{"type": "text", "content": "I did not."}]},
            ),
            parent=1,
            at_ms=10,
        ),
    ]
    if database:
        spans.append(span(5, {"db.system": "sqlite", "db.statement": SQL}, parent=1, at_ms=5))
    (trace,) = assemble(one_trace(*spans))
    return trace


def chat(inputs, output):
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(inputs),
        "gen_ai.output.messages": json.dumps([output]),
    }


@pytest.mark.parametrize(
    "result",
    [
        "Tool execution was not approved.",
        "The tool call was denied.",
        "User rejected the tool call for `run_sql` with id c1",
        "Error: Tool call invocation was rejected by user.",
        "The user doesn't want to proceed with this tool use.",
        "Tool not executed - a final result was already processed.",
        "not executed",
        "Query not executed.",
        "Approval denied",
        "Rejected by the user: too dangerous",
        {"error": "This tool call is rejected."},
        {"error": "This tool call requires confirmation, please approve or reject."},
        {"type": "execution-denied", "reason": "no"},
        {"status": "error", "message": "User declined"},
    ],
)
@pytest.mark.parametrize("is_error", [False, True])
def test_a_refused_call_is_no_execution(result, is_error):
    """The statement was written, and no execution, row or error is made up."""
    trace = told(result, is_error=is_error)
    assert [(one.name, one.output, one.error) for one in trace.stages] == [
        ("generate", SQL, None),
        ("answer", "I did not.", None),
    ]
    assert trace.meta["not_observed"] == []


@pytest.mark.parametrize(
    "result",
    [
        "permission denied for table orders",
        "Error: access denied for user 'bot'@'%'",
        'Query not executed: syntax error at or near "FROM"',
        "Error: (sqlite3.OperationalError) no such table: orders",
    ],
)
def test_what_the_database_refused_is_an_error(result):
    """A statement that reached the database ran and failed."""
    execute = told(result).stage("execute")
    assert execute.error == result


def test_a_refusal_beside_a_database_span_is_none():
    """What the database is seen to have run, ran."""
    assert told("Tool execution was not approved.", database=True).stage("execute") is not None


def test_rows_that_tell_of_refusals_are_rows():
    """Words among rows say nothing about the call."""
    rows = [{"note": "rejected by the user"}]
    execute = told(json.dumps(rows)).stage("execute")
    assert execute.rows == rows
