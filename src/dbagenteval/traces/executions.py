"""Executions: each statement that ran, found once though it is seen in up to five places.

Tool spans tell most, then the model's tool calls and the tool messages that answer them, then
database spans, then nodes of a graph. They are matched by tool call id, by containment, and by the
statement's text in order.
"""

from __future__ import annotations

from dbagenteval.traces.content import is_broken_json, is_masked
from dbagenteval.traces.conventions.convention import LLM, MESSAGE, TOOL
from dbagenteval.traces.databasespans import attach_database_spans
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.limits import Limit
from dbagenteval.traces.messages import Message, ToolCall, after_last_user_text
from dbagenteval.traces.sqltext import normal_sql, sql_in_arguments
from dbagenteval.traces.toolkinds import (
    EXECUTE,
    HANDOFF,
    OTHER,
    WRITE,
    kind_given_sql,
    tool_kind,
)
from dbagenteval.traces.toolreplies import Replies
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use, outer_use, place_in_turn, same_sql

__all__ = ["find_uses"]


def find_uses(turn: Turn, limit: Limit) -> list[Use]:
    """Find the uses of tools and the statements of a turn, in order."""
    finder = _Finder(turn, limit)
    finder.read_tool_spans()
    finder.read_calls()
    Replies(finder.uses, finder.by_id, finder.repeated, limit).read(turn)
    attach_database_spans(turn, finder.uses, finder.by_node)
    finder.drop_unfounded()
    return _in_order(finder.uses)


def _in_order(uses: list[Use]) -> list[Use]:
    """Sort by start; calls that a model asked for at once run in any order, and keep its own."""
    first: dict[int, tuple[int, int]] = {}
    for use in uses:
        if use.writer is not None:
            writer = id(use.writer)
            first[writer] = min(first.get(writer, use.place), use.place)
    for use in uses:
        if use.writer is not None:
            use.place = first[id(use.writer)]
    return sorted(uses, key=lambda use: (use.place, use.asked))


