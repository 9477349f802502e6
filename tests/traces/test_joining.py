"""Which spans make one turn, over traces and within them."""

from __future__ import annotations

import gc
import json
import time

from dbagenteval.otlp import Link
from dbagenteval.traces import assemble
from dbagenteval.traces.fragments import Fragment
from tests.traces.spans import one_trace, span

SQL = "SELECT COUNT(*) AS n FROM orders"


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def call(call_id, sql=SQL):
    part = {"type": "tool_call", "id": call_id, "name": "run_sql", "arguments": {"sql": sql}}
    return {"role": "assistant", "parts": [part]}


def result(call_id, rows='[{"n": 47}]'):
    return {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": call_id, "response": rows}],
    }


def chat(inputs, *outputs, **more):
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(inputs),
        "gen_ai.output.messages": json.dumps(outputs),
        **more,
    }


def tool(call_id="", sql=SQL, rows='[{"n": 47}]', **more):
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "run_sql",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": json.dumps({"sql": sql}),
        "gen_ai.tool.call.result": rows,
        **more,
    }


def agent(question, answer, **more):
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": json.dumps([text("user", question)]),
        "gen_ai.output.messages": json.dumps([text("assistant", answer)]),
        **more,
    }


def traces(*spans):
    return list(assemble(one_trace(*spans)))


def shape(trace):
    return trace.question, [(stage.name, stage.output) for stage in trace.stages]


def test_children_before_parents_and_parents_that_never_come():
    """A span whose parent is lost is a local root; the turn is whole all the same."""
    trace = only(
        span(2, chat([text("user", "How many?")], call("c1")), parent=99),
        span(3, tool("c1"), parent=98),
        span(
            4,
            chat([text("user", "How many?"), call("c1"), result("c1")], text("assistant", "47")),
            parent=99,
        ),
    )
    assert shape(trace) == ("How many?", [("generate", SQL), ("execute", None), ("answer", "47")])


def only(*spans):
    (trace,) = traces(*spans)
    return trace


def test_parent_ids_in_a_circle_end():
    """Two spans that name each other as parent lose neither span nor time."""
    trace = only(
        span(1, agent("How many?", "47"), parent=2),
        span(2, tool("c1"), parent=1),
    )
    assert trace.meta["spans"] == 2


def test_two_roots_the_one_that_answers_counts():
    """A warm-up span beside the agent is not asked for the answer."""
    trace = only(
        span(2, name="warmup", for_ms=90),
        span(1, agent("How many?", "47"), at_ms=5),
    )
    assert shape(trace) == ("How many?", [("answer", "47")])


def test_a_remote_child_does_not_overwrite_the_answer():
    """An agent below another works for it; the outer one's answer is the turn's."""
    trace = only(
        span(1, agent("How many?", "right"), for_ms=90),
        span(2, agent("Count the orders", "inner"), parent=1, service="sub"),
    )
    assert shape(trace) == ("How many?", [("answer", "right")])
    assert trace.meta["service"] == "agent"


def test_an_agent_called_as_a_tool_gives_its_statements_and_not_its_answer():
    """What the inner agent ran is part of the turn; what it said is a tool's result."""
    trace = only(
        span(1, agent("How many?", "There are 47."), for_ms=90),
        span(
            2,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "ask_analyst",
                "gen_ai.tool.call.arguments": '{"question": "count orders"}',
                "gen_ai.tool.call.result": "47 it is",
            },
            parent=1,
            for_ms=50,
        ),
        span(3, agent("count orders", "47 it is"), parent=2, for_ms=40),
        span(4, chat([text("user", "count orders")], call("c1")), parent=3),
        span(6, tool("c1"), parent=3),
        span(8, chat([text("user", "count orders")], text("assistant", "47 it is")), parent=3),
    )
    assert shape(trace) == (
        "How many?",
        [("generate", SQL), ("execute", None), ("answer", "There are 47.")],
    )


