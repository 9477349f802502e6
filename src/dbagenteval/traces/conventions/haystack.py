"""Haystack's own tracing: a span for each component of a pipeline, and for an agent's steps.

Inputs and outputs are there with HAYSTACK_CONTENT_TRACING_ENABLED=true only.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.messages import Message, ToolCall, ToolResult
from dbagenteval.traces.tree import Node

__all__ = ["HAYSTACK"]

COMPONENT, COMPONENT_TYPE = "haystack.component.name", "haystack.component.type"
TOOL_NAME = "haystack.tool.name"
_PLACES = ("haystack.component", "haystack.agent.step.llm", "haystack.agent.step.tool")
_STEPS = {
    "haystack.agent.step": CHAIN,
    "haystack.agent.step.llm": LLM,
    "haystack.agent.step.tool": TOOL,
}


def _applies(node: Node) -> bool:
    return node.span.name.startswith("haystack.")


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    if node.span.name in _STEPS:
        return _STEPS[node.span.name]
    if COMPONENT not in attributes:
        return AGENT
    return LLM if str(attributes.get(COMPONENT_TYPE)).endswith("ChatGenerator") else CHAIN


def _value(node: Node, side: str) -> Any:
    attributes = node.span.attributes
    return next(
        (value for place in _PLACES if (value := attributes.get(f"{place}.{side}")) is not None),
        None,
    )


def _question(node: Node) -> Any:
    attributes = node.span.attributes
    asked = _texts(node, "haystack.agent.input", "user")
    if asked:
        return asked[-1]
    value = _value(node, "input")
    return attributes.get("haystack.pipeline.input_data") if value is None else value


def _answer(node: Node) -> Any:
    attributes = node.span.attributes
    said = _texts(node, "haystack.agent.output", "assistant")
    if said:
        return said[-1]
    value = _value(node, "output")
    return attributes.get("haystack.pipeline.output_data") if value is None else value


def _texts(node: Node, key: str, role: str) -> list[str]:
    """Give what one side said in the messages of an agent."""
    read = _messages(node.span.attributes.get(key), "messages")
    return [message.text for message in read if message.role == role and message.text]


def _messages(value: Any, *keys: str) -> list[Message]:
    """Read the messages under the first of the keys; others than Haystack's own are left out."""
    value = plain(value)
    held = next((value[key] for key in keys if value.get(key)), ()) if _is_map(value) else ()
    listed = held if isinstance(held, list) else []
    return [
        _message(item) for item in listed if _is_map(item) and isinstance(item.get("role"), str)
    ]


def _is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _message(item: dict[str, Any]) -> Message:
    parts: Any = item.get("content", item.get("_content"))
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    listed: list[Any] = parts if isinstance(parts, list) else [{"text": parts or ""}]
    for part in listed:
        if not _is_map(part):
            continue
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif _is_map(part.get("tool_call")):
            calls.append(_call(part["tool_call"]))
        elif _is_map(part.get("tool_call_result")):
            result = part["tool_call_result"]
            asked = _call(result.get("origin"))
            failed = result.get("error") is True
            results.append(ToolResult(asked.id, asked.name, result.get("result"), failed))
    return Message(item["role"], "\n".join(texts), tuple(calls), tuple(results))


def _call(value: Any) -> ToolCall:
    call = value if _is_map(value) else {}
    name = str(call.get("tool_name") or "")
    return ToolCall(str(call.get("id") or ""), name, call.get("arguments"))


def _inputs(node: Node) -> list[Message] | None:
    return _messages(_value(node, "input"), "messages") or None


def _outputs(node: Node) -> list[Message] | None:
    return _messages(_value(node, "output"), "replies") or None


def _transcript(node: Node) -> list[Message] | None:
    return _messages(node.span.attributes.get("haystack.agent.output"), "messages") or None


def _tool(node: Node) -> ToolUse | None:
    name = node.span.attributes.get(TOOL_NAME)
    if name is None:
        return None
    return ToolUse(name=str(name), arguments=_value(node, "input"), result=_value(node, "output"))


HAYSTACK = Convention(
    name="Haystack",
    pinned="haystack-ai 2 to 3",
    source="https://docs.haystack.deepset.ai/docs/tracing",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    transcript=_transcript,
    tool=_tool,
)
