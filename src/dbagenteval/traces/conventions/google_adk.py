"""Google's Agent Development Kit: its own attributes, beside GenAI names since 2.x.

`call_llm` holds the whole request; the `generate_content` span below it is the same call.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, Convention, ToolUse
from dbagenteval.traces.messages import Message, read_message, read_messages
from dbagenteval.traces.tree import Node

__all__ = ["GOOGLE_ADK"]

REQUEST = "gcp.vertex.agent.llm_request"
RESPONSE = "gcp.vertex.agent.llm_response"
ARGUMENTS = "gcp.vertex.agent.tool_call_args"
TOOL_RESPONSE = "gcp.vertex.agent.tool_response"


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return (
        REQUEST in attributes
        or ARGUMENTS in attributes
        or "gcp.vertex.agent.event_id" in attributes
        or node.span.scope.name == "gcp.vertex.agent"
    )


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    name = node.span.name
    if name == "call_llm" and REQUEST in attributes:
        return LLM
    if attributes.get("gen_ai.operation.name") == "generate_content" and _is_call_llm(node.parent):
        return CHAIN
    if name == "invocation" or name.startswith("agent_run"):
        return AGENT
    return None


def _is_call_llm(node: Node | None) -> bool:
    return node is not None and node.span.name == "call_llm" and _inputs(node) is not None


def _inputs(node: Node) -> list[Message] | None:
    request = plain(node.span.attributes.get(REQUEST))
    if not isinstance(request, dict) or "contents" not in request:
        return None
    return read_messages(request["contents"])


def _outputs(node: Node) -> list[Message] | None:
    response = plain(node.span.attributes.get(RESPONSE))
    if not isinstance(response, dict) or not isinstance(response.get("content"), dict):
        return None
    message = read_message(response["content"])
    return [message] if message else None


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    if ARGUMENTS not in attributes and TOOL_RESPONSE not in attributes:
        return None
    return ToolUse(
        name=str(attributes.get("gen_ai.tool.name") or node.span.name),
        call_id=str(_specified(attributes.get("gen_ai.tool.call.id")) or ""),
        arguments=_specified(attributes.get(ARGUMENTS)),
        result=_specified(attributes.get(TOOL_RESPONSE)),
    )


def _specified(value: Any) -> Any:
    return None if value in ("<not specified>", "N/A", "{}", "") else value


GOOGLE_ADK = Convention(
    name="Google ADK",
    pinned="google-adk 1.x and 2.13",
    source="https://github.com/google/adk-python",
    applies=_applies,
    role=_role,
    inputs=_inputs,
    outputs=_outputs,
    tool=_tool,
    session=("gcp.vertex.agent.session_id",),
)