def test_a_batch_root_with_several_agents_is_several_turns():
    """One trace for a whole run of questions gives a Trace for each."""
    found = traces(
        span(1, name="evaluate all", for_ms=900),
        span(2, agent("How many?", "47"), parent=1, for_ms=20),
        span(3, tool("c1"), parent=2),
        span(30, agent("Which?", "Berlin"), parent=1, for_ms=20),
        span(31, tool("c2", sql="SELECT city FROM stores", rows='[{"city": "Berlin"}]'), parent=30),
    )
    assert [shape(trace) for trace in found] == [
        ("How many?", [("generate", SQL), ("execute", None), ("answer", "47")]),
        (
            "Which?",
            [("generate", "SELECT city FROM stores"), ("execute", None), ("answer", "Berlin")],
        ),
    ]


def test_a_socket_with_two_questions_is_two_turns():
    """Under one request, a user text after a given answer begins a turn; history is no evidence."""
    first = [text("user", "How many orders?")]
    after = [*first, call("c1"), result("c1"), text("assistant", "47 orders.")]
    again = [*after, text("user", "And refunds?")]
    refunds = "SELECT COUNT(*) AS n FROM refunds"
    found = traces(
        span(1, {"http.route": "/ws", "http.request.method": "GET"}, kind=2, for_ms=900),
        span(2, chat(first, call("c1")), parent=1),
        span(4, {"db.query.text": SQL, "db.system.name": "postgresql"}, parent=1),
        span(
            6, chat([*first, call("c1"), result("c1")], text("assistant", "47 orders.")), parent=1
        ),
        span(20, chat(again, call("c2", refunds)), parent=1),
        span(22, {"db.query.text": refunds}, parent=1),
        span(
            24,
            chat(
                [*again, call("c2", refunds), result("c2", '[{"n": 11}]')], text("assistant", "11.")
            ),
            parent=1,
        ),
    )
    assert [shape(trace) for trace in found] == [
        ("How many orders?", [("generate", SQL), ("execute", None), ("answer", "47 orders.")]),
        ("And refunds?", [("generate", refunds), ("execute", None), ("answer", "11.")]),
    ]
    assert found[1].stage("execute").rows == [{"n": 11}]


def test_a_tool_span_in_a_trace_of_its_own_finds_its_turn_by_session():
    """A worker thread without context: no statement may escape the rules in silence."""
    (trace,) = traces(
        span(1, agent("How many?", "47", **{"gen_ai.conversation.id": "c1"}), for_ms=90),
        span(
            2,
            {"gen_ai.conversation.id": "c1", "db.query.text": SQL},
            trace_id="9" * 32,
            name="execute_tool run_sql",
        ),
    )
    assert shape(trace) == ("How many?", [("generate", SQL), ("execute", None), ("answer", "47")])
    assert trace.meta["joined"] == [{"trace_id": "9" * 32, "by": "session and time"}]


def test_a_tool_span_in_a_trace_of_its_own_finds_its_turn_by_call_id():
    """The model's call names it."""
    (trace,) = traces(
        span(1, agent("How many?", "47"), for_ms=90),
        span(2, chat([text("user", "How many?")], call("call_7")), parent=1),
        span(5, tool("call_7"), trace_id="9" * 32),
    )
    assert trace.stage("execute").rows == [{"n": 47}]
    assert trace.meta["joined"] == [{"trace_id": "9" * 32, "by": "tool call id"}]


def test_an_unrelated_statement_of_the_same_time_stays_out():
    """A background job in the same service is a turn of its own, not the agent's statement."""
    found = traces(
        span(1, agent("How many?", "47"), for_ms=90),
        span(2, {"db.query.text": "DELETE FROM sessions"}, trace_id="9" * 32),
    )
    assert sorted(shape(trace)[0] for trace in found) == ["", "How many?"]
    asked = next(trace for trace in found if trace.question)
    assert [stage.kind for stage in asked.stages] == ["answer"]


