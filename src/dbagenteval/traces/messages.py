"""Chat messages in one form, whichever of the many forms they were sent in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.content import plain, text_of

__all__ = [
    "Message",
    "ToolCall",
    "ToolResult",
    "after_last_user_text",
    "last_user_text",
    "read_message",
    "read_messages",
]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "aimessagechunk": "assistant",
    "function": "tool",
    "tool-response": "tool",
    "tool_response": "tool",
    "developer": "system",
}
_LANGCHAIN_ROLES = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ToolMessage": "tool",
    "SystemMessage": "system",
    "FunctionMessage": "tool",
}


_CALL_IDS = ("call_id", "id", "toolUseId", "tool_call_id", "toolCallId", "ref")
_RESULT_PARTS = (
    "tool_call_response",
    "tool_result",
    "function_call_output",
    "tool-return",
    "tool-result",
)
_TYPED_OUTPUTS = ("text", "json", "error-text", "error-json", "content")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool; `arguments` as sent: text or decoded."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back to the model; `is_error` is None if that is not said."""

    id: str
    name: str
    content: Any
    is_error: bool | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its role (system, user, assistant, tool), text, calls and results.

    The role is that of the sender's library, which puts tool results under `user` at times: look
    at `results`, not at the role, to know them.
    """

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


def read_messages(value: Any) -> list[Message]:
    """Read a list of messages from JSON text, a list of objects, or an object that holds one."""
    value = plain(value)
    if isinstance(value, dict):
        held = value.get("messages") or value.get("contents")
        value = plain(held) if held else [value]
    if isinstance(value, str):
        return [Message("", value)] if value else []
    if not isinstance(value, list):
        return []
    if len(value) == 1 and isinstance(value[0], list) and not _is_pair(value[0]):
        value = value[0]  # LangChain nests a batch of one
    return [message for item in value if (message := read_message(item)) is not None]


def read_message(item: Any) -> Message | None:
    """Read one message of OpenAI, Anthropic, Bedrock, Gemini, LangChain or GenAI convention."""
    item = plain(item)
    if isinstance(item, str):
        return Message("", item)
    if _is_pair(item):
        return Message(_role(item[0]), item[1])
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("message"), dict) and "role" not in item:
        item = item["message"]
    if "kwargs" in item and isinstance(item.get("id"), list):  # LangChain's serialised form
        role = _LANGCHAIN_ROLES.get(str(item["id"][-1]), "")
        return _read(item["kwargs"], role)
    if isinstance(item.get("data"), dict) and "type" in item:  # LangChain's message_to_dict
        return _read(item["data"], _role(item["type"]))
    kind = item.get("type")
    if kind in ("function_call", "function_call_output"):  # OpenAI Responses
        reading = _Reading()
        reading.part(item)
        return reading.message("assistant" if kind == "function_call" else "tool")
    role = item.get("role") or ("" if kind in (None, "message") else kind)
    return _read(item, _role(role))


def _is_pair(item: Any) -> bool:
    """True for role and text as a pair, which LangChain takes for a message."""
    return (
        isinstance(item, (list, tuple))
        and len(item) == 2
        and all(isinstance(part, str) for part in item)
        and _role(item[0]) in ("user", "assistant", "system")
    )


def _role(value: Any) -> str:
    text = str(value or "").lower()
    return _ROLES.get(text, text)


def _read(item: dict[str, Any], role: str) -> Message:
    reading = _Reading()
    parts = item.get("parts")
    content = item.get("content", item.get("blocks")) if parts is None else parts
    content = plain(content) if isinstance(content, str) and _is_parts(content) else content
    call_id = item.get("tool_call_id")
    if role == "tool" and parts is None and (call_id or "id" in item or isinstance(content, str)):
        reading.results.append(
            ToolResult(
                str(call_id or item.get("id") or ""),
                str(item.get("name") or ""),
                _result_content(content),
                True if item.get("status") == "error" else None,
            )
        )
    elif isinstance(content, list):
        for part in content:
            reading.part(part)
    elif isinstance(content, dict):
        reading.part(content)
    elif content is not None:
        reading.texts.append(str(content))
    asked = item.get("tool_calls")
    for call in asked if isinstance(asked, list) else ():
        reading.call(call)
    if isinstance(item.get("function_call"), dict):  # OpenAI before tools
        reading.call(item["function_call"])
    return reading.message(role)


def _is_parts(text: str) -> bool:
    head = text.lstrip()
    return head.startswith(("[{", "[ {")) and any(
        mark in head for mark in ('"text"', '"toolUse"', '"toolResult"', '"json"', '"type"')
    )


def _result_content(content: Any) -> Any:
    """Join the text parts of a tool message; keep anything else."""
    if isinstance(content, list) and content and all(_is_text_part(part) for part in content):
        return "\n".join(str(part.get("text", "")) for part in content)
    return content


def _is_text_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and "text" in part


class _Reading:
    """What the parts of a message add up to."""

    __slots__ = ("calls", "results", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []

    def message(self, role: str) -> Message:
        if len(self.texts) == 1:
            text = self.texts[0]
        else:
            text = "\n".join(text for text in self.texts if text)
        return Message(role, text, tuple(self.calls), tuple(self.results))

    def part(self, part: Any) -> None:  # noqa: C901, PLR0912 - one branch for each known form
        if isinstance(part, str):
            self.texts.append(part)
            return
        if not isinstance(part, dict):
            return
        kind = part.get("type")
        if kind in ("tool_call", "function_call", "tool_use", "tool-call"):
            self.call(part)
        elif kind in _RESULT_PARTS:
            self.result(part)
        elif kind in ("reasoning", "thinking", "reasoning_content"):
            return
        elif "toolUse" in part:
            self.call(part["toolUse"])
        elif "toolResult" in part:
            self.result(part["toolResult"])
        elif "toolRequest" in part:  # Genkit
            self.call(part["toolRequest"])
        elif "toolResponse" in part:
            self.result(part["toolResponse"])
        elif "function_call" in part or "functionCall" in part:
            self.call(part.get("function_call") or part.get("functionCall"))
        elif "function_response" in part or "functionResponse" in part:
            self.result(part.get("function_response") or part.get("functionResponse"))
        elif "call_id" in part and "is_error" in part:  # AutoGen's execution result
            self.result(part)
        elif "arguments" in part and "name" in part:  # AutoGen's function call
            self.call(part)
        else:
            text = part.get("text", part.get("content", part.get("value")))
            if isinstance(text, dict):
                text = text.get("value")
            if text is not None:
                self.texts.append(text if isinstance(text, str) else text_of(text))

    def call(self, call: Any) -> None:
        if not isinstance(call, dict):
            return
        nested = call.get("function")
        function: dict[str, Any] = nested if isinstance(nested, dict) else call
        arguments = next(
            (function[key] for key in ("arguments", "args", "input") if key in function), None
        )
        self.calls.append(
            ToolCall(
                str(_first(call, *_CALL_IDS) or ""),
                str(function.get("name") or function.get("toolName") or ""),
                arguments,
            )
        )

    def result(self, result: Any) -> None:
        if not isinstance(result, dict):
            return
        failed = result.get("is_error")
        if failed is None and result.get("status") in ("error", "ERROR"):
            failed = True
        content = _first(result, "response", "result", "output", "content")
        if isinstance(content, dict) and content.get("type") in _TYPED_OUTPUTS:  # Vercel's AI SDK
            failed = True if content["type"].startswith("error") else failed
            content = content.get("value")
        self.results.append(
            ToolResult(
                str(_first(result, "call_id", "id", "tool_use_id", *_CALL_IDS) or ""),
                str(result.get("name") or result.get("toolName") or ""),
                _result_content(content),
                failed if isinstance(failed, bool) else None,
            )
        )


def _first(mapping: dict[str, Any], *keys: str) -> Any:
    for key in keys:
        if key in mapping:
            return mapping[key]
    return None


def last_user_text(messages: Iterable[Message]) -> str:
    """Give the text of the last user message that has one and no tool result."""
    found = ""
    for message in messages:
        if message.role == "user" and message.text and not message.results:
            found = message.text
    return found


def after_last_user_text(messages: list[Message]) -> list[Message]:
    """Leave out the history: give what comes after the last user text."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text and not message.results:
            return messages[index + 1 :]
    return messages
