"""AutoGen AgentChat: what agents say travels in messages between actors, each a trace of its own.

The spans are joined by links from the consumer to the producer. The model isn't instrumented; the
last message to the team's manager holds the answer and the tool calls of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbagenteval.traces.content import loads
from dbagenteval.traces.conventions.convention import MESSAGE, Convention
from dbagenteval.traces.messages import Message, read_message
from dbagenteval.traces.tree import Node

__all__ = ["AUTOGEN"]

CARRIED = "message"
_SCOPE = "autogen"


def _applies(node: Node) -> bool:
    return node.span.scope.name.startswith(_SCOPE) or "messaging.operation" in node.span.attributes


def _role(node: Node) -> str | None:
    return MESSAGE if node.span.name.startswith("autogen ") else None


def _carried(node: Node) -> dict[str, Any]:
    value = node.span.attributes.get(CARRIED)
    if not isinstance(value, str) or not value.startswith("{") or len(value) < 3:
        return {}
    decoded = loads(value)
    return decoded if isinstance(decoded, dict) else {}


def _question(node: Node) -> Any:
    """Give the user's text from the message that starts a team's run."""
    for message in _carried(node).get("messages") or ():
        if isinstance(message, dict) and message.get("source") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
    return None


def _answer(node: Node) -> Any:
    response = _carried(node).get("response")
    said = response.get("chat_message") if isinstance(response, dict) else None
    content = said.get("content") if isinstance(said, dict) else None
    return content if isinstance(content, str) else None


def _outputs(node: Node) -> list[Message] | None:
    """Give the tool calls and results that a message tells of."""
    messages = [_read(event) for event in _told(_carried(node))]
    return [message for message in messages if message.calls or message.results] or None


def _told(carried: dict[str, Any]) -> Iterator[dict[str, Any]]:
    response = carried.get("response")
    if isinstance(response, dict):
        yield from (one for one in response.get("inner_messages") or () if isinstance(one, dict))
    if isinstance(carried.get("message"), dict):
        yield carried["message"]


def _read(event: dict[str, Any]) -> Message:
    content = event.get("content")
    if not isinstance(content, list):
        return Message("")
    return read_message({"role": "assistant", "content": content}) or Message("")


AUTOGEN = Convention(
    name="AutoGen",
    pinned="autogen-agentchat 0.7.5",
    source="https://microsoft.github.io/autogen/stable/user-guide/core-user-guide/framework/telemetry.html",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    outputs=_outputs,
)
