"""OpenTelemetry GenAI before 1.36: each message an event, as log record or on the span.

`opentelemetry-instrumentation-openai-v2` sends log records, Strands Agents span events. The event
`gen_ai.choice` is the answer on an agent's span, the output on a model's and the result on a
tool's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import TOOL, Convention, ToolUse
from dbagenteval.traces.conventions.genai import OPERATION, TOOL_NAME
from dbagenteval.traces.messages import Message, last_user_text, read_message
from dbagenteval.traces.tree import Node

__all__ = ["GENAI_EVENTS", "MESSAGE_EVENTS", "event_messages"]

CHOICE = "gen_ai.choice"
EVENT_CONTENT = "gen_ai.event.content"
_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
MESSAGE_EVENTS = frozenset({CHOICE, *_ROLES})


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    if "gen_ai.system" not in attributes and OPERATION not in attributes:
        return False
    return any(True for _ in _events(node))


def _events(node: Node) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for event in node.span.events:
        if event.name in MESSAGE_EVENTS:
            yield event.name, _body(event.attributes)
    for log in node.logs:
        if log.event_name in MESSAGE_EVENTS and isinstance(log.body, Mapping):
            yield log.event_name, log.body


def _body(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the body of a span event, which Microsoft's libraries put in one attribute as JSON."""
    held = attributes.get(EVENT_CONTENT)
    if held is None:
        return attributes
    body = plain(held)
    return body if isinstance(body, Mapping) else {"content": held}


def event_messages(node: Node) -> tuple[list[Message], list[Message]]:
    """Give the messages of a span's events: those that went in and those that came out."""
    if node.memo is None:
        node.memo = _read_events(node)
    inputs, outputs = node.memo
    return inputs, outputs


def _read_events(node: Node) -> tuple[list[Message], list[Message]]:
    inputs: list[Message] = []
    outputs: list[Message] = []
    for name, body in _events(node):
        if name == CHOICE:
            message = _message(body, "assistant")
            if message is not None:
                outputs.append(message)
        else:
            message = _message(body, _ROLES[name])
            if message is not None:
                inputs.append(message)
    return inputs, outputs


def _message(body: Mapping[str, Any], role: str) -> Message | None:
    """Read the body of one event; Strands has the parts as JSON text in it."""
    held = body.get("message")
    if isinstance(held, Mapping):
        return read_message({"role": role, **held})
    content = held if held is not None else body.get("content")
    parts = plain(content)
    if isinstance(parts, Mapping) and role != "tool":
        parts = [parts]
    is_parts = isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts)
    # A role `tool` says that the whole content is a result, which Strands has as a part.
    if is_parts and (role != "tool" or any("toolResult" in part for part in parts)):
        role = "user" if role == "tool" else role
        content = parts
    return read_message({**body, "role": role, "content": content})


def _question(node: Node) -> Any:
    return last_user_text(event_messages(node)[0]) or None


def _answer(node: Node) -> Any:
    texts = [message.text for message in event_messages(node)[1] if message.text]
    return texts[-1] if texts else None


def _inputs(node: Node) -> list[Message] | None:
    return event_messages(node)[0] or None


def _outputs(node: Node) -> list[Message] | None:
    return event_messages(node)[1] or None


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    arguments = result = None
    for name, body in _events(node):
        if name == "gen_ai.tool.message":
            arguments = body.get("content")
        elif name == CHOICE:
            result = body.get("message")
    status = attributes.get("gen_ai.tool.status")
    return ToolUse(
        name=str(attributes.get(TOOL_NAME) or node.span.name),
        call_id=str(attributes.get("gen_ai.tool.call.id") or ""),
        arguments=arguments,
        result=result,
        is_error={"error": True, "success": False}.get(str(status)),
    )


def _role(node: Node) -> str | None:
    return TOOL if TOOL_NAME in node.span.attributes else None


GENAI_EVENTS = Convention(
    name="OpenTelemetry GenAI events",
    pinned="semantic conventions 1.28 to 1.36",
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    tool=_tool,
    session=("session.id",),
)
