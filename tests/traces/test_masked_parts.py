"""What our own redaction replaced is no evidence, wherever it stands."""

from __future__ import annotations

import json

import pytest

from dbagenteval.traces.rows import read_rows
from tests.traces.spans import span
from tests.traces.test_tagged import QUESTION, SQL, only, stage

MASK = "[REDACTED:email]"


@pytest.mark.parametrize(
    "recorded",
    [
        json.dumps([{"n": 47, "mail": MASK}]),
        json.dumps([{"n": 47, "mail": f"to {MASK}"}]),
        json.dumps({"columns": ["mail"], "rows": [["a"], [MASK]]}),
        MASK,
    ],
)
def test_rows_with_a_replaced_cell_are_masked(recorded):
    """Rows with a hidden cell are shown and never compared."""
    assert read_rows(recorded).state == "masked"
    facts = stage("execute", sql=SQL, rows=recorded)
    execute = only([span(1, QUESTION), span(2, facts, parent=1)]).stage("execute")
    assert execute.observed("rows").state == "masked"


def test_plain_brackets_are_no_mask():
    """Only what a redaction rule writes counts."""
    assert read_rows(json.dumps([{"a": "[REDACTED: see note]"}, {"a": "[x]"}])).state == "present"


@pytest.mark.parametrize("said", [MASK, f"Write to {MASK}."])
def test_an_answer_with_a_replaced_part_is_masked(said):
    """Tagged and framework-made answers alike are no evidence."""
    tagged = only([span(1, QUESTION), span(2, stage("answer", output=said), parent=1)])
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": "Whose mail?",
        "output.value": said,
    }
    for trace in (tagged, only([span(1, agent)])):
        assert trace.stage("answer").observed("output").state == "masked"
        assert [(n["what"], n["state"]) for n in trace.meta["not_observed"]] == [
            ("output", "masked")
        ]


def test_a_question_with_a_replaced_part_is_noted():
    """Its text is kept for people, and the trace says that it is not what was asked."""
    asked = f"What did {MASK} order?"
    trace = only(
        [
            span(1, {"dbagenteval.question": asked}),
            span(2, stage("answer", output="Tea."), parent=1),
        ]
    )
    assert trace.question == asked
    assert [(n["what"], n["state"]) for n in trace.meta["not_observed"]] == [("question", "masked")]