def test_retries_of_a_case_are_not_mixed():
    """Two traces with one case id are two attempts."""
    found = traces(
        span(1, agent("How many?", "45", **{"dbagenteval.case.id": "c3"}), trace_id="a" * 32),
        span(900, agent("How many?", "47", **{"dbagenteval.case.id": "c3"}), trace_id="b" * 32),
    )
    assert [(t.meta["case_id"], t.stage("answer").output) for t in found] == [
        ("c3", "45"),
        ("c3", "47"),
    ]


def test_a_pipeline_of_plain_model_calls_is_one_turn():
    """Calls without a root or shared history belong together by question and time."""
    found = traces(
        span(
            1,
            chat(
                [text("system", "Write SQL."), text("user", "How many orders?")],
                text("assistant", SQL),
            ),
            trace_id="1" * 32,
        ),
        span(4, {"db.statement": SQL, "db.system": "sqlite"}, trace_id="2" * 32),
        span(
            6,
            chat(
                [
                    text("system", "Answer."),
                    text("user", f"Question: How many orders?\n{SQL}\nRows: 47"),
                ],
                text("assistant", "There are 47 orders."),
            ),
            trace_id="3" * 32,
        ),
        span(
            900,
            chat([text("user", "Thank you so much!")], text("assistant", "Welcome!")),
            trace_id="4" * 32,
        ),
    )
    assert [shape(trace) for trace in found] == [
        (
            "How many orders?",
            [("generate", SQL), ("execute", None), ("answer", "There are 47 orders.")],
        ),
        ("Thank you so much!", [("answer", "Welcome!")]),
    ]


def test_the_same_question_asked_twice_is_two_turns():
    """A repeat with the same messages goes on with nothing."""
    asked = [text("system", "Answer."), text("user", "How many orders are there?")]
    found = traces(
        span(1, chat(asked, text("assistant", "47 orders.")), trace_id="1" * 32),
        span(100, chat(asked, text("assistant", "48 orders.")), trace_id="2" * 32),
    )
    assert [trace.stage("answer").output for trace in found] == ["47 orders.", "48 orders."]


def test_two_conversations_at_once_stay_apart():
    """Interleaved calls of one process are told apart by their tool call ids."""
    spans = []
    for number, name in enumerate(("orders", "refunds")):
        sql, ident = f"SELECT COUNT(*) AS n FROM {name}", f"call_{name}"
        asked = [text("user", f"How many {name}?")]
        told = [*asked, call(ident, sql), result(ident)]
        spans += [
            span(1 + number, chat(asked, call(ident, sql)), trace_id=f"{number}1" * 16),
            span(11 + number, {"db.statement": sql}, trace_id=f"{number}2" * 16),
            span(21 + number, chat(told, text("assistant", name)), trace_id=f"{number}3" * 16),
        ]
    assert [shape(trace) for trace in traces(*spans)] == [
        (
            f"How many {name}?",
            [
                ("generate", f"SELECT COUNT(*) AS n FROM {name}"),
                ("execute", None),
                ("answer", name),
            ],
        )
        for name in ("orders", "refunds")
    ]


def test_traces_that_link_to_each_other_are_joined():
    """A queue between request and worker: the worker's trace links to the request's."""
    request = span(
        1, {"case": "x"}, name="enqueue", kind=4, scope="autogen-core", trace_id="a" * 32
    )
    worker = span(
        3,
        agent("How many?", "47"),
        trace_id="b" * 32,
        links=(Link("a" * 32, f"{1:016x}"),),
    )
    (trace,) = traces(request, worker)
    assert trace.meta["trace_ids"] == ["a" * 32, "b" * 32]
    assert trace.meta["joined"] == [{"trace_id": "b" * 32, "by": "link"}]


