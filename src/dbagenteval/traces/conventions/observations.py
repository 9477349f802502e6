"""Conventions that write a kind, an input and an output on each span, whatever it stands for.

Langfuse, LangSmith, MLflow and Genkit differ in the names of these three attributes and in the
names of the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import LLM, Convention, ToolUse
from dbagenteval.traces.messages import Message, read_messages
from dbagenteval.traces.replies import read_reply
from dbagenteval.traces.tree import Node

__all__ = ["Observations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """Where a convention writes what a span stands for, what went in and what came out.

    Args:
        kind: The attribute that names what a span stands for.
        roles: What each of its values, in lower case, stands for; others stand for nothing.
        input: The attribute with what went in, mostly JSON.
        output: The attribute with what came out.
        name: Attributes with the name of a tool, best first; else the span's name.
    """

    kind: str
    roles: Mapping[str, str]
    input: str
    output: str
    name: tuple[str, ...] = ()

    def convention(self, **fields: Any) -> Convention:
        """Make the convention; `fields` are those of `Convention` that are not read here."""
        return Convention(
            **{
                "applies": lambda node: self.kind in node.span.attributes,
                "role": self.role,
                "question": self.question,
                "answer": self.answer,
                "inputs": self.inputs,
                "outputs": self.outputs,
                "transcript": self.transcript,
                "tool": self.tool,
                **fields,
            }
        )

    def role(self, node: Node) -> str | None:
        """Give the role that the kind of a span stands for."""
        kind = plain(node.span.attributes.get(self.kind))
        return self.roles.get(kind.lower()) if isinstance(kind, str) else None

    def question(self, node: Node) -> Any:
        """Give what went into a span that is no model call."""
        return plain(node.span.attributes.get(self.input))

    def answer(self, node: Node) -> Any:
        """Give what came out of a span that is no model call."""
        value = plain(node.span.attributes.get(self.output))
        return None if value == "null" else value

    def inputs(self, node: Node) -> list[Message] | None:
        """Give the messages that went into a model call."""
        value = plain(node.span.attributes.get(self.input))
        if self.role(node) != LLM or not value:
            return None
        if isinstance(value, dict) and not (value.get("messages") or value.get("contents")):
            value = value.get("input", value.get("prompt", value.get("prompts", value)))
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = "\n".join(value)
        return [Message("user", value)] if isinstance(value, str) else read_messages(value)

    def outputs(self, node: Node) -> list[Message] | None:
        """Give the messages that came out of a model call."""
        if self.role(node) != LLM:
            return None
        return read_reply(node.span.attributes.get(self.output)) or None

    def transcript(self, node: Node) -> list[Message] | None:
        """Give the messages that a graph ended with."""
        output = plain(node.span.attributes.get(self.output))
        messages = output.get("messages") if isinstance(output, dict) else None
        return read_messages(messages) if messages else None

    def tool(self, node: Node) -> ToolUse:
        """Give the use of a tool."""
        attributes = node.span.attributes
        result = plain(attributes.get(self.output))
        told = result.get("output", result) if isinstance(result, dict) else None
        call_id = told.get("tool_call_id") if isinstance(told, dict) else None
        named = next((attributes[key] for key in self.name if attributes.get(key)), None)
        return ToolUse(
            name=str(plain(named) or node.span.name),
            call_id=str(call_id or ""),
            arguments=attributes.get(self.input),
            result=attributes.get(self.output),
        )