class _Finder:
    def __init__(self, turn: Turn, limit: Limit) -> None:
        self.turn = turn
        self.limit = limit
        self.uses: list[Use] = []
        self.by_node: dict[int, Use] = {}
        self.by_id: dict[str, Use] = {}
        self.repeated: dict[str, list[Use]] = {}
        self.asked = 0

    def read_tool_spans(self) -> None:
        """Make a use of each tool span; one within another with the same statement is the same."""
        for one in self.turn.facts:
            tool = one.tool if one.role == TOOL else None
            if tool is None:
                continue
            use = Use(
                tool_kind(tool.name),
                tool.name,
                tool.call_id,
                tool.arguments,
                source=one,
                results=[(tool.result, tool.is_error)],
                place=place_in_turn(one),
            )
            self._read_sql(use)
            outer = outer_use(one, self.by_node)
            if outer is not None and _is_repeated(use, outer):
                outer.results.append((tool.result, tool.is_error))
                self.by_node[id(one.node)] = outer
                continue
            self._add(use)
            self.by_node[id(one.node)] = use

    def _read_sql(self, use: Use) -> None:
        if use.arguments is None or is_masked(use.arguments):
            return
        use.sql = sql_in_arguments(use.arguments, trusted=use.kind == EXECUTE)
        use.kind = kind_given_sql(use.kind, use.name, use.sql)

    def _add(self, use: Use) -> None:
        self.uses.append(use)
        if use.call_id:
            self.by_id.setdefault(use.call_id, use)

    def read_calls(self) -> None:
        """Match the model's tool calls with tool spans; a call without one is a use of its own."""
        models = [one for one in self.turn.facts if one.role in (LLM, MESSAGE)]
        for one in models:
            if self._is_in_check(one):
                continue
            for message in one.outputs:
                for call in message.calls:
                    self._read_call(call, one)
        # The spans of calls may be lost or never made: the last one has their history, and the
        # agent's may have the whole conversation.
        executions = [use for use in self.uses if use.kind == EXECUTE]
        if executions:
            # Where tools have spans, a statement is seen though its model call is lost.
            if models[-1:] and any(use.source is None for use in executions):
                self._read_lost_calls(models[-1])
            return
        for one, messages in self._conversations(models[-1:]):
            for message in after_last_user_text(messages):
                for call in message.calls:
                    self._read_call(call, one, is_history=True)

    def _read_lost_calls(self, one: Facts) -> None:
        """Add the statements of a history whose own spans are lost, where they stand in it."""
        calls = [call for m in after_last_user_text(one.inputs) for call in m.calls]
        if all(call.id in self.by_id for call in calls):
            return
        known = {normal_sql(use.sql) for use in self.uses if use.kind == EXECUTE and use.sql}
        unsure = {use.name for use in self.uses if use.source is not None and not use.call_id}
        before: list[ToolCall] = []
        for call in calls:
            if call.id in self.by_id:
                place = self.by_id[call.id].place
                for lost in before:
                    self._read_call(lost, one, is_history=True).place = (place[0], place[1] - 1)
                before = []
                continue
            sql = sql_in_arguments(call.arguments)
            if call.id and sql and normal_sql(sql) not in known and call.name not in unsure:
                before.append(call)
        for lost in before:
            self._read_call(lost, one, is_history=True)

    def _conversations(self, models: list[Facts]) -> list[tuple[Facts, list[Message]]]:
        told = [(one, one.inputs) for one in models if one.role == LLM]
        return told + [(one, one.transcript) for one in self.turn.heads]

    def _is_in_check(self, one: Facts) -> bool:
        outer = outer_use(one, self.by_node)
        return outer is not None and outer.kind not in (EXECUTE, OTHER, WRITE)

    def _read_call(self, call: ToolCall, one: Facts, *, is_history: bool = False) -> Use:
        kind = tool_kind(call.name)
        sql = sql_in_arguments(call.arguments, trusted=kind == EXECUTE)
        kind = kind_given_sql(kind, call.name, sql)
        use = self._with_id(call.id, sql)
        if use is None:
            use = self._unclaimed(call, sql, one)
        if use is None:
            span = one.node.span
            use = Use(
                kind,
                call.name,
                place=(span.start_ns if is_history else span.end_ns, one.node.position),
            )
            self.uses.append(use)
            if call.id in self.by_id:
                self.repeated.setdefault(call.id, [self.by_id[call.id]]).append(use)
        if call.id:
            self.by_id[call.id] = use
            use.call_id = use.call_id or call.id
        if use.writer is None and one.role == LLM and not is_history:
            use.writer = one
        self.asked += 1
        use.asked = use.asked or self.asked
        if is_history:
            use.teller = one
        if use.arguments is None or (sql and use.sql is None):
            use.arguments = call.arguments
        if sql and (use.sql is None or self.limit.cuts(use.sql)):
            use.sql = sql
        use.kind = kind_given_sql(use.kind, use.name, use.sql)
        return use

    def _with_id(self, call_id: str, sql: str | None) -> Use | None:
        """Find the use of a call id; some servers give several calls of a turn the same one."""
        use = self.by_id.get(call_id) if call_id else None
        if use is None or sql is None or use.sql is None or same_sql(use.sql, sql):
            return use
        if self.limit.cuts(use.sql) or (use.writer is None and sql.startswith(use.sql[:40])):
            return use
        return next(
            (one for one in self.uses if one.call_id == call_id and same_sql(one.sql, sql)), None
        )

    def _unclaimed(self, call: ToolCall, sql: str | None, one: Facts) -> Use | None:
        """Find the tool span that a call without a known id led to."""
        if tool_kind(call.name) == HANDOFF:
            return next((use for use in self._after(call, one) if use.kind == HANDOFF), None)
        for use in self._after(call, one):
            same_tool = use.name == call.name or tool_kind(call.name) == use.kind
            if sql and same_tool and same_sql(use.sql, sql):
                return use
        for use in self._after(call, one):
            if use.name == call.name and (use.sql is None or sql is None):
                return use
        return None

    def _after(self, call: ToolCall, one: Facts) -> list[Use]:
        """Give the tool spans after a model call that no call is known to have led to."""
        return [
            use
            for use in self.uses
            if use.source is not None
            and use.writer is None
            and (not use.call_id or not call.id)
            and use.place >= place_in_turn(one)
        ]

    def drop_unfounded(self) -> None:
        """Take tools that could run SQL but were given none, as the arguments show, for others."""
        for use in self.uses:
            given = use.arguments
            is_hidden = given in (None, "") or is_masked(given) or self.limit.cuts(given)
            is_hidden = is_hidden or is_broken_json(given)
            if use.kind == EXECUTE and use.sql is None and not is_hidden:
                use.kind = OTHER


def _is_repeated(inner: Use, outer: Use) -> bool:
    """True if a tool span within another tells of the same use, as both ends of MCP do."""
    return same_sql(inner.sql, outer.sql) or (inner.sql is None and inner.name == outer.name)
