"""OpenInference: Arize's conventions, spoken by its instrumentation of most frameworks.

LangChain, LangGraph, LlamaIndex, OpenAI Agents, smolagents, Agno, CrewAI, DSPy, Haystack and MCP
differ in what `input.value` and `output.value` hold, not in the names.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import MISSING, loads, plain, text_of
from dbagenteval.traces.conventions.convention import (
    AGENT,
    CHAIN,
    LLM,
    RETRIEVER,
    TOOL,
    Convention,
    ToolUse,
)
from dbagenteval.traces.messages import Message, ToolCall, ToolResult, read_messages
from dbagenteval.traces.tree import Node

__all__ = ["OPENINFERENCE"]

KIND = "openinference.span.kind"
INPUT = "input.value"
OUTPUT = "output.value"
_ROLES = {
    "LLM": LLM,
    "TOOL": TOOL,
    "AGENT": AGENT,
    "CHAIN": CHAIN,
    "RETRIEVER": RETRIEVER,
    "EMBEDDING": CHAIN,
    "RERANKER": CHAIN,
    "GUARDRAIL": CHAIN,
    "EVALUATOR": CHAIN,
}
_INPUT_MESSAGES = "llm.input_messages."
_OUTPUT_MESSAGES = "llm.output_messages."


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    if KIND in attributes:
        return True
    # The SDK drops the oldest attributes beyond its limit; the kind may be among them.
    return node.span.scope.name.startswith("openinference.")


def _role(node: Node) -> str | None:
    attributes = node.span.attributes
    kind = attributes.get(KIND)
    if isinstance(kind, str):
        return _ROLES.get(kind.upper(), CHAIN)
    if "llm.model_name" in attributes or "llm.token_count.total" in attributes:
        return LLM
    return TOOL if "tool.name" in attributes else CHAIN


def _question(node: Node) -> Any:
    return node.span.attributes.get(INPUT)


def _answer(node: Node) -> Any:
    return node.span.attributes.get(OUTPUT)


def _transcript(node: Node) -> list[Message] | None:
    """Give the messages that a graph ended with."""
    output = plain(node.span.attributes.get(OUTPUT))
    messages = output.get("messages") if isinstance(output, dict) else None
    return read_messages(messages) if messages else None


def _inputs(node: Node) -> list[Message] | None:
    flattened = _flattened(node, _INPUT_MESSAGES)
    return flattened or _held(node.span.attributes.get(INPUT))


def _outputs(node: Node) -> list[Message] | None:
    flattened = _flattened(node, _OUTPUT_MESSAGES)
    if any(message.text or message.calls for message in flattened):
        return flattened
    value = node.span.attributes.get(OUTPUT)
    if not isinstance(value, str) or not value:
        return None
    held = plain(value)
    if isinstance(held, dict) and isinstance(held.get("message"), dict):
        return read_messages([held["message"]])
    return [Message("assistant", value)]


def _held(value: Any) -> list[Message] | None:
    """Read messages from a JSON input; a text that is none is one user message."""
    if not isinstance(value, str) or not value:
        return None
    decoded = plain(value)
    if isinstance(decoded, (dict, list)):
        return read_messages(decoded)
    return [Message("user", value)]


def _flattened(node: Node, prefix: str) -> list[Message]:
    """Put messages together from `llm.input_messages.N.message.…` attributes."""
    start = len(prefix)
    fields: dict[int, dict[str, Any]] = {}
    for key, value in node.span.attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[start:].partition(".")
            if number.isdigit():
                fields.setdefault(int(number), {})[rest] = value
    return [_message(fields[number]) for number in sorted(fields)]


def _message(fields: dict[str, Any]) -> Message:
    role = str(fields.get("message.role") or "")
    texts: list[tuple[int, str]] = []
    calls: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        if key.startswith("message.tool_calls."):
            number, _, rest = key[19:].partition(".")
            if number.isdigit():
                calls.setdefault(int(number), {})[rest] = value
        elif key.startswith("message.contents.") and key.endswith("message_content.text"):
            number = key[17:].partition(".")[0]
            texts.append((int(number) if number.isdigit() else 0, text_of(value)))
    content = fields.get("message.content")
    text = text_of(content) if content else "\n".join(text for _, text in sorted(texts))
    call_id = fields.get("message.tool_call_id")
    name = str(fields.get("message.name") or "")
    if role in ("tool", "tool-response") or call_id:
        text = text.removeprefix("Observation:\n")  # smolagents
        return Message("tool", "", (), (ToolResult(str(call_id or ""), name, text),))
    made = [
        ToolCall(
            str(calls[number].get("tool_call.id") or ""),
            str(calls[number].get("tool_call.function.name") or ""),
            calls[number].get("tool_call.function.arguments"),
        )
        for number in sorted(calls)
    ]
    if fields.get("message.function_call_name"):
        made.append(
            ToolCall(
                "",
                str(fields["message.function_call_name"]),
                fields.get("message.function_call_arguments_json"),
            )
        )
    return Message(role, text, tuple(made))


def _tool(node: Node) -> ToolUse:
    attributes = node.span.attributes
    arguments = attributes.get(INPUT)
    if arguments is None:
        arguments = _actual_parameters(attributes.get("tool.parameters"))
    call_id = next(
        (
            str(attributes[key])
            for key in ("tool_call.id", "tool.id", "tool.call_id", "tool_call_id")
            if attributes.get(key)
        ),
        "",
    )
    return ToolUse(
        name=str(attributes.get("tool.name") or node.span.name),
        call_id=call_id,
        arguments=arguments,
        result=attributes.get(OUTPUT),
    )


def _actual_parameters(parameters: Any) -> Any:
    """Give `tool.parameters` if they are arguments; some send the JSON schema there."""
    decoded = plain(parameters)
    if not isinstance(decoded, dict) or "properties" in decoded:
        return None
    if any(isinstance(value, dict) and "type" in value for value in decoded.values()):
        return None
    return decoded


def _documents(node: Node) -> list[str] | None:
    names: list[str] = []
    attributes = node.span.attributes
    for number in range(1000):
        prefix = f"retrieval.documents.{number}.document."
        metadata, content = attributes.get(prefix + "metadata"), attributes.get(prefix + "content")
        identity = attributes.get(prefix + "id")
        if metadata is None and content is None and identity is None:
            break
        decoded = loads(metadata) if isinstance(metadata, str) else MISSING
        known = decoded if isinstance(decoded, dict) else {}
        name = known.get("name") or known.get("table") or known.get("table_name")
        names.append(str(name or known.get("source") or identity or content))
    return names or None


OPENINFERENCE = Convention(
    name="OpenInference",
    pinned="openinference-semantic-conventions 0.1.42",
    source="https://github.com/Arize-ai/openinference/tree/main/spec",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
    inputs=_inputs,
    outputs=_outputs,
    transcript=_transcript,
    tool=_tool,
    documents=_documents,
    session=("session.id",),
    model=("llm.model_name", "embedding.model_name"),
    tokens=(("llm.token_count.prompt",), ("llm.token_count.completion",)),
    cost=("llm.cost.total",),
)
