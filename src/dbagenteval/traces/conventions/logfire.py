"""Logfire: its instrumentation of model clients and of the OpenAI Agents SDK.

A model client's request and response are JSON under names of their own; the Agents SDK's runs,
functions and responses are told apart by the template of the span's message.
"""

from __future__ import annotations

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.conventions.pydantic_ai import read_events
from dbagenteval.traces.messages import Message, read_messages
from dbagenteval.traces.replies import read_reply
from dbagenteval.traces.tree import Node

__all__ = ["LOGFIRE"]

REQUEST, RESPONSE = "request_data", "response_data"
_AGENTS = "logfire.openai_agents"
_ROLES = {"Function": TOOL, "Handoff": TOOL, "Agent run": AGENT, "OpenAI Agents trace": CHAIN}


def _applies(node: Node) -> bool:
    return REQUEST in node.span.attributes or node.span.scope.name == _AGENTS


def _role(node: Node) -> str | None:
    if REQUEST in node.span.attributes or "events" in node.span.attributes:
        return LLM
    return _ROLES.get(node.span.name.partition(":")[0])


def _inputs(node: Node) -> list[Message] | None:
    attributes = node.span.attributes
    request = plain(attributes.get(REQUEST))
    if not isinstance(request, dict):
        return read_events(attributes.get("events"))[0] or None
    messages = read_messages(request["messages"]) if request.get("messages") else []
    if isinstance(request.get("input"), str):
        messages.append(Message("user", request["input"]))
    elif request.get("input"):
        messages += read_messages(request["input"])
    return messages or None


def _outputs(node: Node) -> list[Message] | None:
    attributes = node.span.attributes
    if REQUEST not in attributes:
        return read_events(attributes.get("events"))[1] or None
    response = plain(attributes.get(RESPONSE))
    if isinstance(response, dict) and isinstance(response.get("combined_chunk_content"), str):
        response = response.get("message") or response["combined_chunk_content"]
    return read_reply(response) or None


def _tool(node: Node) -> ToolUse | None:
    attributes = node.span.attributes
    name = node.span.name.partition(":")[0]
    if _ROLES.get(name) != TOOL:
        return None
    if name == "Handoff":
        return ToolUse(name=f"handoff to {attributes.get('to_agent') or ''}".strip())
    return ToolUse(
        name=str(attributes.get("name") or node.span.name),
        arguments=attributes.get("input"),
        result=attributes.get("output"),
    )


LOGFIRE = Convention(
    name="Logfire",
    pinned="logfire 3 to 4",
    source="https://logfire.pydantic.dev/docs/integrations/llms/openai/",
    applies=_applies,
    role=_role,
    inputs=_inputs,
    outputs=_outputs,
    tool=_tool,
    session=("group_id",),
)
