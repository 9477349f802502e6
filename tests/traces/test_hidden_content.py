"""Absent, empty, masked, cut and unparseable content each come out as what they are."""

from __future__ import annotations

import json

import pytest

from dbagenteval.traces import assemble
from dbagenteval.traces.rows import read_rows
from tests.traces.spans import one_trace, span

SQL = "SELECT count(*) AS n FROM orders"
ASKED, ANSWER = "How many orders?", "There are 47 orders."
CALL = json.dumps({"sql": SQL})


def told(question=ASKED, call=CALL, result="[[47]]", answer=ANSWER):
    """Give the Trace of an agent with one use of a tool."""
    agent = {"openinference.span.kind": "AGENT", "input.value": question, "output.value": answer}
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "run_sql",
        "input.value": call,
        "output.value": result,
    }
    (trace,) = assemble(one_trace(span(1, agent, for_ms=90), span(2, tool, parent=1)))
    return trace


def states(trace):
    """Give the states of question, SQL, rows and answer."""
    notes = trace.meta["not_observed"]
    question = next((note["state"] for note in notes if note["what"] == "question"), "present")
    return (
        question,
        trace.stage("generate").observed("output").state,
        trace.stage("execute").observed("rows").state,
        trace.stage("answer").observed("output").state,
    )


@pytest.mark.parametrize(
    "mask",
    [
        "__REDACTED__",
        "REDACTED",
        "<redacted>",
        "{{REDACTED}}",
        "[redacted by collector]",
        "[CONTENT REDACTED]",
        "***",
        "********",
        "XXXX",
        "[MASKED]",
        "[Filtered]",
        "[Scrubbed due to 'auth']",
        "<EMAIL_ADDRESS>",
        "5d41402abc4b2a76b9719d911017c592",
        "sha256:" + "9f86d081884c7d65" * 4,
    ],
)
def test_a_mask_is_no_content(mask):
    """Whatever a redaction puts in place of a value, it is never a text, SQL or an empty result."""
    trace = told(mask, mask, mask, mask)
    assert states(trace) == ("masked", "masked", "masked", "masked")
    assert trace.question == ""
    assert [stage.output for stage in trace.stages] == [None, None, None]
    assert trace.stage("execute").rows is None


@pytest.mark.parametrize("mask", ["[REDACTED]", "__REDACTED__", "****", "<PERSON>"])
def test_a_mask_within_a_value_hides_it(mask):
    """What has a masked part is shown to people and is no evidence."""
    trace = told(
        f"What did {mask} order?",
        json.dumps({"sql": f"SELECT name FROM c WHERE mail = '{mask}'"}),
        json.dumps([{"name": mask}]),
        f"It was {mask} who did.",
    )
    assert states(trace) == ("masked", "masked", "masked", "masked")


def test_a_masked_statement_is_seen_to_have_run():
    """The execution stays, so that no rule takes the turn for one without statements."""
    trace = told(call=json.dumps({"sql": "***"}))
    assert states(trace) == ("present", "masked", "present", "present")


@pytest.mark.parametrize(
    "mark", ["... [truncated]", "...[truncated]", "[TRUNCATED]", "<truncated>"]
)
def test_a_cut_value_is_cut(mark):
    """Marks of cutting count for each field, and broken arguments are no statement."""
    rows = json.dumps([{"n": number} for number in range(9)])
    trace = told(f"How many orders{mark}", CALL[:-9] + mark, rows[:40] + mark, f"There are{mark}")
    assert states(trace) == ("cut", "cut", "cut", "cut")
    assert trace.stage("generate").output is None


def test_empty_arguments_do_not_hide_an_execution():
    """A tool that runs SQL and whose arguments were emptied ran a statement that is not seen."""
    assert states(told(call="")) == ("present", "not captured", "present", "present")


@pytest.mark.parametrize("said", ["null", "None", "", "{}"])
def test_no_answer_is_not_captured(said):
    """JSON's null and an empty text say nothing."""
    assert states(told(answer=said))[3] == "not captured"


@pytest.mark.parametrize(
    "recorded",
    [
        json.dumps({"columns": ["n"], "rows": [[1]], "note": "output truncated"}),
        json.dumps([{"n": "abc...[truncated]"}]),
        "n\n1\n2\n[truncated]",
    ],
)
def test_rows_that_say_they_are_cut(recorded):
    """A note beside rows and a mark in a cell count alike."""
    assert read_rows(recorded, "SELECT n FROM t").state == "cut"


@pytest.mark.parametrize("cell", ["****1234", "[x]", "truncated cone", "and so on..."])
def test_data_that_looks_like_a_mark_is_data(cell):
    """Card numbers, brackets and dots of the data's own are compared as they are."""
    read = read_rows(json.dumps([{"a": cell}]))
    assert (read.rows, read.state) == ([{"a": cell}], "present")


def test_a_plain_turn_is_present():
    """Without any mark all four are evidence."""
    assert states(told()) == ("present", "present", "present", "present")
