"""OpenLLMetry: Traceloop's conventions, with its own entities beside GenAI names.

Up to 0.5x the messages were attributes of their own: `gen_ai.prompt.N.…`, `gen_ai.completion.N.…`.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, TOOL, Convention, ToolUse
from dbagenteval.traces.messages import (
    Message,
    ToolCall,
    ToolResult,
    read_message,
    read_messages,
)
from dbagenteval.traces.tree import Node

__all__ = ["OPENLLMETRY"]

KIND = "traceloop.span.kind"
ENTITY_INPUT = "traceloop.entity.input"
ENTITY_OUTPUT = "traceloop.entity.output"
ENTITY_NAME = "traceloop.entity.name"
_ROLES = {"workflow": AGENT, "agent": AGENT, "task": CHAIN, "tool": TOOL, "handoff": TOOL}
_REQUEST_TYPE = "llm.request.type"
_PROMPT = "gen_ai.prompt."
_COMPLETION = "gen_ai.completion."


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return (
        KIND in attributes
        or "traceloop.workflow.name" in attributes
        or _REQUEST_TYPE in attributes
        or "gen_ai.prompt.0.role" in attributes
        or "gen_ai.prompt.0.content" in attributes
        or "gen_ai.completion.0.function_call.name" in attributes
    )


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    kind = attributes.get(KIND)
    if isinstance(kind, str):
        return _ROLES.get(kind)
    if (
        attributes.get(_REQUEST_TYPE) in ("chat", "completion")
        or "gen_ai.prompt.0.role" in attributes
    ):
        return LLM
    return None


def _entity(node: Node, key: str, *wrappers: str) -> Any:
    """Give what an entity attribute holds inside the callback's own wrapping."""
    value = plain(node.span.attributes.get(key))
    if isinstance(value, dict):
        for wrapper in wrappers:
            if wrapper in value:
                return value[wrapper]
    return value


def _question(node: Node) -> Any:
    return _entity(node, ENTITY_INPUT, "inputs")


def _answer(node: Node) -> Any:
    return _entity(node, ENTITY_OUTPUT, "outputs")


def _transcript(node: Node) -> list[Message] | None:
    """Give the messages that a graph ended with."""
    output = _entity(node, ENTITY_OUTPUT, "outputs")
    messages = output.get("messages") if isinstance(output, dict) else None
    return read_messages(messages) if messages else None


def _inputs(node: Node) -> list[Message] | None:
    return _flattened(node, _PROMPT) or None


def _outputs(node: Node) -> list[Message] | None:
    return _flattened(node, _COMPLETION) or None


def _flattened(node: Node, prefix: str) -> list[Message]:
    start = len(prefix)
    fields: dict[int, dict[str, Any]] = {}
    for key, value in node.span.attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[start:].partition(".")
            if number.isdigit():
                fields.setdefault(int(number), {})[rest] = value
    found = [_message(fields[number], prefix) for number in sorted(fields)]
    return [message for message in found if message.text or message.calls or message.results]


def _message(fields: dict[str, Any], prefix: str) -> Message:
    role = str(fields.get("role") or ("assistant" if prefix == _COMPLETION else ""))
    calls: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        if key.startswith("tool_calls."):
            number, _, rest = key[11:].partition(".")
            if number.isdigit():
                calls.setdefault(int(number), {})[rest] = value
    content = fields.get("content")
    call_id = fields.get("tool_call_id")
    if role == "tool" or call_id:
        return Message("tool", "", (), (ToolResult(str(call_id or ""), "", content),))
    read = read_message({"role": role, "content": content}) or Message(role)
    asked = plain(fields.get("tool_calls"))  # LiteLLM has them in one text
    if isinstance(asked, list):
        calls |= {number: _flat_call(call) for number, call in enumerate(asked)}
    if fields.get("function_call.name"):
        calls[0] = {key: fields.get(f"function_call.{key}") for key in ("name", "arguments")}
    made = tuple(
        ToolCall(
            str(calls[number].get("id") or ""),
            str(calls[number].get("name") or ""),
            calls[number].get("arguments"),
        )
        for number in sorted(calls)
    )
    return Message(read.role, read.text, read.calls + made, read.results)


def _flat_call(call: Any) -> dict[str, Any]:
    known: dict[str, Any] = call if isinstance(call, dict) else {}
    function = known.get("function")
    return known | function if isinstance(function, dict) else known


def _tool(node: Node) -> ToolUse:
    attributes = node.span.attributes
    arguments = plain(attributes.get("gen_ai.tool.call.arguments"))
    if arguments is None:
        arguments = plain(attributes.get(ENTITY_INPUT))
    call_id = attributes.get("gen_ai.tool.call.id")
    if isinstance(arguments, dict):
        kwargs = arguments.get("kwargs")
        if not call_id and isinstance(kwargs, dict):
            call_id = kwargs.get("tool_call_id")
        if "inputs" in arguments and "metadata" in arguments:  # a LangChain callback's payload
            arguments = arguments["inputs"] or arguments.get("input_str")
    result = attributes.get("gen_ai.tool.call.result")
    name = str(attributes.get("gen_ai.tool.name") or attributes.get(ENTITY_NAME) or node.span.name)
    if attributes.get(KIND) == "handoff":
        name = f"handoff to {attributes.get('gen_ai.handoff.to_agent') or node.span.name}"
    return ToolUse(
        name=name,
        call_id=str(call_id or ""),
        arguments=arguments,
        result=result if result is not None else attributes.get(ENTITY_OUTPUT),
    )


OPENLLMETRY = Convention(
    name="OpenLLMetry",
    pinned="opentelemetry-semantic-conventions-ai 0.4 to 0.5.1",
    source="https://github.com/traceloop/openllmetry",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    transcript=_transcript,
    tool=_tool,
    session=(
        "traceloop.association.properties.thread_id",
        "traceloop.association.properties.session_id",
    ),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    tokens=(
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ),
)
