"""What a tool gave back, taken out of the wrappings of frameworks, and whether it is an error."""

from __future__ import annotations

import re
from typing import Any

from dbagenteval.traces.content import plain, text_of
from dbagenteval.traces.pyliteral import read_literal

__all__ = ["error_in_text", "names_database_error", "unwrap"]

# Texts that tools return in place of rows when the database refused: most failing SQL leaves every
# span OK, since the tool's own code catches the exception.
_ERROR_START = re.compile(
    r"^\W*(?:an?\s+)?(?:unexpected\s+)?(?:sql|database|db|query|execution|tool|runtime|sqlite"
    r"|postgres(?:ql)?|mysql|duckdb|internal)?\s*"
    r"(?:error|exception|failed|failure)\b"
    r"|^\W*(?:[\w.]+\.)?\w*(?:Error|Exception)\b\s*[:(]"
    r"|^\((?:[\w.]+\.)?\w*(?:Error|Exception)\)"
    r"|^(?:execution|query|sql|statement)\s+(?:error|failed)\b"
    r"|^(?:failed|unable|could not|cannot|can't)\s+to?\s*(?:execute|run|query|connect|process)\b"
    r"|^traceback \(most recent call last\)"
    r"|^an error occurred"
    r"|^\d+ validation errors? for ",
    re.IGNORECASE,
)
_ERROR_INSIDE = re.compile(
    r"no such (?:table|column|function)|(?:relation|column|table|function) \S+ does not exist"
    r"|syntax error|ambiguous column|unknown column|invalid (?:identifier|object name|column name)"
    r"|permission denied|access denied|(?:Catalog|Binder|Parser) Error"
    r"|table or view .{0,60}not found"
    r"|not found in FROM clause|Please try again or use another tool",
    re.IGNORECASE,
)
_MAX_ERROR_CHARS = 4000
# What stands beside the content of a tool's message, in any framework.
_MESSAGE_KEYS = frozenset(
    {"content", "isError", "meta", "_meta", "status", "name", "role", "type", "id"}
    | {"tool_call_id", "toolUseId", "structuredContent"}
)
_WRAPPERS = ("output", "result", "response", "return_value", "content", "data", "value", "outputs")


def unwrap(value: Any) -> tuple[Any, str | None]:
    """Take a result out of its wrappings.

    Returns:
        The bare result, and the text of the error if the wrapping says that the tool failed.
    """
    failed: str | None = None
    for _ in range(8):
        value = _fields_of_repr(plain(value))
        inner, is_error = _peel(value)
        if is_error and failed is None:
            failed = _error_text(inner if inner is not value else value)
        if inner is value:
            break
        value = inner
    return value, failed


_REPR_FIELD = re.compile(r"(\w+)=(None|True|False|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?: |$)")
_REPR_RESULTS = ("result", "content", "output", "data")


def _fields_of_repr(value: Any) -> Any:
    """Read `status='success' result='…' error=None`, as a pydantic model prints itself."""
    if not isinstance(value, str) or not re.match(r"\w+=(?:'|\"|None|True|False)", value):
        return value
    fields = {name: read_literal(literal) for name, literal in _REPR_FIELD.findall(value)}
    held = next((fields[name] for name in _REPR_RESULTS if isinstance(fields.get(name), str)), None)
    if fields.get("error"):
        return {"error": fields["error"]}
    return value if held is None else held


