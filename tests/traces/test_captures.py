"""Traces of real agent frameworks against what was asked, run and answered.

Each folder in `data/` is a trimmed capture of an unmodified framework with public
instrumentation, and the ground truth of its questions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.capture_table import FIELDS, compare, table, trace_for, traces_of, truths_of

DATA = Path(__file__).parent / "data"
STACKS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())

# What is in no span of a capture, and what the Trace says then. All else must be exact.
_NO_CONTENT = dict.fromkeys(FIELDS, "not captured")
ABSENT = {
    "fastapi_psycopg_dbonly": {
        "question": "not captured",
        "rows": "not captured",
        "answer": "not captured",
    },
    "openai_v2_sqlite3_nocontent": {
        "question": "not captured",
        "rows": "not captured",
        "answer": "not captured",
    },
    "agno_oi_masked": dict.fromkeys(FIELDS, "masked"),
    "google_adk_v2_nocontent": _NO_CONTENT,
    "langchain_genai_nocontent": _NO_CONTENT,
    "pydantic_ai_nocontent": _NO_CONTENT,
}
ABSENT_IN = {
    ("langchain_oi_truncated", "q13", "rows"): "cut",
    ("vanna2_ollm_openai", "q13", "rows"): "cut",
    ("agno_oi", "r07", "rows"): "cut",
    ("agno_ollm", "r07", "rows"): "cut",
    # The span has the exception's type; its text is content.
    (
        "pydantic_ai_nocontent",
        "r02",
        "error",
    ): "got 'ToolRetryError' for 'no such column: order_status'",
}


def there_is(name, truth):
    """Say whether a question has the field at all."""
    ran = truth["agent_sql"]
    if name == "sql":
        return bool(ran)
    if name == "rows":
        return any("rows" in one for one in ran)
    if name == "error":
        return any("error" in one for one in ran)
    return True


@pytest.mark.parametrize("stack", STACKS)
def test_each_question_has_its_fields(stack):
    """Question, each SQL with rows or error, and answer are those of the ground truth."""
    traces = traces_of(DATA / stack)
    for truth in truths_of(DATA / stack):
        trace = trace_for(truth, traces)
        found = compare(truth, trace)
        for name in FIELDS:
            absent = ABSENT_IN.get((stack, truth["id"], name)) or ABSENT.get(stack, {}).get(name)
            if absent is None or not there_is(name, truth):
                assert found[name] in ("ok", "-"), (truth["id"], name)
            else:
                assert found[name] == absent, (truth["id"], name)


@pytest.mark.parametrize("stack", STACKS)
def test_there_is_one_trace_for_each_question(stack):
    """Traces of structure, of health checks and of agent creation give none of their own."""
    truths = truths_of(DATA / stack)
    traces = traces_of(DATA / stack)
    assert len(traces) == len(truths)
    assert len({id(trace_for(truth, traces)) for truth in truths}) == len(truths)


@pytest.mark.parametrize("stack", STACKS)
def test_every_span_of_a_trace_is_in_a_stage_or_unused(stack):
    """No span is dropped from a Trace in silence."""
    for trace in traces_of(DATA / stack):
        named = {one["span_id"] for one in trace.meta["unused"]}
        for stage in trace.stages:
            named |= set(stage.meta["span_ids"])
        assert len(named) == trace.meta["spans"]


@pytest.mark.parametrize(
    ("stack", "what", "remedy"),
    [
        ("fastapi_psycopg_dbonly", "question", "no model spans arrived"),
        ("fastapi_psycopg_dbonly", "rows", "dbagenteval instrument"),
        (
            "openai_v2_sqlite3_nocontent",
            "question",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        ),
        (
            "openai_v2_sqlite3_nocontent",
            "rows",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        ),
        ("agno_oi_masked", "question", "OPENINFERENCE_HIDE_INPUTS"),
        ("agno_oi_masked", "rows", "OPENINFERENCE_HIDE_OUTPUTS"),
        ("google_adk_v2_nocontent", "question", "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("langchain_genai_nocontent", "answer", "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("pydantic_ai_nocontent", "question", "include_content=True"),
        ("langchain_oi_truncated", "rows", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        ("vanna2_ollm_openai", "rows", "truncated to 1000 characters"),
    ],
)
def test_what_is_missing_says_what_to_change(stack, what, remedy):
    """The reason names the setting that hides the content."""
    reasons = [
        one["why"]
        for trace in traces_of(DATA / stack)
        for one in trace.meta["not_observed"]
        if one["what"] == what or (what == "answer" and one["stage"] == "answer")
    ]
    assert reasons
    assert all(remedy in reason for reason in reasons)


def test_sessions_are_those_of_the_capture():
    """A session id is that of the framework; where none is sent, none is made up."""
    for stack, has_session in (("pydantic_ai_native", True), ("openai_agents_oi", False)):
        traces = traces_of(DATA / stack)
        for truth in truths_of(DATA / stack):
            expected = truth["session"] if has_session else None
            trace = trace_for(truth, traces)
            assert trace is not None
            assert trace.meta["session_id"] == expected


def test_tokens_are_counted_once():
    """The sum on the agent's span is no call of its own."""
    traces = traces_of(DATA / "pydantic_ai_native")
    truth = next(one for one in truths_of(DATA / "pydantic_ai_native") if one["id"] == "q10b")
    trace = trace_for(truth, traces)
    assert trace is not None
    assert trace.meta["tokens"] == {"input": 588, "output": 57}
    assert trace.meta["model"] == "gpt-4o-mini"
    assert trace.meta["cost"] == pytest.approx(0.000122, abs=1e-5)


def test_the_table_of_stacks_and_fields_is_printed(capsys):
    """A person sees at a glance which stack gives what."""
    text, _ = table([DATA / stack for stack in STACKS])
    with capsys.disabled():
        print(f"\n{text}")  # noqa: T201
    assert len(text.splitlines()) == len(STACKS) + 1
