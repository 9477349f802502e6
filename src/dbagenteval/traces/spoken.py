"""The question and the answer, taken out of what the span of an agent holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dbagenteval.traces.content import MISSING, plain
from dbagenteval.traces.messages import Message, last_user_text, read_messages
from dbagenteval.traces.pyliteral import read_literal
from dbagenteval.traces.replies import read_reply

__all__ = ["answer_text", "clean_question", "question_text", "unpacked"]

_QUESTION_KEYS = (
    "question",
    "user_question",
    "user_query",
    "query_str",
    "task",
    "user_input",
    "input_text",
    "user_message",
    "user_msg",
    "prompt",
    "query",
    "input",
    "message",
    "text",
    "content",
    "description",
)
_SURE_KEYS = _QUESTION_KEYS[:9]
_QUESTION_WRAPPERS = (
    "inputs",
    "input_args",
    "query_bundle",
    "kwargs",
    "args",
    "input",
    "data",
    "body",
    "state",
    "payload",
)
_ANSWER_KEYS = (
    "answer",
    "final_answer",
    "final_output",
    "output_text",
    "final_result",
    "raw",
    "response",
    "output",
    "result",
    "content",
    "text",
    "message",
    "reply",
    "replies",
)
_ANSWER_WRAPPERS = ("outputs", "output", "return_values", "data", "result", "prediction", "llm")
# A lone text under one of these is a step's, not the user's or the agent's.
_NOT_SPOKEN = frozenset({"sql", "query", "sql_query", "rows", "results", "error", "plan", "schema"})
_PREFIXES = re.compile(r"^(?:New task:\s*\n|Current Task:\s*|assistant:\s+)")
_DSPY = re.compile(
    r"\[\[ ## (?:question|query|input) ## \]\]\s*\n(.*?)\s*(?=\n\[\[ ## |\n\n|\Z)",
    re.DOTALL,
)
_DSPY_ANSWER = re.compile(
    r"\[\[ ## (?:answer|response|output) ## \]\]\s*\n(.*?)\s*(?=\n\[\[ ## |\Z)", re.DOTALL
)
_CREW_TASK = re.compile(
    r"^\s*Current Task:\s*(.*?)\s*"
    r"(?=\n\s*(?:This is the expected criteria|This is the context)|\Z)",
    re.DOTALL,
)
_CHAT_MESSAGE = re.compile(r"TextContent\(text=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_NOT_SAID = tuple(f"ChatMessage(role=<MessageRole.{role}" for role in ("TOOL", "USER", "SYSTEM"))
_MESSAGE_REPR = re.compile(
    r"(Human|AI|System|Tool)Message\(content=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
)
_OBJECT_REPR = re.compile(r"[A-Z]\w*\((?:\w+=|\*).*(?:\)|\.\.\.)$", re.DOTALL)
_MAX_DEPTH = 6


def _decoded(value: Any) -> Any:
    """Decode JSON and the repr of an object, LangChain's messages in it included."""
    value = plain(value)
    if not isinstance(value, str) or not value.startswith("{'"):
        return value
    read = read_literal(value)
    if read is not MISSING:
        return read
    # Neither asked nor said as it is: without messages that can be read there is nothing in it.
    shown = _MESSAGE_REPR.findall(value)
    return [{"type": kind.lower(), "content": read_literal(text)} for kind, text in shown]


def question_text(value: Any, depth: int = 0) -> str | None:
    """Find the question in an input: text, messages, or an object with a known key."""
    value = _decoded(value)
    if isinstance(value, str):
        return clean_question(value) or None
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return question_text(_worded(value), depth + 1)
        return clean_question(last_user_text(read_messages(value))) or None
    return _question_in_object(value, depth) if isinstance(value, dict) else None


def _worded(texts: list[str]) -> str:
    """Give the one text of several words; ids and names among a function's arguments are none."""
    worded = [text for text in texts if len(text.split()) > 1 or not text.isascii()]
    return worded[0] if len(worded) == 1 else texts[0]


