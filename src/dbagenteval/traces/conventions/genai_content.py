"""OpenTelemetry GenAI before events: all of a prompt or completion under one name.

Semantic conventions 1.27 put `gen_ai.prompt` and `gen_ai.completion` on the span events
`gen_ai.content.prompt` and `gen_ai.content.completion`, as Semantic Kernel does; Spring AI and
Quarkus put texts under these names on the span itself.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.conventions.convention import LLM, Convention
from dbagenteval.traces.messages import Message, read_messages
from dbagenteval.traces.replies import read_reply
from dbagenteval.traces.tree import Node

__all__ = ["GENAI_CONTENT"]

PROMPT, COMPLETION = "gen_ai.prompt", "gen_ai.completion"
PROMPT_EVENT, COMPLETION_EVENT = "gen_ai.content.prompt", "gen_ai.content.completion"
_CHATS = ("chat", "chat.completions", "text_completion", "text.completions")


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return (
        PROMPT in attributes
        or COMPLETION in attributes
        or any(event.name in (PROMPT_EVENT, COMPLETION_EVENT) for event in node.span.events)
    )


def _held(node: Node, event_name: str, key: str) -> Any:
    for event in node.span.events:
        if event.name == event_name and event.attributes.get(key):
            return plain(event.attributes[key])
    return plain(node.span.attributes.get(key))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _inputs(node: Node) -> list[Message] | None:
    """Give the messages of a prompt; of texts without roles the last is the user's.

    A prompt that is one text may hold the system's and the user's together: it gives nothing.
    """
    value = _held(node, PROMPT_EVENT, PROMPT)
    if _is_texts(value):
        texts = [text for text in value if text.strip()]
        before = [Message("system", text) for text in texts[:-1]]
        return [*before, Message("user", texts[-1])] if texts else None
    return read_messages(value) or None if isinstance(value, (list, dict)) else None


def _outputs(node: Node) -> list[Message] | None:
    value = _held(node, COMPLETION_EVENT, COMPLETION)
    if _is_texts(value):
        value = "\n".join(text for text in value if text.strip())
    return read_reply(value) or None


def _role(node: Node) -> str | None:
    return LLM if node.span.attributes.get("gen_ai.operation.name") in _CHATS else None


GENAI_CONTENT = Convention(
    name="OpenTelemetry GenAI content",
    pinned="semantic conventions 1.27",
    source="https://github.com/open-telemetry/semantic-conventions/blob/v1.27.0/docs/gen-ai",
    applies=_applies,
    role=_role,
    inputs=_inputs,
    outputs=_outputs,
)
