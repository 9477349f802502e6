"""Conventions of which there is no capture: small spans after their descriptions."""

from __future__ import annotations

import json

import pytest

from dbagenteval.traces import assemble
from dbagenteval.traces.conventions import CONVENTIONS
from tests.traces.spans import one_trace, span

QUESTION = "How many orders were delivered?"
SQL = "SELECT COUNT(*) AS n FROM orders WHERE status = 'delivered'"
BAD_SQL = "SELECT COUNT(*) AS n FROM orders WHERE order_status = 'delivered'"
ANSWER = "47 orders were delivered."


def only(*spans):
    (trace,) = assemble(one_trace(*spans))
    return trace


def check_run(trace, *, rows=({"n": 47},), session=None):
    """Check the one run that all conventions below tell: a question, a statement, an answer."""
    assert trace.question == QUESTION
    kinds = [(stage.kind, stage.output) for stage in trace.stages if stage.kind != "retrieve"]
    assert kinds == [("generate", SQL), ("execute", None), ("answer", ANSWER)]
    execute = trace.stage("execute")
    assert execute.error is None
    assert execute.rows == list(rows)
    assert trace.meta["session_id"] == session
    assert trace.meta["not_observed"] == []


def test_every_convention_names_version_and_source():
    """Whoever reads a convention finds what it was read from."""
    for convention in CONVENTIONS:
        assert convention.name
        assert convention.pinned
        assert convention.source
    assert len({convention.name for convention in CONVENTIONS}) == len(CONVENTIONS)


def test_old_openllmetry_prompts_and_completions():
    """Messages as `gen_ai.prompt.N` and `gen_ai.completion.N`, tools as Traceloop entities."""
    call = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "call_1",
        "gen_ai.completion.0.tool_calls.0.name": "run_sql",
        "gen_ai.completion.0.tool_calls.0.arguments": json.dumps({"sql": SQL}),
    }
    asked = {
        "llm.request.type": "chat",
        "gen_ai.system": "OpenAI",
        "gen_ai.response.model": "gpt-4o-mini",
        "gen_ai.usage.prompt_tokens": 70,
        "gen_ai.usage.completion_tokens": 20,
        "llm.usage.total_tokens": 90,
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "You are an analyst.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": QUESTION,
    }
    told = {
        "gen_ai.prompt.2.role": "assistant",
        "gen_ai.prompt.2.tool_calls.0.id": "call_1",
        "gen_ai.prompt.2.tool_calls.0.name": "run_sql",
        "gen_ai.prompt.2.tool_calls.0.arguments": json.dumps({"sql": SQL}),
        "gen_ai.prompt.3.role": "tool",
        "gen_ai.prompt.3.tool_call_id": "call_1",
        "gen_ai.prompt.3.content": '[{"n": 47}]',
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
    }
    trace = only(
        span(1, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "ask"}, for_ms=90),
        span(2, asked | call, parent=1, name="openai.chat"),
        span(
            3,
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "run_sql",
                "traceloop.entity.input": json.dumps({"args": [SQL], "kwargs": {}}),
                "traceloop.entity.output": '[{"n": 47}]',
                "traceloop.association.properties.session_id": "s1",
            },
            parent=1,
        ),
        span(4, asked | told, parent=1, name="openai.chat"),
    )
    check_run(trace, session="s1")
    assert trace.meta["tokens"] == {"input": 140, "output": 40}
    assert trace.meta["model"] == "gpt-4o-mini"


def test_old_openllmetry_without_a_tool_span_or_a_root():
    """Two model calls in traces of their own are one turn; the second tells the rows."""
    asked = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": QUESTION,
    }
    call = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "call_1",
        "gen_ai.completion.0.tool_calls.0.name": "run_sql",
        "gen_ai.completion.0.tool_calls.0.arguments": json.dumps({"sql": SQL}),
    }
    told = {
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "call_1",
        "gen_ai.prompt.1.tool_calls.0.name": "run_sql",
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.tool_call_id": "call_1",
        "gen_ai.prompt.2.content": "n\r\n47\r\n",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
    }
    trace = only(
        span(1, asked | call, trace_id="1" * 32),
        span(5, asked | told, trace_id="2" * 32),
    )
    check_run(trace, rows=[{"n": "47"}])
    assert trace.meta["trace_ids"] == ["1" * 32, "2" * 32]
    assert trace.meta["joined"] == [{"trace_id": "2" * 32, "by": "tool call id"}]


