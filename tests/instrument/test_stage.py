"""The stage helper sets the documented attributes on real spans."""

import datetime
import json
import sqlite3

import pytest
from opentelemetry import baggage, context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from dbagenteval.instrument import stage


@pytest.fixture
def recorded():
    """A tracer and the spans that it finished."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test"), exporter.get_finished_spans


def test_records_sql_rows_and_names(recorded):
    """Kind, name, SQL and rows end up as attributes that JSON can read back."""
    tracer, finished = recorded
    with stage("execute", "run", question="How many?", session_id="s", tracer=tracer) as step:
        step.sql("SELECT 1")
        step.rows([(1, datetime.date(2026, 1, 4)), (2, None)], columns=["id", "day"])
    (span,) = finished()
    attributes = dict(span.attributes)
    assert json.loads(attributes.pop("dbagenteval.rows")) == {
        "columns": ["id", "day"],
        "rows": [[1, "2026-01-04"], [2, None]],
    }
    assert attributes == {
        "dbagenteval.stage": "execute",
        "dbagenteval.stage.name": "run",
        "dbagenteval.question": "How many?",
        "session.id": "s",
        "db.query.text": "SELECT 1",
    }


def test_too_many_rows_are_cut_and_marked(recorded):
    """A result over the cap is marked, so that no check takes it for whole."""
    tracer, finished = recorded
    with stage("execute", tracer=tracer) as step:
        step.rows({"n": n} for n in range(1001))
    (span,) = finished()
    assert len(json.loads(span.attributes["dbagenteval.rows"])) == 1000
    assert span.attributes["dbagenteval.rows.truncated"] is True


def test_exactly_the_cap_is_not_cut(recorded):
    """A result of just the cap is whole."""
    tracer, finished = recorded
    with stage("execute", tracer=tracer) as step:
        step.rows([{"n": n} for n in range(1000)])
    assert "dbagenteval.rows.truncated" not in finished()[0].attributes


def test_an_exception_is_recorded_and_goes_on(recorded):
    """The agent sees its own exception; the span has it too."""
    tracer, finished = recorded
    with pytest.raises(KeyError), stage("generate", tracer=tracer):
        raise KeyError("no such table")
    (span,) = finished()
    assert span.status.status_code is StatusCode.ERROR
    assert span.events[0].name == "exception"


def test_case_id_comes_from_baggage(recorded):
    """A caller that sends the case id as baggage needs no code in the agent."""
    tracer, finished = recorded
    token = context.attach(baggage.set_baggage("dbagenteval.case.id", "c-7"))
    try:
        with stage("answer", tracer=tracer) as step:
            step.output({"text": "seven"})
    finally:
        context.detach(token)
    (span,) = finished()
    assert span.attributes["dbagenteval.case.id"] == "c-7"
    assert json.loads(span.attributes["dbagenteval.output"]) == {"text": "seven"}


def test_an_unknown_kind_is_refused(recorded):
    """A mistyped kind fails where it is written."""
    tracer, finished = recorded
    with (
        pytest.raises(ValueError, match="expected one of route, plan"),
        stage("sql", tracer=tracer),
    ):
        pass
    assert finished() == ()


def test_rows_that_know_their_names_keep_them(recorded):
    """sqlite3.Row is no mapping, but has keys."""
    tracer, finished = recorded
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    with stage("execute", tracer=tracer) as step:
        step.rows(database.execute("SELECT 1 AS one, 2 AS two").fetchall())
    assert json.loads(finished()[0].attributes["dbagenteval.rows"]) == [{"one": 1, "two": 2}]


@pytest.mark.parametrize(("rows", "columns"), [("abc", None), ([1], None), ([(1, 2)], ["a"])])
def test_what_are_no_rows_is_warned_of_and_not_recorded(recorded, rows, columns, caplog):
    """A mistake in the instrumentation neither ends the agent nor becomes evidence."""
    tracer, finished = recorded
    with stage("execute", tracer=tracer) as step:
        step.rows(rows, columns)
    assert "dbagenteval.rows" not in finished()[0].attributes
    assert "stage rows not recorded" in caplog.text
