"""Stages that an agent tags with our own attributes."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from dbagenteval.traces import assemble
from tests.traces.spans import one_trace, span

SQL = "SELECT count(*) AS n FROM orders"
QUESTION = {"dbagenteval.question": "How many orders?"}


def stage(kind, **facts):
    names = {
        "output": "dbagenteval.output",
        "sql": "db.query.text",
        "rows": "dbagenteval.rows",
        "truncated": "dbagenteval.rows.truncated",
        "error": "dbagenteval.error",
        "name": "dbagenteval.stage.name",
    }
    return {"dbagenteval.stage": kind} | {names[key]: value for key, value in facts.items()}


def whole_run():
    return [
        span(1, QUESTION | {"session.id": "s1", "dbagenteval.case.id": "c1"}, for_ms=90),
        span(2, stage("route", output="data"), parent=1),
        span(3, stage("retrieve", output='["orders", "customers"]'), parent=1),
        span(4, stage("generate", sql=SQL), parent=1),
        span(5, stage("execute", sql=SQL, rows='[{"n": 47}]'), parent=1, for_ms=2.5),
        span(6, stage("answer", output="47 orders."), parent=1),
    ]


def only(spans):
    (trace,) = assemble(one_trace(*spans))
    return trace


def test_a_tagged_run_gives_its_stages():
    """Each tagged span is a stage with what its attributes say."""
    trace = only(whole_run())
    assert trace.question == "How many orders?"
    assert [(s.kind, s.name, s.output) for s in trace.stages] == [
        ("route", "route", "data"),
        ("retrieve", "retrieve", ["orders", "customers"]),
        ("generate", "generate", SQL),
        ("execute", "execute", None),
        ("answer", "answer", "47 orders."),
    ]
    execute = trace.stages[3]
    assert execute.rows == [{"n": 47}]
    assert execute.latency_ms == 2.5
    assert execute.meta == {"span_ids": [f"{5:016x}"], "sql": SQL}
    assert trace.meta["case_id"] == "c1"
    assert trace.meta["session_id"] == "s1"
    assert trace.meta["service"] == "agent"
    assert trace.meta["not_observed"] == []
    assert [one["span_id"] for one in trace.meta["unused"]] == [f"{1:016x}"]


def test_arrival_order_and_duplicates_do_not_matter():
    """Any order, duplicates and all, gives the same Trace."""
    expected = only(whole_run()).to_dict()
    for order in itertools.islice(itertools.permutations(whole_run()), 0, 720, 31):
        assert only(list(order)).to_dict() == expected
    doubled = whole_run() * 2
    random.Random(4).shuffle(doubled)
    assert only(doubled).to_dict() == expected


def test_an_execution_without_a_generate_span_gives_both_stages():
    """The SQL of an execute span must not escape the rules that read generate stages."""
    spans = [one for one in whole_run() if one.attributes.get("dbagenteval.stage") != "generate"]
    names = [(s.name, s.output) for s in only(spans).stages]
    assert ("generate", SQL) in names
    assert [name for name, _ in names] == ["route", "retrieve", "generate", "execute", "answer"]


def test_retries_are_stages_of_their_own():
    """A failed statement and its correction are generate, execute, generate_2, execute_2."""
    bad = "SELECT count(*) FROM order"
    spans = [
        span(1, QUESTION, for_ms=90),
        span(2, stage("generate", sql=bad), parent=1),
        span(3, stage("execute", sql=bad), parent=1, status_code=2, status_message="no such table"),
        span(4, stage("generate", sql=SQL), parent=1),
        span(5, stage("execute", sql=SQL, rows="[]"), parent=1),
    ]
    trace = only(spans)
    assert [s.name for s in trace.stages] == ["generate", "execute", "generate_2", "execute_2"]
    assert [s.error for s in trace.stages] == [None, "no such table", None, None]
    assert trace.stages[3].rows == []
    assert trace.stages[3].observed("rows").state == "empty"


def test_a_database_span_below_gives_sql_and_error():
    """An auto-instrumented driver below a tagged execute span tells what ran."""
    spans = [
        span(1, QUESTION, for_ms=90),
        span(2, stage("execute"), parent=1),
        span(
            3,
            {"db.system": "postgresql", "db.statement": SQL},
            parent=2,
            status_code=2,
            events=[
                (
                    "exception",
                    {"exception.type": "psycopg.OperationalError", "exception.message": "gone"},
                )
            ],
        ),
    ]
    trace = only(spans)
    assert [(s.name, s.output, s.error) for s in trace.stages] == [
        ("generate", SQL, None),
        ("execute", None, "OperationalError: gone"),
    ]
    assert trace.stages[1].meta["span_ids"] == [f"{2:016x}", f"{3:016x}"]
    assert trace.meta["dialect"] == "postgres"


def test_several_questions_in_one_otel_trace_are_several_traces():
    """A batch run under one root span gives a Trace for each question."""
    spans = [span(1, name="batch", for_ms=90)]
    for number, question in ((2, "How many?"), (4, "Which?")):
        spans += [
            span(number, {"dbagenteval.question": question}, parent=1),
            span(number + 1, stage("answer", output=question), parent=number),
        ]
    traces = list(assemble(one_trace(*spans)))
    assert [(t.question, t.stages[0].output) for t in traces] == [
        ("How many?", "How many?"),
        ("Which?", "Which?"),
    ]


def test_a_question_repeated_on_the_stage_spans_is_one_turn():
    """Tagging each stage with the question asks it once."""
    spans = [span(1, name="root", for_ms=90)] + [
        span(number, stage(kind, output="x") | QUESTION, parent=1)
        for number, kind in ((2, "route"), (3, "answer"))
    ]
    assert [s.name for s in only(spans).stages] == ["route", "answer"]


def test_a_question_without_stages_still_gives_a_trace():
    """An agent that crashed at once is seen."""
    trace = only([span(1, QUESTION)])
    assert (trace.question, trace.stages) == ("How many orders?", [])


@pytest.mark.parametrize(
    ("recorded", "rows", "state"),
    [
        ('[{"n": 47}]', [{"n": 47}], "present"),
        ('{"columns": ["n", "n"], "rows": [[1, 2]]}', [{"n": 1, "n_2": 2}], "present"),
        ("[[47, null]]", [{"column_1": 47, "column_2": None}], "present"),
        ("[]", [], "empty"),
        ('{"columns": ["n"], "rows": []}', [], "empty"),
        ("", None, "not captured"),
        (" \n", None, "not captured"),
        ("No rows found.", None, "unparseable"),
        ("null", None, "unparseable"),
        ('""', None, "unparseable"),
        ('[{"n": 4', None, "cut"),
        ("all of them", None, "unparseable"),
        ("[1, [2]]", None, "unparseable"),
        (None, None, "not captured"),
    ],
)
def test_rows_say_what_they_are(recorded, rows, state):
    """Rows that can't be read are no empty result."""
    facts = {"sql": SQL} if recorded is None else {"sql": SQL, "rows": recorded}
    execute = only([span(1, QUESTION), span(2, stage("execute", **facts), parent=1)]).stages[-1]
    assert (execute.rows, execute.observed("rows").state) == (rows, state)