def adk(number, parent, **facts):
    return span(number, facts, parent=parent, scope="gcp.vertex.agent", for_ms=5)


def test_google_adk_1_requests_and_responses():
    """`call_llm` has the whole request; `generate_content` below it is the same call."""
    user = {"role": "user", "parts": [{"text": QUESTION}]}
    call = {
        "role": "model",
        "parts": [{"function_call": {"name": "execute_sql", "args": {"query": SQL}}}],
    }
    reply = {
        "role": "user",
        "parts": [
            {
                "function_response": {
                    "name": "execute_sql",
                    "response": {"status": "SUCCESS", "rows": [{"n": 47}]},
                }
            }
        ],
    }
    said = {"role": "model", "parts": [{"text": ANSWER}]}

    def llm(number, contents, content):
        return span(
            number,
            {
                "gen_ai.system": "gcp.vertex.agent",
                "gen_ai.request.model": "gemini-2.0",
                "gcp.vertex.agent.session_id": "s9",
                "gcp.vertex.agent.llm_request": json.dumps({"model": "m", "contents": contents}),
                "gcp.vertex.agent.llm_response": json.dumps({"content": content}),
            },
            parent=2,
            name="call_llm",
            scope="gcp.vertex.agent",
            for_ms=3,
        )

    trace = only(
        span(1, name="invocation", scope="gcp.vertex.agent", for_ms=90),
        span(2, name="agent_run [sql_agent]", parent=1, scope="gcp.vertex.agent", for_ms=80),
        llm(3, [user], call),
        span(
            4,
            {"gen_ai.operation.name": "generate_content", "gen_ai.system": "gemini"},
            parent=3,
            name="generate_content gemini-2.0",
        ),
        span(
            8,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "execute_sql",
                "gen_ai.tool.call.id": "<not specified>",
                "gcp.vertex.agent.tool_call_args": json.dumps({"query": SQL}),
                "gcp.vertex.agent.tool_response": json.dumps(
                    {"status": "SUCCESS", "rows": [{"n": 47}]}
                ),
                "gcp.vertex.agent.llm_request": "{}",
                "gcp.vertex.agent.llm_response": "{}",
            },
            parent=2,
            name="execute_tool execute_sql",
            scope="gcp.vertex.agent",
        ),
        llm(12, [user, call, reply], said),
    )
    check_run(trace, session="s9")


def test_mcp_client_and_server_spans_are_one_execution():
    """A tool seen by both ends of MCP, and the database below, ran one statement."""
    tool = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_query",
        "gen_ai.tool.call.arguments": json.dumps({"query": SQL}),
        "gen_ai.tool.call.result": json.dumps(
            {"content": [{"type": "text", "text": "[{'n': 47}]"}], "isError": False}
        ),
    }
    trace = only(
        span(
            1,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.input.messages": json.dumps(
                    [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]
                ),
                "gen_ai.output.messages": json.dumps(
                    [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
                ),
            },
            for_ms=90,
        ),
        span(2, tool, parent=1, name="tools/call read_query", for_ms=20),
        span(3, tool, parent=2, name="tools/call read_query", service="mcp", for_ms=10),
        span(4, {"db.system": "sqlite", "db.statement": SQL}, parent=3, service="mcp"),
    )
    check_run(trace)
    assert trace.meta["dialect"] == "sqlite"
    assert trace.meta["services"] == ["agent", "mcp"]
    assert trace.stage("execute").meta["span_ids"] == [f"{2:016x}", f"{4:016x}"]


def test_old_and_new_database_names_on_one_span_are_one_statement():
    """`database/dup` sends both."""
    trace = only(
        span(1, {"http.route": "/ask", "http.request.method": "POST"}, kind=2, for_ms=50),
        span(
            2,
            {
                "db.system": "postgresql",
                "db.system.name": "postgresql",
                "db.statement": SQL,
                "db.query.text": SQL,
            },
            parent=1,
        ),
    )
    assert [stage.kind for stage in trace.stages] == ["generate", "execute", "answer"]
    assert trace.meta["dialect"] == "postgres"


