"""What a convention is: which spans it speaks of, and how its attributes are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.traces.messages import Message
from dbagenteval.traces.tree import Node

__all__ = [
    "AGENT",
    "CHAIN",
    "DB",
    "LLM",
    "MESSAGE",
    "RETRIEVER",
    "SERVER",
    "TOOL",
    "Convention",
    "ToolUse",
]

# What a span stands for. A CHAIN is structure: it may be a graph node with an output of its own.
LLM, TOOL, DB, AGENT, CHAIN = "llm", "tool", "db", "agent", "chain"
RETRIEVER, SERVER, MESSAGE = "retriever", "server", "message"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a span tells of one use of a tool.

    Args:
        name: The tool's name.
        call_id: The id that the model gave the call, or empty.
        arguments: As sent: JSON text or decoded; None if not captured.
        result: As sent; None if not captured.
        is_error: True or False if the span says so, else None.
    """

    name: str
    call_id: str = ""
    arguments: Any = None
    result: Any = None
    is_error: bool | None = None


def _nothing(_: Node) -> Any:
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Convention:
    """One way of writing what an agent does on spans; every reader gives None where it is silent.

    Args:
        name: For a person.
        pinned: The versions it was read from.
        source: Where it is described.
        applies: True if a span uses it, decided by its attribute keys, scope, kind, the names of
            its events and the first nine characters of its name (the answer is remembered).
        role: What the span stands for.
        question: The question on the span of an agent, as sent.
        answer: The answer on the span of an agent, as sent.
        inputs: The messages that went into a model.
        outputs: The messages that came out.
        transcript: The whole conversation, on the span of an agent.
        tool: The use of a tool.
        documents: Names of what a retriever gave.
        session: Attribute keys of the session id, best first.
        model: Attribute keys of the model's name, best first.
        tokens: Attribute keys of input and of output tokens, on model spans.
        cost: Attribute keys of the cost in US dollars, on model spans.
    """

    name: str
    pinned: str
    source: str
    applies: Callable[[Node], bool]
    role: Callable[[Node], str | None] = _nothing
    question: Callable[[Node], Any] = _nothing
    answer: Callable[[Node], Any] = _nothing
    inputs: Callable[[Node], list[Message] | None] = _nothing
    outputs: Callable[[Node], list[Message] | None] = _nothing
    transcript: Callable[[Node], list[Message] | None] = _nothing
    tool: Callable[[Node], ToolUse | None] = _nothing
    documents: Callable[[Node], list[str] | None] = _nothing
    session: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    tokens: tuple[tuple[str, ...], tuple[str, ...]] = field(default=((), ()))
    cost: tuple[str, ...] = ()
