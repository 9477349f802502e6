"""What a service lets one see, summed up over its turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbagenteval.traces import coverage
from tests.traces.capture_table import traces_of

DATA = Path(__file__).parent / "data"


def of(*stacks):
    return coverage(trace for stack in stacks for trace in traces_of(DATA / stack))


def test_a_service_that_tells_all_needs_no_advice():
    """Every field is seen in every turn that has it."""
    (service,) = of("pydantic_ai_native")
    assert (service.service, service.turns) == ("pydantic-ai-sql", 12)
    assert {name: one.share for name, one in service.fields.items()} == {
        "question": 1.0,
        "sql": 1.0,
        "rows": 1.0,
        "answer": 1.0,
    }
    assert service.fields["sql"].expected == 11  # one turn is chit-chat
    assert service.advice == {}


def test_a_service_without_content_is_told_what_to_set():
    """Questions and answers are hidden, statements are not, and the advice names the variable."""
    (service,) = of("openai_v2_sqlite3_nocontent")
    assert service.turns == 12
    assert {name: one.share for name, one in service.fields.items()} == {
        "question": 0.0,
        "sql": 1.0,
        "rows": 0.0,
        "answer": 0.0,
    }
    assert service.fields["question"].states == {"not captured": 12}
    assert any(
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in advice
        for advice in service.advice
    )


def test_a_cut_result_counts_as_hidden():
    """Rows that a tool truncated are no evidence in that turn."""
    (service,) = of("vanna2_ollm_openai")
    rows = service.fields["rows"]
    assert rows.expected - rows.seen == 1
    assert rows.states == {"cut": 1}
    assert rows.share == pytest.approx(rows.seen / rows.expected)


def test_services_are_apart():
    """Each service has figures of its own, in order of name."""
    services = of("strands_native", "fastapi_psycopg_dbonly")
    assert [one.service for one in services] == ["shop-assistant-api", "strands-sql"]
    assert services[0].fields["question"].share == 0.0
    assert services[1].fields["question"].share == 1.0
    assert any("no model spans arrived" in advice for advice in services[0].advice)


def test_no_turns_no_services():
    """An empty store gives nothing, and no share is made up."""
    assert coverage([]) == []
    chat = [
        trace
        for trace in traces_of(DATA / "strands_native")
        if all(stage.kind == "answer" for stage in trace.stages)
    ]
    (service,) = coverage(chat)
    assert service.turns == 1
    assert service.fields["rows"].share is None