def test_rows_on_a_database_span_are_the_databases_own():
    """A row-recording instrumentation puts them there; the tool's text is not needed."""
    trace = only(
        span(
            1,
            {"openinference.span.kind": "AGENT", "input.value": QUESTION, "output.value": ANSWER},
            for_ms=90,
        ),
        span(
            2,
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "run_sql",
                "input.value": json.dumps({"sql": SQL}),
                "output.value": "There is one row, as you can see in the file.",
            },
            parent=1,
            for_ms=5,
        ),
        span(
            3,
            {"db.query.text": SQL, "dbagenteval.rows": '{"columns": ["n"], "rows": [[47]]}'},
            parent=2,
        ),
    )
    check_run(trace)


def openinference_run(tool_input, tool_output, *, tool="run_sql", status_code=0, answer=ANSWER):
    return [
        span(
            1,
            {"openinference.span.kind": "AGENT", "input.value": QUESTION, "output.value": answer},
            for_ms=90,
        ),
        span(
            2,
            {
                "openinference.span.kind": "TOOL",
                "tool.name": tool,
                "input.value": tool_input,
                "output.value": tool_output,
            },
            parent=1,
            status_code=status_code,
        ),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        SQL,
        json.dumps({"sql": SQL}),
        json.dumps({"query": SQL}),
        json.dumps({"args": [SQL], "kwargs": {}}),
        json.dumps({"args": [], "kwargs": {"query": SQL}}),
        json.dumps({"inputs": {"query": SQL}, "metadata": {}}),
        json.dumps({"input": json.dumps({"statement": SQL})}),
        json.dumps([{"content": {"sql": SQL}}]),
    ],
)
def test_statements_are_found_in_any_arguments(arguments):
    """Frameworks wrap the arguments of a tool in many ways."""
    check_run(only(*openinference_run(arguments, '[{"n": 47}]')))


@pytest.mark.parametrize(
    "output",
    [
        '[{"n": 47}]',
        "[{'n': 47}]",
        '{"columns": ["n"], "rows": [[47]]}',
        '{"rows": [{"n": 47}], "row_count": 1}',
        '{"status": "SUCCESS", "rows": [{"n": 47}]}',
        '{"result": [{"n": 47}]}',
        '{"type": "text", "text": "[{\'n\': 47}]"}',
        '[{"json": {"rows": [{"n": 47}]}}]',
        '[{"type": "text", "text": "[{\\"n\\": 47}]"}]',
        '{"type": "tool", "data": {"content": "[{\\"n\\": 47}]", "status": "success"}}',
        '{"output": {"lc": 1, "id": ["langchain", "ToolMessage"], "kwargs": {"content": "[{\'n\': 47}]"}}}',
        "[('n',), (47,)]",
        '[["n"], [47]]',
        '{"n": 47}',
    ],
)
def test_rows_are_found_in_any_wrapping(output):
    """What a tool returned is unwrapped and read with its column names."""
    check_run(only(*openinference_run(json.dumps({"sql": SQL}), output)))


@pytest.mark.parametrize(
    "output",
    [
        "Error: (sqlite3.OperationalError) no such column: order_status",
        'ERROR: column "order_status" does not exist',
        "SQL failed: no such column: order_status",
        "Database error: no such column: order_status",
        '{"error": "no such column: order_status"}',
        '{"status": "ERROR", "error_details": "no such column: order_status"}',
        "(sqlite3.OperationalError) no such column: order_status",
        'BinderException: Referenced column "order_status" not found in FROM clause!',
        "Execution error in query: no such column: order_status",
        '{"exception": "OperationalError: no such column: order_status"}',
        "1 validation error for run_sql\norder_status\n  Field required",
        '{"content": [{"type": "text", "text": "no such column: order_status"}], "isError": true}',
        '[{"toolResult": {"status": "error", "content": [{"text": "no such column: order_status"}]}}]',
    ],
)
def test_errors_are_read_from_texts(output):
    """Most tools catch the exception and return a text, and the span stays OK."""
    trace = only(*openinference_run(json.dumps({"sql": BAD_SQL}), output, status_code=1))
    execute = trace.stage("execute")
    assert "order_status" in execute.error
    assert execute.rows is None