def test_truncated_rows_are_no_evidence():
    """Rows that the agent cut are kept and marked."""
    facts = stage("execute", sql=SQL, rows='[{"n": 1}]', truncated=True)
    answer = span(3, stage("answer", output="1"), parent=1)
    trace = only([span(1, QUESTION), span(2, facts, parent=1), answer])
    assert trace.stage("execute").rows == [{"n": 1}]
    assert trace.stage("execute").observed("rows").is_evidence is False
    assert trace.meta["not_observed"] == [
        {
            "what": "rows",
            "stage": "execute",
            "state": "cut",
            "why": "not all rows were recorded: dbagenteval.rows.truncated is set",
        }
    ]


def test_unknown_stage_kinds_are_named():
    """A misspelt stage kind is named; its statement is seen all the same."""
    trace = only([span(1, QUESTION), span(2, stage("excute", sql=SQL), parent=1)])
    assert [one["why"] for one in trace.meta["not_observed"] if one["what"] == "stage"] == [
        "dbagenteval.stage is 'excute'; expected one of "
        "route, plan, retrieve, generate, execute, answer",
    ]
    assert trace.stage("generate").output == SQL


def test_every_span_is_in_a_stage_or_listed_as_unused():
    """Nothing is dropped in silence."""
    spans = [*whole_run(), span(7, {"db.statement": SQL}, parent=1), span(8, name="http send")]
    trace = only(spans)
    named = {one["span_id"] for one in trace.meta["unused"]}
    for one in trace.stages:
        named |= set(one.meta["span_ids"])
    assert named == {one.span_id for one in spans}
    assert trace.meta["spans"] == len(spans)


