"""Cases with follow-up questions against a live agent."""

from __future__ import annotations

import asyncio
from typing import Any

from dbagenteval import Case, Trace, run_suite
from dbagenteval.cases import Turn

QUESTION = "How many orders?"
CASE = Case(QUESTION, id="count", expect={"rows": [{"n": 3}]}, tags=["easy"])


def good(question: str) -> Trace:
    """Answer rightly."""
    sql = "SELECT COUNT(*) AS n FROM orders"
    return Trace.simple(question, answer="3", sql=sql, rows=[{"n": 3}])


async def good_async(question: str) -> dict[str, Any]:
    """Answer rightly, after a wait, as a dict."""
    await asyncio.sleep(0)
    return good(question).to_dict()


CONVERSATION = Case.from_dict(
    {
        "id": "talk",
        "turns": [
            {"question": "How many orders?", "reference_sql": "SELECT 3 AS n"},
            {"question": "And last year?", "expect": {"rows": [{"n": 2}]}},
        ],
    }
)


def test_a_conversation_gives_one_card_for_each_turn() -> None:
    """The agent gets what was said before, if it has a parameter for it."""
    heard: list[list[dict[str, str]]] = []
    sessions: list[str] = []

    def agent(question: str, conversation: list[dict[str, str]], *, session_id: str) -> Trace:
        heard.append(conversation)
        sessions.append(session_id)
        n = 3 if not conversation else 2
        return Trace.simple(question, sql="S", rows=[{"n": n}], answer=f"There are {n}.")

    result = run_suite([CONVERSATION], agent, execute=lambda sql: [{"n": 3}])
    assert [(card.case_id, card.question, card.verdict) for card in result.cards] == [
        ("talk#1", "How many orders?", "PASS"),
        ("talk#2", "And last year?", "PASS"),
    ]
    assert heard == [
        [],
        [
            {"role": "user", "content": "How many orders?"},
            {"role": "assistant", "content": "There are 3."},
        ],
    ]
    assert sessions[0] == sessions[1] != ""


def test_an_agent_without_such_a_parameter_is_asked_turn_by_turn() -> None:
    """It keeps its own memory, or has none; a second parameter of another name is left alone."""
    asked: list[tuple[str, bool]] = []

    def agent(question: str, debug: bool = False) -> str:
        asked.append((question, debug))
        return "3"

    result = run_suite([CONVERSATION], agent, execute=lambda sql: [{"n": 3}])
    assert asked == [("How many orders?", False), ("And last year?", False)]
    assert [card.verdict for card in result.cards] == ["PASS", "FAIL"]


def test_after_a_turn_that_could_not_run_the_next_is_not_asked() -> None:
    """Its answer would mean nothing."""
    case = Case("one", id="t", turns=[Turn("two"), Turn("three")])

    def agent(question: str) -> str:
        if question == "two":
            raise ValueError("no")
        return "x"

    result = run_suite([case], agent)
    assert [(card.verdict, card.error) for card in result.cards] == [
        ("PASS", None),
        ("ERROR", "agent raised ValueError: no"),
        ("ERROR", "not asked: turn 't#2' could not run"),
    ]


def test_a_repeated_conversation_is_repeated_as_a_whole() -> None:
    """Each turn has its own rate."""
    lengths: list[int] = []

    def agent(question: str, conversation: list[dict[str, str]]) -> str:
        lengths.append(len(conversation))
        return "3"

    result = run_suite([CONVERSATION], agent, execute=lambda sql: [{"n": 3}], repeat=2)
    assert lengths == [0, 2, 0, 2]
    assert [card.meta["repeat"]["passed"] for card in result.cards] == [2, 0]