def test_a_follow_up_that_links_to_the_turn_before_is_a_turn_of_its_own():
    """Two traces that both ask are never made one by a link."""
    found = traces(
        span(1, agent("How many?", "47"), trace_id="a" * 32),
        span(
            50,
            agent("And refunds?", "11"),
            trace_id="b" * 32,
            links=(Link("a" * 32, f"{1:016x}"),),
        ),
    )
    assert [trace.question for trace in found] == ["How many?", "And refunds?"]


def test_requests_without_agent_model_or_statement_are_no_turns():
    """Health checks and static pages give no Trace."""
    assert traces(span(1, {"http.route": "/health", "http.request.method": "GET"}, kind=2)) == []
    assert traces(span(1, {"db.statement": "PRAGMA table_info(orders)"})) == []


def test_memory_is_bounded_by_the_window():
    """What can join no more is let go, however many traces there are."""
    held: list[int] = []

    def stream():
        for number in range(1000):
            at_ms = number * 5_000
            whole = span(1, agent("How many?", "47"), at_ms=at_ms, trace_id=f"{2 * number:032x}")
            alone = chat([text("user", "How many?")], text("assistant", "47"))
            loose = span(2, alone, at_ms=at_ms + 1, trace_id=f"{2 * number + 1:032x}")
            yield from one_trace(whole, loose)
            if number % 250 == 249:
                held.append(sum(isinstance(one, Fragment) for one in gc.get_objects()))

    assert sum(1 for _ in assemble(stream())) == 2000
    assert len(held) == 4
    assert max(held) < 20


def test_calls_that_say_nothing_are_not_joined_by_time_alone():
    """Without content and finish reasons, all calls of a service would become one turn."""
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    found = traces(*(span(n, bare, trace_id=f"{n}" * 32) for n in range(1, 6)))
    assert len(found) == 5


def test_calls_without_content_are_joined_by_their_finish_reasons():
    """`tool_calls` goes on, `stop` ends the turn."""
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    goes_on = bare | {"gen_ai.response.finish_reasons": ["tool_calls"]}
    stops = bare | {"gen_ai.response.finish_reasons": ["stop"]}
    found = traces(
        span(1, goes_on, trace_id="1" * 32),
        span(3, {"db.statement": SQL}, trace_id="2" * 32),
        span(5, stops, trace_id="3" * 32),
        span(9, stops, trace_id="4" * 32),
    )
    assert [len(trace.meta["trace_ids"]) for trace in found] == [3, 1]
    assert found[0].stage("generate").output == SQL


def test_a_request_to_a_route_of_the_agent_is_a_turn_though_nothing_is_seen_in_it():
    """Chit-chat behind an uninstrumented model client; a health check stays none."""

    def request(number, route):
        facts = {"http.route": route, "http.request.method": "POST"}
        return span(number, facts, kind=2, trace_id=f"{number:032x}", for_ms=5)

    statement = span(2, {"db.query.text": SQL}, parent=1, trace_id=f"{1:032x}")
    found = traces(request(1, "/ask"), statement, request(5000, "/ask"), request(6000, "/ready"))
    assert [[stage.kind for stage in trace.stages] for trace in found] == [
        ["generate", "execute", "answer"],
        ["answer"],
    ]
    assert "no model spans arrived" in found[1].meta["not_observed"][0]["why"]


def test_one_trace_of_very_many_statements_takes_no_quadratic_time():
    """A job that ran thousands of statements under one span is read in seconds, deep or wide."""
    root = span(1, {"http.route": "/job", "http.request.method": "POST"}, kind=2, for_ms=1e6)
    wide = [span(n, {"db.query.text": f"SELECT {n} FROM t"}, parent=1) for n in range(2, 8000)]
    deep = [span(n, parent=n - 1, trace_id="d" * 32) for n in range(1, 8000)]
    started = time.process_time()
    (trace,) = traces(root, *wide, *deep)
    assert time.process_time() - started < 120
    assert len(trace.stages) == 2 * len(wide) + 1
