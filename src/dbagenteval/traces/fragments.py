"""One OTel trace as a fragment: whole in itself, or a piece that must find its turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbagenteval.otlp import OtelTrace, Span
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import (
    AGENT,
    CHAIN,
    DB,
    LLM,
    MESSAGE,
    RETRIEVER,
    SERVER,
    TOOL,
)
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.messages import Message
from dbagenteval.traces.sqltext import normal_sql, sql_in_arguments, sql_in_text
from dbagenteval.traces.tree import Node, build_forest

__all__ = ["Fragment", "prefix_keys"]

_INSTANCE_KEYS = ("service.name", "service.instance.id", "host.name", "process.pid")


class Fragment:
    """An OTel trace with the facts of its spans.

    Args:
        group: The OTel trace.
        lost: Spans that stand for those that never came; it has these or spans of its own.
    """

    __slots__ = (
        "end_ns",
        "facts",
        "instance",
        "is_message",
        "is_whole",
        "links",
        "models",
        "ordered",
        "roots",
        "stages",
        "start_ns",
        "statements",
        "tools",
        "trace_id",
    )

    def __init__(self, group: OtelTrace, lost: Sequence[Span] = ()) -> None:
        self.trace_id = group.trace_id
        self.roots: list[Node] = build_forest([*group.spans, *lost], group.logs)
        self.ordered = [Facts(node) for root in self.roots for node in root.walk()]
        self.facts = {id(one.node): one for one in self.ordered}
        self.start_ns = self.roots[0].span.start_ns
        self.end_ns = max(one.node.span.end_ns for one in self.ordered)
        self.links = {
            link.trace_id
            for one in self.ordered
            if one.node.span.links
            for link in one.node.span.links
            if link.trace_id != self.trace_id
        }
        self.models: list[Facts] = []
        self.tools: list[Facts] = []
        self.statements: list[Facts] = []
        self.stages: list[Facts] = []
        self.is_message = self.is_whole = False
        self._sort_out()
        resource = self.roots[0].span.resource
        self.instance = tuple([str(resource.get(key, "")) for key in _INSTANCE_KEYS])

    def _sort_out(self) -> None:
        for one in self.ordered:
            role = one.role
            if role == LLM:
                self.models.append(one)
            elif role in (TOOL, RETRIEVER):
                self.tools.append(one)
            elif role == DB:
                self.statements.append(one)
            elif role == MESSAGE:
                self.is_message = True
            elif role in (AGENT, SERVER) or (
                role == CHAIN and one.node.parent is None and one.question is not None
            ):
                self.is_whole = True
            attributes = one.node.span.attributes
            if own.QUESTION in attributes:
                self.is_whole = True
            if own.STAGE in attributes:
                self.stages.append(one)
        if self.models:
            self.models.sort(key=lambda one: (one.node.span.start_ns, one.node.position))

    @property
    def is_piece(self) -> bool:
        """True if it must look for the turn it belongs to."""
        return not self.is_whole and bool(
            self.models or self.tools or self.statements or self.stages
        )

    @property
    def asks(self) -> bool:
        """True if it can be a turn of its own, so that a link makes it no part of another."""
        return bool(self.models) or (self.is_whole and not self.is_message)

    def session(self) -> str | None:
        """Give the first session id on its spans."""
        return next((session for one in self.ordered if (session := one.session)), None)

    def case_id(self) -> str | None:
        """Give the first case id on its spans."""
        for one in self.ordered:
            value = one.node.span.attributes.get(own.CASE_ID)
            if value:
                return str(value)
        return None

    def call_ids(self) -> set[str]:
        """Give the ids of the calls that its tool spans answer."""
        return {one.tool.call_id for one in self.tools if one.tool and one.tool.call_id}

    def sql(self) -> set[str]:
        """Give the statements of its database and tool spans."""
        found = {normal_sql(one.sql) for one in self.statements if one.sql}
        for one in self.tools:
            sql = sql_in_arguments(one.tool.arguments) if one.tool else None
            if sql:
                found.add(normal_sql(sql))
        return found

    def written_sql(self) -> set[str]:
        """Give the statements that its models, tools or tagged stages asked for."""
        found = {normal_sql(one.sql) for one in self.stages if one.sql}
        found |= {
            normal_sql(sql)
            for one in self.tools
            if one.tool and (sql := sql_in_arguments(one.tool.arguments))
        }
        return found | sql_of_models(self.models)


def sql_of_models(models: Iterable[Facts]) -> set[str]:
    """Give the statements in tool calls and texts of models."""
    found: set[str] = set()
    for one in models:
        for message in one.outputs:
            candidates = [sql_in_arguments(call.arguments) for call in message.calls]
            if message.text:
                candidates.append(sql_in_text(message.text))
            found.update(normal_sql(sql) for sql in candidates if sql)
    return found


def prefix_keys(messages: Iterable[Message], start: int = 0) -> list[int]:
    """Give a key for each beginning of a conversation: one message, two, and so on."""
    keys, key = [], start
    for message in messages:
        key = hash(
            (
                key,
                message.role,
                message.text.strip(),
                tuple((call.id, call.name) for call in message.calls),
                tuple(result.id for result in message.results),
            )
        )
        keys.append(key)
    return keys