def test_a_column_named_error_is_no_error():
    """Rows whose first column is called `error` are rows."""
    sql = "SELECT error, count(*) AS n FROM log GROUP BY error"
    trace = only(*openinference_run(json.dumps({"sql": sql}), "error,n\r\ntimeout,3\r\n"))
    execute = trace.stage("execute")
    assert (execute.error, execute.rows) == (None, [{"error": "timeout", "n": "3"}])


@pytest.mark.parametrize(
    "output", ["", "[]", "No rows.", "0 rows returned", '{"columns": ["n"], "rows": []}']
)
def test_empty_results_are_seen_as_empty(output):
    """Nothing found is evidence."""
    execute = only(*openinference_run(json.dumps({"sql": SQL}), output)).stage("execute")
    assert execute.rows == []
    assert execute.observed("rows").state == "empty"


@pytest.mark.parametrize(
    ("output", "state", "hint"),
    [
        ("__REDACTED__", "masked", "OPENINFERENCE_HIDE_OUTPUTS"),
        ('[{"n": 47}, {"n": 4', "cut", "ends within a value"),
        ('{"rows": [{"n": 47}], "truncated": true}', "cut", "truncated"),
        ('{"rows": [{"n": 47}], "row_count": 9}', "cut", "1 of 9 rows"),
        ("n\r\n47\r\n\r\n(showing first 1 of 9 rows)", "cut", "showing first 1 of 9"),
        ("It went well, have a look at the chart.", "unparseable", "no known form"),
        (None, "not captured", "rows"),
    ],
)
def test_hidden_rows_are_no_empty_result(output, state, hint):
    """Masked, cut, unreadable and missing rows are four things, and none is evidence."""
    trace = only(*openinference_run(json.dumps({"sql": SQL}), output))
    observed = trace.stage("execute").observed("rows")
    assert observed.state == state
    assert hint in observed.why
    assert not observed.is_evidence


def test_checkers_final_answers_and_handoffs_run_nothing():
    """A tool that carries SQL or an answer but doesn't run it is no execution."""
    spans = openinference_run(json.dumps({"sql": SQL}), '[{"n": 47}]')
    extra = [
        ("sql_db_query_checker", SQL, SQL),
        ("final_answer", json.dumps({"answer": ANSWER}), ANSWER),
        ("handoff to sql_agent", "triage_agent", "sql_agent"),
        ("list_tables", "{}", "orders, customers"),
    ]
    for number, (name, given, returned) in enumerate(extra, 10):
        spans.append(
            span(
                number,
                {
                    "openinference.span.kind": "TOOL",
                    "tool.name": name,
                    "input.value": given,
                    "output.value": returned,
                },
                parent=1,
            )
        )
    trace = only(*spans)
    assert [(stage.name, stage.output) for stage in trace.stages] == [
        ("generate", SQL),
        ("execute", None),
        ("route", "sql_agent"),
        ("retrieve", ["orders", "customers"]),
        ("answer", ANSWER),
    ]


def test_a_broken_statement_in_an_sql_tool_is_still_seen():
    """A typo in the first word must not hide the statement from the rules."""
    trace = only(*openinference_run(json.dumps({"query": "SELEC 1 FORM x"}), "Error: syntax error"))
    assert trace.stage("generate").output == "SELEC 1 FORM x"


def test_a_search_tool_with_a_query_is_no_statement():
    """Prose under `query` is none."""
    trace = only(
        *openinference_run(
            json.dumps({"query": "select the best offers from the catalogue"}),
            "three offers",
            tool="search_documents",
        )
    )
    assert [stage.kind for stage in trace.stages] == ["answer"]


def test_an_agent_that_crashed_fails_at_its_answer():
    """The turn's own error is on the answer stage, since there is no answer."""
    trace = only(
        span(
            1,
            {"openinference.span.kind": "AGENT", "input.value": QUESTION},
            status_code=2,
            status_message="RateLimitError: try later",
        )
    )
    assert [(stage.kind, stage.error) for stage in trace.stages] == [
        ("answer", "RateLimitError: try later")
    ]