def _question_in_object(value: dict[str, Any], depth: int) -> str | None:
    is_message = isinstance(value.get("role"), str) and ("parts" in value or "content" in value)
    messages = [value] if is_message else value.get("messages")
    if messages:
        said = clean_question(last_user_text(read_messages(messages)))
        if said or is_message:
            return said or None
    # Deep in an object of objects only a key that can mean nothing else is trusted.
    for key in _QUESTION_KEYS if depth <= 1 else _SURE_KEYS:
        held = plain(value.get(key))
        if isinstance(held, str) and held.strip():
            return clean_question(held)
    return _wrapped(value, _QUESTION_WRAPPERS, question_text, depth)


def _wrapped(
    value: dict[str, Any],
    wrappers: tuple[str, ...],
    read: Callable[[Any, int], str | None],
    depth: int,
) -> str | None:
    """Look into known wrappings, then into any values, as pipelines name their components."""
    if len(value) == 1 and depth <= 1:
        ((key, only),) = value.items()
        if isinstance(only, str) and only.strip() and key not in _NOT_SPOKEN:
            return read(only, depth + 1)
    known = [value[key] for key in wrappers if isinstance(value.get(key), (dict, list))]
    others = [held for held in value.values() if isinstance(held, dict)]
    if read is answer_text:
        others.reverse()  # the component that answers comes last
    return next((found for held in known + others if (found := read(held, depth + 1))), None)


def clean_question(text: str) -> str:
    """Take off what frameworks put around a question."""
    text = text.strip()
    if _OBJECT_REPR.match(text):
        return ""
    marked = _DSPY.search(text)
    if marked:
        return marked.group(1).strip()
    task = _CREW_TASK.match(text)
    if task:
        return task.group(1).strip()
    return _PREFIXES.sub("", text).strip()


def answer_text(value: Any, depth: int = 0) -> str | None:
    """Find the answer in an output: text, messages, or an object with a known key."""
    value = _decoded(value)
    if isinstance(value, str):
        return _said(value) or None
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return _answer_in_list(value, depth)
    return _answer_in_object(value, depth) if isinstance(value, dict) else None


def _answer_in_object(value: dict[str, Any], depth: int) -> str | None:
    if isinstance(value.get("messages"), list):
        return _last_said(value["messages"])
    for key in _ANSWER_KEYS:
        held = plain(value.get(key))
        if isinstance(held, str) and held.strip():
            return _said(held)
        if isinstance(held, (list, dict)) and held and key in ("response", "message", "replies"):
            found = answer_text(held, depth + 1)
            if found:
                return found
    return _wrapped(value, _ANSWER_WRAPPERS, answer_text, depth) or _last_of(read_reply(value))


def _answer_in_list(value: list[Any], depth: int) -> str | None:
    if not value:
        return None
    if isinstance(value[-1], str):
        return answer_text(value[-1], depth + 1)
    return _last_said(value)


def _last_said(messages: Any) -> str | None:
    """Give the text of the last message if the assistant said it."""
    return _last_of(read_messages(messages))


def _last_of(read: list[Message]) -> str | None:
    if not read or read[-1].calls or read[-1].results or read[-1].role == "user":
        return None
    return _said(read[-1].text) or None


def _said(text: str) -> str:
    text = text.strip()
    if _OBJECT_REPR.match(text) and not text.startswith("ChatMessage("):
        return ""  # an object printed itself, mostly cut: nobody said that
    if text.startswith(_NOT_SAID) or text in ("null", "None"):
        return ""
    shown = _CHAT_MESSAGE.search(text) if text.startswith("ChatMessage(") else None
    if shown:
        literal = read_literal(shown.group(1))
        text = literal if literal is not MISSING else text
    marked = _DSPY_ANSWER.search(text)
    if marked:
        return marked.group(1).strip()
    return _PREFIXES.sub("", text).strip()


def unpacked(value: Any) -> Any:
    """Take an answer out of a call's arguments: the one text there is."""
    value = plain(value)
    if isinstance(value, dict):
        for key in ("kwargs", "arguments", "args", "input"):
            if value.get(key):
                return unpacked(value[key])
        texts = [held for held in value.values() if isinstance(held, str)]
        if len(texts) == 1:
            return texts[0]
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return value
