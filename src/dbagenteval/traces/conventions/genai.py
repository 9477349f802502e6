"""OpenTelemetry GenAI: messages on the span, in a span event, or in a log record.

The same attribute is a JSON text on spans and a structured value in log records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.messages import Message, last_user_text, read_messages
from dbagenteval.traces.tree import Node

__all__ = ["GENAI", "operation", "tool_use"]

OPERATION = "gen_ai.operation.name"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
TOOL_NAME = "gen_ai.tool.name"
DETAILS = "gen_ai.client.inference.operation.details"
_ROLES = {
    "chat": LLM,
    "generate_content": LLM,
    "text_completion": LLM,
    "completion": LLM,
    "acompletion": LLM,
    "chat.completions": LLM,
    "chat_completions": LLM,
    "text.completions": LLM,
    "responses": LLM,
    "execute_tool": TOOL,
    "invoke_agent": AGENT,
    "invoke_workflow": AGENT,
    "create_agent": CHAIN,
    "execute_task": CHAIN,
    "execute_event_loop_cycle": CHAIN,
    "embeddings": CHAIN,
    "handoff": TOOL,
}
# Google ADK repeats parallel tool calls in one span that ran none of them.
_MERGED = "(merged tools)"


def operation(node: Node) -> Any:
    """Give the operation that a span names, or None."""
    return node.span.attributes.get(OPERATION)


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return (
        OPERATION in attributes
        or "gen_ai.system" in attributes
        or "gen_ai.provider.name" in attributes
        or TOOL_NAME in attributes
    )


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    named = attributes.get(OPERATION)
    if attributes.get(TOOL_NAME) == _MERGED:
        return CHAIN
    if isinstance(named, str):
        return _ROLES.get(named)
    if TOOL_NAME in attributes:
        return TOOL
    return LLM if INPUT_MESSAGES in attributes or OUTPUT_MESSAGES in attributes else None


def found(node: Node, key: str) -> Any:
    """Find an attribute on the span, then in its details event, then in its log records."""
    value = node.span.attributes.get(key)
    if value is not None:
        return value
    for event in node.span.events:
        if event.name == DETAILS and event.attributes.get(key) is not None:
            return event.attributes[key]
    for log in node.logs:
        if log.event_name == DETAILS:
            value = log.attributes.get(key)
            if value is None and isinstance(log.body, Mapping):
                value = log.body.get(key)
            if value is not None:
                return value
    return None


def _inputs(node: Node) -> list[Message] | None:
    value = found(node, INPUT_MESSAGES)
    return None if value is None else read_messages(value)


def _outputs(node: Node) -> list[Message] | None:
    value = found(node, OUTPUT_MESSAGES)
    return None if value is None else read_messages(value)


def _question(node: Node) -> Any:
    return last_user_text(_inputs(node) or ()) or None


def _answer(node: Node) -> Any:
    texts = [message.text for message in _outputs(node) or () if message.text]
    return texts[-1] if texts else None


def tool_use(node: Node) -> ToolUse:
    """Read a tool span; a result may stand in the messages of a details event."""
    attributes = node.span.attributes
    arguments, result = found(node, ARGUMENTS), found(node, RESULT)
    name = str(attributes.get(TOOL_NAME) or node.span.name)
    if operation(node) == "handoff":
        name = f"handoff to {node.span.name}"
    if arguments is None:
        calls = [call for message in _inputs(node) or () for call in message.calls]
        arguments = calls[-1].arguments if calls else None
    is_error = None
    if result is None:
        results = [given for message in _outputs(node) or () for given in message.results]
        result = results[-1].content if results else None
        is_error = results[-1].is_error if results else None
    return ToolUse(
        name=name,
        call_id=str(attributes.get("gen_ai.tool.call.id") or ""),
        arguments=arguments,
        result=result,
        is_error=is_error,
    )


GENAI = Convention(
    name="OpenTelemetry GenAI",
    pinned="semantic conventions 1.36 to 1.37",
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    tool=tool_use,
    session=("gen_ai.conversation.id", "session.id"),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    tokens=(
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ),
    cost=("operation.cost", "gen_ai.usage.cost"),
)
