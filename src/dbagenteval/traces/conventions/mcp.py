"""Model Context Protocol: a tool called over it is seen by the client, the server, or both."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.conventions.convention import CHAIN, TOOL, Convention, ToolUse
from dbagenteval.traces.conventions.genai import tool_use
from dbagenteval.traces.tree import Node

__all__ = ["MCP"]

METHOD = "mcp.method.name"
_CALL = "tools/call"


def _applies(node: Node) -> bool:
    return METHOD in node.span.attributes


def _role(node: Node) -> str | None:
    return TOOL if node.span.attributes.get(METHOD) == _CALL else CHAIN


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    read = tool_use(node)
    arguments: Any = read.arguments
    if arguments is None:
        prefix = "mcp.request.argument."
        arguments = {
            key[len(prefix) :]: value for key, value in attributes.items() if key.startswith(prefix)
        } or None
    name = str(attributes.get("gen_ai.tool.name") or attributes.get("mcp.tool.name") or "")
    return ToolUse(
        name=name or node.span.name.partition(_CALL)[2].strip() or node.span.name,
        call_id=read.call_id,
        arguments=arguments,
        result=read.result if read.result is not None else attributes.get("mcp.response.value"),
        is_error=read.is_error,
    )


MCP = Convention(
    name="Model Context Protocol",
    pinned="semantic conventions 1.37, opentelemetry-instrumentation-mcp 0.62, mcp 2.3",
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/",
    applies=_applies,
    role=_role,
    tool=_tool,
)
