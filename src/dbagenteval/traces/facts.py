"""What the conventions read in one span, each field decoded once and only when asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dbagenteval.traces.conventions import CONVENTIONS, Convention, ToolUse
from dbagenteval.traces.conventions.convention import DB, TOOL
from dbagenteval.traces.conventions.database import sql_of
from dbagenteval.traces.messages import Message
from dbagenteval.traces.tree import Node
from dbagenteval.traces.writtensteps import with_written_steps

__all__ = ["Facts"]

_UNREAD: Any = object()
_SESSION_KEYS = ("session.id", "gen_ai.conversation.id", "langfuse.session.id")


_KNOWN: dict[tuple[Any, ...], tuple[Convention, ...]] = {}
_MAX_KNOWN = 1024


def _conventions_of(node: Node) -> tuple[Convention, ...]:
    """Give the conventions that a span speaks.

    They follow from its keys, scope, kind, events and the start of its name, of which one
    instrumentation makes few combinations: they are remembered.
    """
    span = node.span
    key = (
        span.scope.name,
        span.kind,
        span.name[:9],
        tuple(span.attributes),
        tuple([event.name for event in span.events]) if span.events else None,
        tuple([(log.event_name, type(log.body)) for log in node.logs]) if node.logs else None,
    )
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        found = tuple([convention for convention in CONVENTIONS if convention.applies(node)])
        _KNOWN[key] = found
    return found


class Facts:
    """The fields of a span, whichever conventions it speaks.

    `role` is one of the roles in `conventions.convention`, or None for a span that tells nothing.
    """

    __slots__ = (
        "_answer",
        "_inputs",
        "_outputs",
        "_question",
        "_tool",
        "conventions",
        "node",
        "role",
        "sql",
    )

    def __init__(self, node: Node) -> None:
        self.node = node
        self.conventions = _conventions_of(node)
        self.sql = sql_of(node.span.attributes)
        self.role = self._role()
        self._question: Any = _UNREAD
        self._answer: Any = _UNREAD
        self._inputs: Any = _UNREAD
        self._outputs: Any = _UNREAD
        self._tool: Any = _UNREAD

    def _role(self) -> str | None:
        role = None
        for convention in self.conventions:
            role = convention.role(self.node)
            if role is not None:
                break
        # A statement makes a database span of anything but a tool that tells its own result.
        return DB if self.sql and role != TOOL else role

    @property
    def question(self) -> Any:
        """Give the question as it was sent, or None."""
        if self._question is _UNREAD:
            self._question = self._told("question")
        return self._question

    @property
    def answer(self) -> Any:
        """Give the answer as it was sent, or None."""
        if self._answer is _UNREAD:
            self._answer = self._told("answer")
        return self._answer

    def _told(self, field: str) -> Any:
        for convention in self.conventions:
            value = getattr(convention, field)(self.node)
            if value is not None and value != "":
                return value
        return None

    @property
    def inputs(self) -> list[Message]:
        """Give the messages that went into the model."""
        if self._inputs is _UNREAD:
            self._inputs = with_written_steps(self._messages("inputs"))
        return self._inputs  # type: ignore[no-any-return]

    @property
    def outputs(self) -> list[Message]:
        """Give the messages that came out of the model."""
        if self._outputs is _UNREAD:
            self._outputs = with_written_steps(self._messages("outputs"), is_output=True)
        return self._outputs  # type: ignore[no-any-return]

    @property
    def transcript(self) -> list[Message]:
        """Give the conversation that the span of an agent holds."""
        return self._messages("transcript")

    def _messages(self, field: str) -> list[Message]:
        for convention in self.conventions:
            messages = getattr(convention, field)(self.node)
            if messages:
                return list(messages)
        return []

    @property
    def tool(self) -> ToolUse | None:
        """Give the use of a tool that the span tells of, each field from the first that has it."""
        if self._tool is _UNREAD:
            self._tool = self._merged_tool()
        return self._tool  # type: ignore[no-any-return]

    def _merged_tool(self) -> ToolUse | None:
        uses = [use for c in self.conventions if (use := c.tool(self.node)) is not None]
        if len(uses) < 2:
            return uses[0] if uses else None
        return ToolUse(
            name=uses[0].name,
            call_id=next((use.call_id for use in uses if use.call_id), ""),
            arguments=_first(use.arguments for use in uses),
            result=_first(use.result for use in uses),
            is_error=_first(use.is_error for use in uses),
        )

    @property
    def documents(self) -> list[str]:
        """Give the names of what a retriever gave."""
        for convention in self.conventions:
            names = convention.documents(self.node)
            if names:
                return names
        return []

    @property
    def session(self) -> str | None:
        """Give the session id: that of a convention, else under a name that is used anywhere."""
        told = self.text("session")
        if told is not None:
            return told
        attributes = self.node.span.attributes
        return next((str(attributes[key]) for key in _SESSION_KEYS if attributes.get(key)), None)

    def text(self, field: str) -> str | None:
        """Give the first attribute under the keys that the conventions have for a field."""
        attributes = self.node.span.attributes
        for key in _keys(self.conventions, field):
            value = attributes.get(key)
            if value is not None and value != "":
                return str(value)
        return None


@lru_cache(maxsize=1024)
def _keys(conventions: tuple[Convention, ...], field: str) -> tuple[str, ...]:
    """Give the attribute keys of a field, best first; few combinations of conventions occur."""
    return tuple(dict.fromkeys(key for one in conventions for key in getattr(one, field)))


def _first(values: Any) -> Any:
    return next((value for value in values if value is not None), None)
