"""Turns of which parts came in traces of their own, or never as spans."""

from __future__ import annotations

import json

import pytest

from dbagenteval.otlp import Link, LogRecord, OtelTrace, Scope
from dbagenteval.traces import assemble
from tests.traces.spans import START, TRACE, one_trace, span
from tests.traces.test_joining import SQL, agent, call, chat, result, shape, text, tool

OTHER = "9" * 32
ASKED = {"dbagenteval.question": "How many?"}
WROTE = {"dbagenteval.stage": "generate", "db.query.text": SQL}
RAN = {
    "dbagenteval.stage": "execute",
    "db.query.text": SQL,
    "dbagenteval.rows": '[{"n": 47}]',
}
SAID = {"dbagenteval.stage": "answer", "dbagenteval.output": "47"}
WHOLE = ("How many?", [("generate", SQL), ("execute", None), ("answer", "47")])


def traces(*spans):
    return list(assemble(one_trace(*spans)))


@pytest.mark.parametrize(
    ("question", "wrote", "ran", "links", "by"),
    [
        ({}, WROTE, {}, (Link(TRACE, f"{1:016x}"),), "link"),
        ({"session.id": "s"}, None, {"session.id": "s"}, (), "session and time"),
        ({"dbagenteval.case.id": "k"}, None, {"dbagenteval.case.id": "k"}, (), "case id"),
        ({}, WROTE, {}, (), "statement"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_tagged_stage_in_a_trace_of_its_own_finds_its_turn(question, wrote, ran, links, by):
    """A worker without the caller's context tells the execution of the turn all the same."""
    spans = [
        span(1, {**ASKED, **question}, for_ms=90),
        span(5, {**RAN, **ran}, trace_id=OTHER, links=links),
        span(8, SAID, parent=1),
    ]
    if wrote:
        spans.append(span(2, wrote, parent=1))
    (trace,) = traces(*spans)
    assert shape(trace) == WHOLE
    assert trace.stage("execute").rows == [{"n": 47}]
    assert trace.meta["joined"] == [{"trace_id": OTHER, "by": by}]


def test_a_tagged_stage_that_shares_nothing_stays_alone():
    """Time alone joins no tagged stage: the turn beside it may be another user's."""
    asked, alone = traces(
        span(1, ASKED, for_ms=90),
        span(5, RAN, trace_id=OTHER),
        span(8, SAID, parent=1),
    )
    assert shape(asked) == ("How many?", [("answer", "47")])
    assert shape(alone) == ("", [("generate", SQL), ("execute", None)])


def test_a_tagged_stage_of_two_turns_at_once_goes_to_that_of_its_session():
    """Of two turns at the same time only one has the session."""
    found = traces(
        span(1, {**ASKED, "session.id": "a"}, for_ms=90),
        span(2, SAID, parent=1),
        span(3, {**ASKED, "session.id": "b"}, trace_id="8" * 32, for_ms=90),
        span(4, SAID, parent=3, trace_id="8" * 32),
        span(5, {**RAN, "session.id": "b"}, trace_id=OTHER),
    )
    assert [(t.meta["session_id"], len(t.stages)) for t in found] == [("a", 1), ("b", 3)]


def test_the_session_of_a_batch_is_that_of_each_question():
    """`session.id` on the root above several questions makes them no single turn."""
    found = traces(
        span(1, {"session.id": "batch 7"}, name="evaluate all", for_ms=900),
        span(2, agent("How many?", "47"), parent=1, for_ms=20),
        span(3, tool("c1"), parent=2),
        span(30, agent("And now?", "48", **{"session.id": "own"}), parent=1, for_ms=20),
    )
    assert [(trace.question, trace.meta["session_id"]) for trace in found] == [
        ("How many?", "batch 7"),
        ("And now?", "own"),
    ]
    assert shape(found[0]) == WHOLE


def test_a_statement_of_a_batch_goes_to_the_question_that_ran():
    """In a trace of its own, with the batch's session, it belongs to the turn of its time."""
    first, second = traces(
        span(1, {"session.id": "batch"}, name="evaluate all", for_ms=900),
        span(2, agent("How many?", "47"), parent=1, for_ms=20),
        span(30, agent("Which?", "Berlin"), parent=1, for_ms=20),
        span(33, {"session.id": "batch", "db.query.text": SQL}, trace_id=OTHER),
    )
    assert shape(first) == ("How many?", [("answer", "47")])
    assert shape(second) == ("Which?", [("generate", SQL), ("execute", None), ("answer", "Berlin")])


@pytest.mark.parametrize("inputs", [[], [text("user", "How many?"), call("c1")]])
def test_sql_that_only_a_tool_call_shows_ran_with_unknown_rows(inputs):
    """No tool span and no database span: the statement must not escape the rules."""
    (trace,) = traces(
        span(1, agent("How many?", "47"), for_ms=90),
        span(2, chat([text("user", "How many?")], call("c1")), parent=1),
        span(5, chat(inputs, text("assistant", "47")), parent=1),
    )
    assert shape(trace) == WHOLE
    execute = trace.stage("execute")
    assert execute.rows is None
    assert execute.observed("rows").state == "not captured"


def test_a_call_without_a_reply_says_that_it_may_not_have_run():
    """A statement that only a model asked for has no rows, and why is said."""
    (trace,) = traces(span(2, chat([text("user", "How many?")], call("c1"))))
    execute = trace.stage("execute")
    assert (execute.rows, execute.error) == (None, None)
    assert "no reply to it: whether it ran can't be told" in execute.observed("rows").why


def tried(call_id: str, sql: str):
    part = {"type": "tool_call", "id": call_id, "name": "run_sql", "arguments": {"sql": sql}}
    return {"role": "assistant", "parts": [part]}


def replied(call_id: str, response):
    part = {"type": "tool_call_response", "id": call_id, "response": response}
    return {"role": "tool", "parts": [part]}


FIRST_SQL = "SELECT COUNT(*) AS n FROM orders WHERE no_such_column = 1"
TRIED = [
    ("generate", FIRST_SQL),
    ("execute", None),
    ("generate_2", SQL),
    ("execute_2", None),
    ("answer", "47"),
]


@pytest.mark.parametrize(
    ("ids", "lost"), [(("c1", "c2"), 0), (("c1", "c2"), 1), (("call_0", "call_0"), 0)]
)
def test_each_statement_of_a_conversation_has_its_own_reply(ids, lost):
    """Even where a server gives each call the same id, or the span of the first call is lost."""
    history = [
        text("user", "How many?"),
        tried(ids[0], FIRST_SQL),
        replied(ids[0], "Error: no such column: no_such_column"),
        tried(ids[1], SQL),
        replied(ids[1], [{"n": 47}]),
    ]
    spans = [
        span(2, chat(history[:1], history[1]), parent=1),
        span(4, chat(history[:3], history[3]), parent=1),
        span(6, chat(history, text("assistant", "47")), parent=1),
    ]
    (trace,) = traces(span(1, agent("How many?", "47"), for_ms=90), *spans[lost:])
    assert shape(trace) == ("How many?", TRIED)
    first, second = [stage for stage in trace.stages if stage.kind == "execute"]
    assert (first.rows, first.error) == (None, "Error: no such column: no_such_column")
    assert (second.rows, second.error) == ([{"n": 47}], None)


def test_rows_of_a_tool_call_come_from_the_next_calls_history():
    """Two model calls without an agent, a tool or a database tell all there is."""
    (trace,) = traces(
        span(2, chat([text("user", "How many?")], call("c1"))),
        span(
            5,
            chat(
                [text("user", "How many?"), call("c1"), result("c1")],
                text("assistant", "47"),
            ),
            trace_id=OTHER,
        ),
    )
    assert shape(trace) == WHOLE
    assert trace.stage("execute").rows == [{"n": 47}]


CALL = {"id": "c1", "type": "function", "function": {"name": "run_sql"}}
CALL["function"]["arguments"] = json.dumps({"sql": SQL})


def record(event, body, at_ms, *, span_id="a" * 16, trace_id=TRACE, **attributes):
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time_ns=START + at_ms * 1_000_000,
        event_name=event,
        body=body,
        attributes={"gen_ai.system": "openai", **attributes},
        resource={"service.name": "agent"},
        scope=Scope(name="opentelemetry.instrumentation.openai_v2"),
    )


def test_message_records_without_their_spans_make_a_trace():
    """Spans were sampled away or not exported: the records hold all that was said."""
    first = (
        record("gen_ai.user.message", {"content": "How many?"}, 1),
        record("gen_ai.choice", {"message": {"tool_calls": [CALL]}}, 2),
    )
    later = {"span_id": "b" * 16, "trace_id": OTHER}
    second = (
        record("gen_ai.user.message", {"content": "How many?"}, 5, **later),
        record("gen_ai.assistant.message", {"tool_calls": [CALL]}, 6, **later),
        record("gen_ai.tool.message", {"id": "c1", "content": '[{"n": 47}]'}, 7, **later),
        record("gen_ai.choice", {"message": {"content": "47"}}, 8, **later),
    )
    (trace,) = assemble(
        [OtelTrace(trace_id=TRACE, logs=first), OtelTrace(trace_id=OTHER, logs=second)]
    )
    assert shape(trace) == WHOLE
    assert trace.stage("execute").rows == [{"n": 47}]
    assert trace.meta["lost_spans"] == 2
    assert trace.meta["service"] == "agent"


def test_details_records_of_lost_spans_join_the_spans_that_came():
    """Only the statement's span arrived; both model calls are known from their records."""

    def details(span_id, at_ms, inputs, *outputs):
        said = {"gen_ai.input.messages": inputs, "gen_ai.output.messages": list(outputs)}
        return record(
            "gen_ai.client.inference.operation.details", None, at_ms, span_id=span_id,
            **{"gen_ai.operation.name": "chat", **said},
        )  # fmt: skip

    question = text("user", "How many?")
    (trace,) = assemble(
        [
            OtelTrace(
                trace_id=TRACE,
                spans=(span(3, {"db.query.text": SQL}),),
                logs=(
                    details("a" * 16, 1, [question], call("c1")),
                    details("b" * 16, 8, [question, call("c1"), result("c1")], text("assistant", "47")),
                ),
            )
        ]
    )  # fmt: skip
    assert shape(trace) == WHOLE
    assert trace.stage("execute").rows == [{"n": 47}]


def test_other_log_records_make_no_trace():
    """A program's own log lines are no turns, nor are events that name no span."""
    logs = (
        record("", "orders loaded", 1),
        record("gen_ai.user.message", {"content": "How many?"}, 2, span_id=""),
    )
    assert list(assemble([OtelTrace(trace_id=TRACE, logs=logs)])) == []