def test_a_trace_made_from_spans_is_json():
    """Meta and stages survive a round trip through JSON."""
    trace = only(whole_run())
    assert json.loads(json.dumps(trace.to_dict())) == trace.to_dict()


def test_importing_traces_stays_light():
    """`assemble` is loaded when asked for."""
    import subprocess
    import sys

    code = "import sys, dbagenteval.traces; print('dbagenteval.traces.assembly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def auto_tool(number, parent, sql=SQL):
    facts = {
        "openinference.span.kind": "TOOL",
        "tool.name": "run_sql",
        "input.value": json.dumps({"sql": sql}),
        "output.value": "47",
    }
    return span(number, facts, parent=parent, for_ms=20)


def test_a_tagged_execution_within_an_instrumented_tool_ran_once():
    """Hand tagging inside a framework's tool tells of the same statement."""
    trace = only(
        [
            span(1, QUESTION, for_ms=90),
            auto_tool(2, 1),
            span(3, stage("execute", sql=SQL, rows='[{"n": 47}]'), parent=2),
        ]
    )
    assert [(s.name, s.output) for s in trace.stages] == [("generate", SQL), ("execute", None)]
    assert trace.stage("execute").rows == [{"n": 47}]


def test_statements_beside_the_tagged_ones_are_seen():
    """An agent that tags one statement doesn't hide another that its framework ran."""
    other = "DELETE FROM orders"
    trace = only(
        [
            span(1, QUESTION, for_ms=90),
            span(2, stage("execute", sql=SQL, rows='[{"n": 47}]'), parent=1),
            auto_tool(5, 1, other),
        ]
    )
    assert [s.output for s in trace.stages if s.kind == "generate"] == [SQL, other]


def test_a_tagged_kind_is_not_told_twice():
    """Routes and plans that the agent tags itself are not read from its framework too."""
    handoff = {
        "openinference.span.kind": "TOOL",
        "tool.name": "transfer_to_sql_agent",
        "output.value": "sql_agent",
    }
    trace = only(
        [
            span(1, QUESTION, for_ms=90),
            span(2, stage("route", output="data"), parent=1),
            span(3, handoff, parent=1),
        ]
    )
    assert [(s.name, s.output) for s in trace.stages if s.kind == "route"] == [("route", "data")]


def test_an_untagged_agent_inside_our_question_is_read_as_it_is():
    """The question is ours; the stages are those of the framework below."""
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": "How many orders?",
        "output.value": "There are 47.",
    }
    trace = only(
        [
            span(1, QUESTION | {"dbagenteval.case.id": "c9"}, for_ms=90),
            span(2, agent, parent=1, for_ms=80),
            auto_tool(3, 2),
        ]
    )
    assert trace.meta["case_id"] == "c9"
    assert [(s.name, s.output) for s in trace.stages] == [
        ("generate", SQL),
        ("execute", None),
        ("answer", "There are 47."),
    ]


def test_a_question_that_ended_with_an_error_fails_at_its_answer():
    """The span of the question says that the agent crashed."""
    crashed = span(1, QUESTION, status_code=2, status_message="boom")
    trace = only([crashed, span(2, stage("route", output="data"), parent=1)])
    assert [(s.kind, s.error) for s in trace.stages] == [("route", None), ("answer", "boom")]