def _peel(value: Any) -> tuple[Any, bool]:  # noqa: C901, PLR0912 - a branch for each wrapping
    """Take off one wrapping; give the value itself when there is none."""
    if isinstance(value, list):
        return _peel_list(value)
    if not isinstance(value, dict):
        return value, False
    if isinstance(value.get("id"), list) and isinstance(value.get("kwargs"), dict):
        return _message(value["kwargs"])  # LangChain's serialised form
    if isinstance(value.get("data"), dict) and "content" in value["data"] and "type" in value:
        return _message(value["data"])
    if "update" in value and isinstance(value["update"], dict):  # LangGraph's Command
        messages = value["update"].get("messages")
        held = messages[-1] if isinstance(messages, list) and messages else value["update"]
        return held, False
    if "raw_output" in value and "tool_name" in value:  # LlamaIndex's ToolOutput
        return value["raw_output"], value.get("is_error") is True
    if isinstance(value.get("toolResult"), dict):
        held = value["toolResult"]
        return held.get("content"), held.get("status") == "error"
    if value.get("structuredContent"):
        return value["structuredContent"], value.get("isError") is True
    if "call_id" in value and "content" in value:
        return value["content"], value.get("is_error") is True
    if _is_text_part(value):
        return value["text"], False
    if "json" in value and set(value) <= {"json", "type"}:
        return value["json"], False
    if value.get("type") == "tool_result":
        return value.get("content"), value.get("is_error") is True
    if isinstance(value.get("function_response"), dict):
        return value["function_response"].get("response"), False
    if "content" in value and set(value) <= _MESSAGE_KEYS:
        return value["content"], value.get("isError") is True or value.get("status") == "error"
    if _says_error(value):
        return value, True
    return _single(value)


def _peel_list(value: list[Any]) -> tuple[Any, bool]:
    if value and all(_is_text_part(part) for part in value):
        return "\n".join(str(part["text"]) for part in value), False
    if (
        len(value) == 1
        and isinstance(value[0], dict)
        and (
            "json" in value[0]
            or "toolResult" in value[0]
            or _is_text_part(value[0])
            or value[0].get("type") == "tool_result"
        )
    ):
        return value[0], False
    return value, False


def _is_text_part(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and isinstance(part.get("text"), str)
        and set(part) <= {"type", "text", "annotations", "meta", "_meta"}
    )


def _message(fields: dict[str, Any]) -> tuple[Any, bool]:
    return fields.get("content"), fields.get("status") == "error"


def _says_error(value: dict[str, Any]) -> bool:
    status = value.get("status", "")
    status = status.get("state", "") if isinstance(status, dict) else status  # Databricks
    if str(status).lower() in ("error", "failed", "failure"):
        return True
    if (
        value.get("isError") is True
        or value.get("is_error") is True
        or value.get("success") is False
    ):
        return True
    if len(value) == 1 and isinstance(value.get("exception"), str):
        return True
    error = value.get("error") or value.get("error_message") or value.get("error_details")
    return bool(error) and not value.get("rows")


def _single(value: dict[str, Any]) -> tuple[Any, bool]:
    """Take the one wrapped value of an object such as `{"result": …}`."""
    for key in _WRAPPERS:
        if key in value and all(
            other == key or other in ("kwargs", "tags", "metadata", "status", "success", "error")
            for other in value
        ):
            inner = value[key]
            # A list of rows under one of these keys is read as a table with its column names.
            if isinstance(inner, list) and not (
                inner and isinstance(inner[0], dict) and ("text" in inner[0] or "json" in inner[0])
            ):
                return value, False
            if inner is None or isinstance(inner, (int, float)):
                return value, False
            return inner, False
    return value, False


def _error_text(value: Any) -> str:
    if isinstance(value, dict):
        for key in (
            "error",
            "error_details",
            "error_message",
            "message",
            "detail",
            "exception",
            "text",
            "status",
        ):
            held = value.get(key)
            if isinstance(held, dict) and key in ("error", "status"):
                return _error_text(held)
            if held and not isinstance(held, bool):
                return text_of(held)
    if isinstance(value, list):
        return "\n".join(_error_text(item) for item in value)
    return text_of(value)


def error_in_text(text: str) -> bool:
    """True if a text that is no rows reads like the report of a failure."""
    head = text.lstrip()[:_MAX_ERROR_CHARS]
    return bool(_ERROR_START.match(head)) or (
        len(text) < _MAX_ERROR_CHARS and names_database_error(head)
    )


def names_database_error(text: str) -> bool:
    """True if a text has the words of a database that refused a statement."""
    return _ERROR_INSIDE.search(text) is not None
