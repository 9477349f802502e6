"""Questions, answers and statements in the objects that frameworks put around them."""

from __future__ import annotations

import json

import pytest

from dbagenteval.traces.spoken import answer_text, question_text
from dbagenteval.traces.sqltext import sql_in_arguments
from tests.traces.vendor_runs import ANSWER, QUESTION, SQL

HUMAN = f"HumanMessage(content='{QUESTION}', additional_kwargs={{}}, id='x')"
AI = f"AIMessage(content='{ANSWER}', response_metadata={{'model': 'm'}})"


@pytest.mark.parametrize(
    "sent",
    [
        {"messages": [["user", QUESTION]]},
        {"messages": [["system", "Be brief."], ["human", QUESTION]]},
        str({"messages": [{"role": "user", "content": QUESTION}]}),
        str({"question": QUESTION, "tenant_id": 7}),
        f"{{'messages': [{HUMAN}], 'remaining_steps': 25}}",
        {"user_msg": QUESTION, "chat_history": None},
        {"args": ["tenant-7", QUESTION], "kwargs": {}},
    ],
)
def test_a_question_is_found_in_any_input(sent):
    """Exactly the text that the user sent."""
    assert question_text(sent if isinstance(sent, str) else json.dumps(sent)) == QUESTION


@pytest.mark.parametrize(
    "given",
    [
        {"response": {"role": "assistant", "blocks": [{"block_type": "text", "text": ANSWER}]}},
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "stop_reason": "end"},
        {"generations": [[{"text": ANSWER}]]},
        f"[[ ## reasoning ## ]]\nEasy.\n\n[[ ## answer ## ]]\n{ANSWER}\n\n[[ ## completed ## ]]",
        f"{{'messages': [{HUMAN}, {AI}]}}",
    ],
)
def test_an_answer_is_found_in_any_output(given):
    """Exactly the text that the agent said."""
    assert answer_text(given if isinstance(given, str) else json.dumps(given)) == ANSWER


@pytest.mark.parametrize(
    "given", [f"{{'messages': [{HUMAN}]}}", "{'rows': [Row(n=47)]}", {"choices": []}]
)
def test_an_object_in_which_nobody_answers_is_no_answer(given):
    """What the user said, or an object that printed itself, was not said by the agent."""
    assert answer_text(given if isinstance(given, str) else json.dumps(given)) is None


def test_an_object_that_printed_itself_is_no_question():
    """A step of smolagents shows itself as its input where the run around it is lost."""
    assert question_text("ActionStep(step_number=1, timing=Timing(start_time=1.5))") is None


@pytest.mark.parametrize(
    "arguments",
    [
        str({"query": SQL}),
        f"```sql\n{SQL}\n```",
        {"sql": f"```sql\n{SQL}\n```"},
        {"sql": [SQL]},
        {"queries": [SQL]},
        {"request": {"sql": SQL}},
    ],
)
def test_a_statement_is_found_in_any_arguments(arguments):
    """Reprs, fences and lists of one do not hide it."""
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    assert sql_in_arguments(sent) == SQL


def test_two_statements_in_one_argument_are_not_taken_for_one():
    """Which of them ran can't be told."""
    assert sql_in_arguments({"queries": [SQL, "SELECT 2 AS x"]}) is None
