"""Spring AI: its tool calls, with arguments and result where the application turns them on."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import CHAIN, TOOL, Convention, ToolUse
from dbagenteval.traces.tree import Node

__all__ = ["SPRING_AI"]

KIND = "spring.ai.kind"
NAME = "spring.ai.tool.definition.name"


def _role(node: Node) -> str | None:
    return TOOL if NAME in node.span.attributes else CHAIN


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    if NAME not in attributes:
        return None
    return ToolUse(
        name=str(attributes[NAME]),
        call_id=str(attributes.get("spring.ai.tool.call.id") or ""),
        arguments=attributes.get("spring.ai.tool.call.arguments"),
        result=attributes.get("spring.ai.tool.call.result"),
    )


SPRING_AI = Convention(
    name="Spring AI",
    pinned="spring-ai 1.0 to 1.1",
    source="https://docs.spring.io/spring-ai/reference/observability/index.html",
    applies=lambda node: KIND in node.span.attributes or NAME in node.span.attributes,
    role=_role,
    tool=_tool,
    session=("spring.ai.chat.client.conversation.id",),
)
