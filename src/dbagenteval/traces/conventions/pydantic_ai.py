"""pydantic-ai and logfire: GenAI names, and the whole conversation on the agent's span.

Format 5 puts tool results in messages of role `user`; formats 1 to 3 have events as JSON text and
other names for a tool's arguments and response.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.messages import Message, last_user_text, read_message, read_messages
from dbagenteval.traces.tree import Node

__all__ = ["PYDANTIC_AI", "read_events"]

ALL_MESSAGES = "pydantic_ai.all_messages"
NEW_MESSAGE_INDEX = "pydantic_ai.new_message_index"
FINAL_RESULT = "final_result"
_OLD_ALL_MESSAGES = "all_messages_events"
_OLD_EVENTS = "events"


def _applies(node: Node) -> bool:
    return node.span.scope.name in ("pydantic-ai", "logfire.pydantic_ai") or (
        ALL_MESSAGES in node.span.attributes
    )


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    if "gen_ai.operation.name" in attributes:
        return None  # the GenAI convention says it
    if "gen_ai.tool.name" in attributes:
        return TOOL
    if _OLD_EVENTS in attributes or "gen_ai.request.model" in attributes:
        return LLM
    return AGENT if "agent_name" in attributes or FINAL_RESULT in attributes else None


def _question(node: Node) -> Any:
    return last_user_text(_transcript(node) or ()) or None


def _transcript(node: Node) -> list[Message] | None:
    """Give the conversation, of a follow-up the new part."""
    attributes = node.span.attributes
    value = plain(attributes.get(ALL_MESSAGES))
    if isinstance(value, list):
        index = attributes.get(NEW_MESSAGE_INDEX)
        new = read_messages(value[index:]) if isinstance(index, int) else []
        return new if last_user_text(new) else read_messages(value)
    inputs, _ = read_events(attributes.get(_OLD_ALL_MESSAGES))
    return inputs or None


def _answer(node: Node) -> Any:
    return node.span.attributes.get(FINAL_RESULT)


def read_events(value: Any) -> tuple[list[Message], list[Message]]:
    """Read the JSON list of events of formats 1 to 3: what went in and what came out."""
    inputs: list[Message] = []
    outputs: list[Message] = []
    listed = plain(value)
    for event in listed if isinstance(listed, list) else ():
        if not isinstance(event, dict):
            continue
        is_choice = event.get("event.name") == "gen_ai.choice"
        message = read_message(event.get("message") if is_choice else event)
        if message is not None:
            (outputs if is_choice else inputs).append(message)
    return inputs, outputs


def _inputs(node: Node) -> list[Message] | None:
    return read_events(node.span.attributes.get(_OLD_EVENTS))[0] or None


def _outputs(node: Node) -> list[Message] | None:
    return read_events(node.span.attributes.get(_OLD_EVENTS))[1] or None


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    if "tool_arguments" not in attributes and "tool_response" not in attributes:
        return None
    return ToolUse(
        name=str(attributes.get("gen_ai.tool.name") or node.span.name),
        call_id=str(attributes.get("gen_ai.tool.call.id") or ""),
        arguments=attributes.get("tool_arguments"),
        result=attributes.get("tool_response"),
    )


PYDANTIC_AI = Convention(
    name="pydantic-ai",
    pinned="pydantic-ai 2.68, instrumentation formats 1 to 5",
    source="https://ai.pydantic.dev/logfire/",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    transcript=_transcript,
    tool=_tool,
    session=("gen_ai.conversation.id",),
)