def test_attributes_dropped_by_the_sdk_leave_the_span_readable():
    """Beyond 128 attributes the oldest are gone; the scope and what is left still tell."""
    messages = {}
    for number in range(3, 40):
        messages[f"llm.input_messages.{number}.message.role"] = "user"
        messages[f"llm.input_messages.{number}.message.content"] = f"earlier question {number}"
    trace = only(
        span(
            1,
            messages
            | {
                "llm.input_messages.40.message.role": "user",
                "llm.input_messages.40.message.content": QUESTION,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": ANSWER,
                "llm.model_name": "gpt-4o-mini",
            },
            scope="openinference.instrumentation.openai",
            dropped_attributes_count=7,
        )
    )
    assert trace.question == QUESTION
    assert trace.stage("answer").output == ANSWER


@pytest.mark.parametrize(
    ("tool", "arguments", "kinds"),
    [
        (
            "write_query",
            {"query": "INSERT INTO orders VALUES (1)"},
            ["generate", "execute", "answer"],
        ),
        ("create_table", {"query": "CREATE TABLE x (a int)"}, ["generate", "execute", "answer"]),
        ("fix_sql", {"sql": SQL}, ["answer"]),
        ("query_docs", {"query": "refund policy"}, ["answer"]),
        ("ask_database", {"question": "How many?"}, ["answer"]),
        ("execute_python", {"code": "print(1)"}, ["answer"]),
    ],
)
def test_what_a_tool_was_given_tells_whether_it_ran_sql(tool, arguments, kinds):
    """A name alone makes no execution, and hides none."""
    trace = only(*openinference_run(json.dumps(arguments), "done", tool=tool))
    assert [stage.kind for stage in trace.stages] == kinds


def test_a_statement_seen_by_orm_and_driver_ran_once():
    """SQLAlchemy's span and the driver's tell of one execution."""
    trace = only(
        span(1, {"http.route": "/ask", "http.request.method": "POST"}, kind=2, for_ms=50),
        span(
            2,
            {"db.statement": SQL, "db.system": "postgresql"},
            parent=1,
            for_ms=5,
            scope="sqlalchemy",
        ),
        span(
            3, {"db.statement": SQL, "db.system": "postgresql"}, parent=1, for_ms=2, scope="psycopg"
        ),
        span(
            20,
            {"db.statement": SQL, "db.system": "postgresql"},
            parent=1,
            for_ms=2,
            scope="psycopg",
        ),
        span(30, {"db.statement": "SELECT pg_catalog.version()"}, parent=1),
    )
    assert [stage.name for stage in trace.stages] == [
        "generate",
        "execute",
        "generate_2",
        "execute_2",
        "answer",
    ]
    assert trace.stage("execute").meta["span_ids"] == [f"{2:016x}", f"{3:016x}"]


@pytest.mark.parametrize(
    ("flag", "state"),
    [("dbagenteval.rows.truncated", "cut"), ("dbagenteval.rows.redacted", "masked")],
)
def test_recorded_rows_that_are_not_whole_are_no_evidence(flag, state):
    """Rows that were capped or redacted while recording are shown, not compared."""
    rows = '{"columns": ["n"], "rows": [[47]]}'
    trace = only(
        span(1, {"http.route": "/ask", "http.request.method": "POST"}, kind=2, for_ms=50),
        span(2, {"db.query.text": SQL, "dbagenteval.rows": rows, flag: True}, parent=1),
    )
    execute = trace.stage("execute")
    assert execute.rows == [{"n": 47}]
    assert execute.observed("rows").state == state
    assert flag in execute.observed("rows").why


def test_the_whole_result_of_a_tool_is_better_than_capped_rows():
    """What the tool gave counts when the recording was capped."""
    spans = openinference_run(json.dumps({"sql": SQL}), '[{"n": 47}]')
    recorded = {
        "db.query.text": SQL,
        "dbagenteval.rows": '{"columns": ["n"], "rows": []}',
        "dbagenteval.rows.truncated": True,
    }
    check_run(only(*spans, span(3, recorded, parent=2)))


def test_what_a_model_said_is_no_answer_of_an_agent_that_failed():
    """The text is shown, and the answer stage has the agent's error."""
    said = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
        ),
    }
    trace = only(
        span(
            1,
            {"openinference.span.kind": "AGENT", "input.value": QUESTION},
            for_ms=90,
            status_code=2,
            status_message="GraphRecursionError: limit reached",
        ),
        span(2, said, parent=1),
    )
    answer = trace.stage("answer")
    assert (answer.output, answer.error) == (ANSWER, "GraphRecursionError: limit reached")
