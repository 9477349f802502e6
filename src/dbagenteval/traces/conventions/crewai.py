"""CrewAI: the crew's tasks and what they gave, on the span of the crew.

OpenInference writes `crew_tasks`, OpenLLMetry `crewai.*`; the latter has the whole conversation of
each task in the repr of its outputs, and no span for a tool.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import MISSING, plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, Convention
from dbagenteval.traces.messages import Message, read_messages
from dbagenteval.traces.pyliteral import read_literal
from dbagenteval.traces.tree import Node

__all__ = ["CREWAI"]

_TASKS = ("crew_tasks", "crewai.crew.tasks")
TASK = "crewai.task.description"
RESULT = "crewai.crew.result"
TASKS_OUTPUT = "crewai.crew.tasks_output"
_MESSAGES = "messages=["


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return "crew_tasks" in attributes or "crewai.crew.tasks" in attributes or TASK in attributes


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    if "crewai.crew.tasks" in attributes:
        return AGENT
    return CHAIN if TASK in attributes else None


def _question(node: Node) -> Any:
    attributes = node.span.attributes
    for key in _TASKS:
        tasks = plain(attributes.get(key))
        if isinstance(tasks, list) and tasks and isinstance(tasks[0], dict):
            return tasks[0].get("description")
    return attributes.get(TASK)


def _answer(node: Node) -> Any:
    return node.span.attributes.get(RESULT)


def _transcript(node: Node) -> list[Message] | None:
    """Read the conversations out of the repr of the tasks' outputs."""
    text = node.span.attributes.get(TASKS_OUTPUT)
    found: list[Message] = []
    start = text.find(_MESSAGES) if isinstance(text, str) else -1
    while isinstance(text, str) and start >= 0:
        listed = _list_at(text, start + len(_MESSAGES) - 1)
        value = read_literal(listed)
        if value is not MISSING:
            found += read_messages(value)
        start = text.find(_MESSAGES, start + max(len(listed), 1))
    return found or None


def _list_at(text: str, start: int) -> str:
    """Give the list that opens at a place of a repr, brackets in strings left out of account."""
    depth, quote, index = 0, "", start
    while index < len(text):
        mark = text[index]
        if quote:
            if mark == "\\":
                index += 1
            elif mark == quote:
                quote = ""
        elif mark in "'\"":
            quote = mark
        elif mark in "[({":
            depth += 1
        elif mark in "])}":
            depth -= 1
            if depth == 0:
                return text[start : index + 1]
        index += 1
    return ""


CREWAI = Convention(
    name="CrewAI",
    pinned="openinference-instrumentation-crewai 1.1, opentelemetry-instrumentation-crewai 0.62",
    source="https://docs.crewai.com/en/observability/overview",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    transcript=_transcript,
)
