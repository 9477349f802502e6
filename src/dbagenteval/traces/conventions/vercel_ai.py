"""Vercel's AI SDK: `ai.generateText` and `ai.streamText` around model calls and tool calls."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.messages import Message, ToolCall, read_messages
from dbagenteval.traces.tree import Node

__all__ = ["VERCEL_AI"]

OPERATION = "ai.operationId"
_TEXTS = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")


def _applies(node: Node) -> bool:
    return OPERATION in node.span.attributes or "ai.toolCall.name" in node.span.attributes


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    if "ai.toolCall.name" in attributes:
        return TOOL
    named = str(attributes.get(OPERATION))
    if named.endswith((".doGenerate", ".doStream")):
        return LLM
    return AGENT if _runs_tools(node) else CHAIN


def _runs_tools(node: Node) -> bool:
    """True for a run that called tools; without any it is a wrapper around its one model call."""
    return any("ai.toolCall.name" in child.span.attributes for child in node.children)


def _question(node: Node) -> Any:
    if not _runs_tools(node):
        return None
    prompt = plain(node.span.attributes.get("ai.prompt"))
    return prompt.get("messages") or prompt.get("prompt") if isinstance(prompt, dict) else prompt


def _answer(node: Node) -> Any:
    return _first(node, _TEXTS) if _runs_tools(node) else None


def _first(node: Node, keys: tuple[str, ...]) -> Any:
    attributes = node.span.attributes
    return next((attributes[key] for key in keys if attributes.get(key)), None)


def _inputs(node: Node) -> list[Message] | None:
    value = node.span.attributes.get("ai.prompt.messages")
    return None if value is None else read_messages(value)


def _outputs(node: Node) -> list[Message] | None:
    text, calls = _first(node, _TEXTS), plain(_first(node, _CALLS))
    made = tuple(
        ToolCall(
            str(call.get("toolCallId") or ""),
            str(call.get("toolName") or ""),
            call.get("input", call.get("args")),
        )
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict)
    )
    return [Message("assistant", str(text or ""), made)] if text or made else None


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    if "ai.toolCall.name" not in attributes:
        return None
    return ToolUse(
        name=str(attributes["ai.toolCall.name"]),
        call_id=str(attributes.get("ai.toolCall.id") or ""),
        arguments=attributes.get("ai.toolCall.args"),
        result=attributes.get("ai.toolCall.result"),
    )


VERCEL_AI = Convention(
    name="Vercel AI SDK",
    pinned="ai 4 to 6",
    source="https://ai-sdk.dev/docs/ai-sdk-core/telemetry",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    tool=_tool,
    session=(
        "ai.telemetry.metadata.sessionId",
        "ai.telemetry.metadata.session_id",
        "ai.telemetry.metadata.threadId",
        "ai.telemetry.metadata.conversationId",
        "ai.telemetry.metadata.chatId",
    ),
    model=("gen_ai.response.model", "gen_ai.request.model", "ai.model.id"),
    tokens=(("gen_ai.usage.input_tokens",), ("gen_ai.usage.output_tokens",)),
)
