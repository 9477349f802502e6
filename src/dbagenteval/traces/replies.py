"""What a model's library gave back, as messages: the reply inside a response of any library."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.messages import Message, read_message, read_messages

__all__ = ["read_reply"]


_MESSAGE_KEYS = frozenset({"role", "content", "parts", "tool_calls"})


_MAX_DEPTH = 12


def read_reply(value: Any, depth: int = 0) -> list[Message]:
    """Read the messages that came out of a model.

    Args:
        value: A text, a message, a list of messages, or the response of OpenAI (chat completions
            and Responses), Anthropic, Gemini, Genkit or LangChain (`generations`), as JSON text or
            decoded.
        depth: How deep in the response it stands.
    """
    value = plain(value) if depth < _MAX_DEPTH else None
    if isinstance(value, str):
        return [Message("assistant", value)] if value else []
    if isinstance(value, list):
        return [message for item in value for message in read_reply(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    for key in ("choices", "candidates", "generations", "output"):
        if isinstance(value.get(key), list):
            return read_reply(value[key], depth + 1)
    held = value.get("message")
    if isinstance(held, (dict, str)):
        return read_reply(held, depth + 1)
    if isinstance(value.get("content"), dict):  # Gemini's candidate holds a message
        return read_reply(value["content"], depth + 1)
    if isinstance(value.get("messages"), list):
        return read_messages(value["messages"])
    if isinstance(value.get("text"), str) and not value.keys() & _MESSAGE_KEYS:
        return read_reply(value["text"])  # a completion of LangChain or of OpenAI's old kind
    message = read_message(value)
    return [message] if message is not None and _says_anything(message) else []


def _says_anything(message: Message) -> bool:
    return bool(message.text or message.calls or message.results)
